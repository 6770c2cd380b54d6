"""What a test needs and a machine may lack: without it the test skips, or fails in CI."""

import os

import pytest
from pictures import NoChromium, browser


def need_chromium() -> None:
    """Skip the test without a Chromium, or fail it where nothing may be skipped."""
    try:
        browser()
    except NoChromium:
        lack("There is no Chromium on this machine: install chromium to run this test.")


def lack(what: str) -> None:
    """Skip the test and say what the machine lacks, or fail it where nothing may be skipped."""
    how = pytest.fail if os.environ.get("CHAT_MEMORY_REQUIRE_ALL") == "1" else pytest.skip
    how(what)
