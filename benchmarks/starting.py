"""How long it takes until there is something to work with: a kernel, JupyterLab, a chapter.

A kernel is started by itself and imports what a chapter imports. Then JupyterLab, by `start.py`
in a copy of the checkout, whose environment is made already, and by `jupyter lab` as it comes,
with the same notebook: until the server answers, and until the first chapter stands in Chromium
with an idle kernel. Chromium itself runs already.

This file does *not* make the environment: that is setting_up.py.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import environment
from browser import FLAGS, IDLE, SIZE
from fresh import PATIENCE, ROOT, Kernel, checkout, variables
from launch import without_outputs
from pictures import NoChromium, browser
from playwright.sync_api import Browser, sync_playwright
from ratios import Ratio
from timing import least

from chat_memory.tables import Table

FIRST = "00_start.ipynb"
NO_CHROMIUM = "There is no Chromium on this machine: how long a chapter takes is not measured."
NO_LINK = "A link to .venv cannot be made here ({0}): the start by start.py is not measured."
FIGURE = "import plotly.graph_objects as go; go.FigureWidget()"
OURS = "import chat_memory, chat_memory.charts; " + FIGURE
BARE, BOTH = "nothing", "a FigureWidget, and google-genai"
IMPORTS, SLOW = "a FigureWidget, chat_memory and its charts", "the same, and rfc3987_syntax"
KERNELS = {
    BARE: "",
    BOTH: FIGURE + "; from google import genai",
    IMPORTS: OURS,
    SLOW: "import rfc3987_syntax; " + OURS,
}
PLAIN, OWN = "jupyter lab as it comes", "start.py"
ANSWERS, IDLE_CHAPTER = "answers", "first chapter idle"


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """Both tables, in seconds; quick: without what ours is beside."""
    rounds = 1 if quick else 5
    cases = {name: KERNELS[name] for name in (BARE, IMPORTS)} if quick else KERNELS
    yield "A kernel, seconds from nothing until it has run this."
    best = least({name: partial(kernel, code) for name, code in cases.items()}, rounds)
    rows = [(name, round(each, 2), round(each / best[BARE], 1)) for name, each in best.items()]
    yield Table(["code", "seconds", "to a bare kernel"], rows)
    if not quick:
        what = "a kernel with chat_memory and its charts"
        yield Ratio(what, best[IMPORTS], "s", BOTH, best[BOTH])
        yield Ratio(what, best[IMPORTS], "s", SLOW, best[SLOW])
    yield "JupyterLab with the first chapter, seconds from nothing."
    yield from labs(quick, rounds)


def kernel(code: str) -> float:
    """Seconds until a new kernel has run the code."""
    began = time.perf_counter()
    with Kernel() as one:
        one.run(code)
        return time.perf_counter() - began


def labs(quick: bool, rounds: int) -> Iterator[str | Table | Ratio]:
    """The table of both ways to start JupyterLab; quick: of ours alone."""
    with tempfile.TemporaryDirectory(prefix="start") as folder, chromium() as driver:
        try:
            ways = {OWN: own(Path(folder))}
        except OSError as error:  # Windows lets only some make links
            yield NO_LINK.format(error.strerror)
            return
        if not quick:
            ways[PLAIN] = plain(Path(folder))
        taken = [
            {name: started(*way, driver) for name, way in ways.items()} for _ in range(rounds)
        ]
    best = {
        name: list(map(min, zip(*(each[name] for each in taken), strict=True))) for name in ways
    }
    heads = [ANSWERS, IDLE_CHAPTER] if driver else [ANSWERS]
    yield Table(["way", *heads], [(n, *(round(s, 2) for s in each)) for n, each in best.items()])
    for place, head in enumerate(() if quick else heads):
        ours, theirs = best[OWN][place], best[PLAIN][place]
        yield Ratio(f"start.py: {head}", ours, "s", PLAIN, theirs, floor=True)
    if not driver:
        yield NO_CHROMIUM


@contextmanager
def chromium() -> Iterator[Browser | None]:
    """A Chromium that runs already, None where there is none."""
    try:
        path = browser()
    except NoChromium:
        yield None
        return
    with sync_playwright() as playwright:
        driver = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield driver
        driver.close()


def plain(folder: Path) -> tuple[list[str], str]:
    """The command of `jupyter lab` as it comes, and the notebook it opens."""
    notebook = without_outputs(json.loads((ROOT / "notebooks" / FIRST).read_text("utf-8")))
    (folder / FIRST).write_text(json.dumps(notebook), encoding="utf-8")
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    place = f"--ServerApp.root_dir={folder}"
    return [sys.executable, "-m", "jupyterlab", place, *root], FIRST


def own(folder: Path) -> tuple[list[str], str]:
    """The command of start.py in a copy of the checkout with this environment, and its chapter.

    Raises OSError where links can't be made.
    """
    copy = checkout(folder)
    os.symlink(environment.VENV, copy / ".venv", target_is_directory=True)
    return [sys.executable, str(copy / "start.py")], f"my/{FIRST}"


def started(command: list[str], notebook: str, driver: Browser | None) -> list[float]:
    """Seconds until a JupyterLab answers and, in a Chromium, until its notebook is idle."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    place = [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    with tempfile.TemporaryDirectory(prefix="lab", ignore_cleanup_errors=True) as home:
        news_as_it_comes(Path(home))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        began = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--no-browser", *place], env=variables(home), **quiet
        )
        try:
            wait(f"http://127.0.0.1:{port}/api/status?token={token}", process)
            taken = [time.perf_counter() - began]
            if driver:
                show(driver, f"http://127.0.0.1:{port}/lab/tree/{notebook}?token={token}")
                taken.append(time.perf_counter() - began)
        finally:
            stop(f"http://127.0.0.1:{port}/api/shutdown?token={token}", process)
    return taken


def news_as_it_comes(home: Path) -> None:
    """Switch JupyterLab's news on again, which start.py switches off in the environment."""
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True)
    news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": False}}
    (settings / "page_config.json").write_text(json.dumps(news), encoding="utf-8")


def wait(address: str, process: subprocess.Popen) -> None:
    """Wait until the server answers; raises RuntimeError if it ends or never does."""
    for _ in range(PATIENCE * 50):
        try:
            urllib.request.urlopen(address, timeout=PATIENCE).close()
            return
        except OSError:
            time.sleep(0.02)
        if process.poll() is not None:
            break
    raise RuntimeError(f"JupyterLab did not answer: {process.args}")


def show(driver: Browser, address: str) -> None:
    """Open a notebook and wait until its kernel is idle."""
    context = driver.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(address)
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
    page.wait_for_function(IDLE)
    context.close()


def stop(address: str, process: subprocess.Popen) -> None:
    """Ask the server to end, so that what start.py has started ends too, on every system."""
    with suppress(OSError):
        urllib.request.urlopen(urllib.request.Request(address, method="POST"), timeout=30).close()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
