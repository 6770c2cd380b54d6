"""What holds for every test: pytest's settings that need code.

- Chapters run twice where a vocabulary is given: with it, and as a student without it runs them.
  Both runs must give the outputs that are stored.
- hypothesis draws the same examples every time in CI, and new ones everywhere else. It knows no
  deadline: two busy cores are slow now and then.
- With `CHAT_MEMORY_REQUIRE_ALL=1` a test that skips itself fails, so that CI cannot pass because
  a browser or a file was missing. Only tests marked `live` may skip: they need a key.
It does *not* hold fixtures for one subject: those stand in that subject's test file.
"""

import os
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest
from nbval.plugin import IPyNbFile

VOCABULARY = "CHAT_MEMORY_TOKENIZER"
REQUIRE_ALL = os.environ.get("CHAT_MEMORY_REQUIRE_ALL") == "1"

hypothesis.settings.register_profile("anywhere", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if REQUIRE_ALL else "anywhere")


class WithoutVocabulary(IPyNbFile):
    """A chapter whose kernel is not told of the vocabulary."""

    def setup(self) -> None:
        """Start the kernel while the variable is hidden; the tests of this process keep it."""
        hidden = os.environ.pop(VOCABULARY)
        try:
            super().setup()
        finally:
            os.environ[VOCABULARY] = hidden


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Collect a chapter a second time, beside nbval's own, where a vocabulary is given."""
    if file_path.suffix != ".ipynb" or not os.environ.get(VOCABULARY):
        return None
    name = file_path.relative_to(parent.config.rootpath).as_posix()
    return WithoutVocabulary.from_parent(
        parent, path=file_path, nodeid=f"{name} (without vocabulary)"
    )


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure that names the reason of the skip."""
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CHAT_MEMORY_REQUIRE_ALL=1 and yet: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport]:
    """Refuse skipped tests, the live ones excepted."""
    report = yield
    if not item.get_closest_marker("live"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport]:
    """Refuse files that skip as a whole."""
    report = yield
    refuse_skip(report)
    return report
