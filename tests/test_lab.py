"""`start.py` opens a real JupyterLab: the first chapter, without outputs and without questions.

The workbook is a copy that borrows this environment (book.py). What a page of it shows in a
browser: test_browser_walk.py and test_browser_beside.py.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest
from book import copied, needs_start

ADDRESS = re.compile(r"http://127\.0\.0\.1:(?P<port>\d+)(?P<path>/\S*)\?token=(?P<token>\w+)")
SETTINGS = re.compile(r'(?s)id="jupyter-config-data" type="application/json">(.*?)</script>')
NEWS = "@jupyterlab/apputils-extension:announcements"

pytestmark = needs_start


@pytest.fixture
def book(tmp_path):
    """A workbook with one chapter, in which `start.py` finds everything ready."""
    cell = {"cell_type": "code", "id": "a", "source": "1", "metadata": {}, "execution_count": 1}
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1226"}]
    chapter = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (copied(tmp_path) / "notebooks" / "00_start.ipynb").write_text(json.dumps(chapter))
    return tmp_path


@contextmanager
def lab(book, *options):
    """A running `start.py`, with a home of its own, that is stopped whatever happens."""
    words = [sys.executable, str(book / "start.py"), "--no-browser", *options]
    own = {"HOME": str(book), "JUPYTER_CONFIG_DIR": str(book / "config")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(words, env=os.environ | own, **pipes)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def address(process):
    """Where JupyterLab answers; it says so a moment before it does."""
    place = next(filter(None, map(ADDRESS.search, process.stdout)))
    for _ in range(100):
        with socket.socket() as call:
            if call.connect_ex(("127.0.0.1", int(place["port"]))) == 0:
                return place
        time.sleep(0.1)
    raise TimeoutError(place["port"])


def get(place, path):
    url = f"http://127.0.0.1:{place['port']}{path}?token={place['token']}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def test_it_opens_the_first_chapter_without_outputs_and_without_a_question(book):
    with lab(book) as process:
        place = address(process)
        assert place["path"] == "/lab/tree/my/00_start.ipynb"
        settings = json.loads(SETTINGS.search(get(place, place["path"]))[1])
        assert NEWS in settings["disabledExtensions"]
        copy = json.loads(get(place, "/api/contents/my/00_start.ipynb"))
        assert copy["content"]["cells"][0]["outputs"] == []
    assert process.returncode == 0


def test_a_taken_port_is_stepped_over(book):
    with lab(book) as first:
        taken = address(first)["port"]
        with lab(book, "--port", taken) as second:
            place = address(second)
            assert place["port"] != taken
            assert get(place, "/lab")


def test_a_port_that_may_not_be_stepped_over_gets_a_sentence(book):
    with lab(book) as first:
        port = address(first)["port"]
        with lab(book, "--port", port, "--ServerApp.port_retries=0") as second:
            *_, last = second.stdout
        assert second.returncode == 1
        assert last.endswith("as in `python3 start.py --port 9000`.\n")
