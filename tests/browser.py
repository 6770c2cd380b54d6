"""JupyterLab in a headless Chromium, driven as a reader would: with the keyboard.

`Lab(folder)` starts a Lab of its own, with settings, kernel files and port of its own, and stops
it again; `page(notebook)` opens a notebook in it. A `Page` runs all cells, moves controls by keys,
reads the numbers that plotly has drawn, and records every request that left the machine.
What it does *not* do: know a chapter. Those tests are in test_browser.py.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

CHROMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 1280, "height": 720}
PATIENCE = 120  # seconds; a loaded machine takes its time
IDLE = r"""() => [...document.querySelectorAll('#jp-main-statusbar .jp-StatusBar-TextItem')]
  .some(item => /\|\s*Idle/.test(item.textContent))"""
RAN = """() => { const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
    .map(prompt => prompt.textContent);
  return prompts.some(p => /\\[\\d+\\]/.test(p)) && !prompts.some(p => p.includes('*')); }"""
# Armed before a key: t0 is when the page gets the key, t1 the second frame after the figure on
# the page has changed, which is when the change has been painted.
ARM = """([cell]) => {
  const plot = () => document.querySelectorAll('.jp-Cell')[cell].querySelector('.js-plotly-plot');
  const drawn = () => plot().querySelector('.svg-container').innerHTML;
  const before = drawn(); let t0 = null; window.__painted = null;
  addEventListener('keydown', () => { t0 = performance.now(); }, {capture: true, once: true});
  const look = () => t0 !== null && drawn() !== before
    ? requestAnimationFrame(() => requestAnimationFrame(
        () => { window.__painted = performance.now() - t0; }))
    : requestAnimationFrame(look);
  requestAnimationFrame(look);
}"""
FIGURE = """([cell]) => {
  const plot = document.querySelectorAll('.jp-Cell')[cell].querySelector('.js-plotly-plot');
  if (!plot || !plot._fullData || !plot.querySelector('.gtitle')) return null;
  return {title: plot.querySelector('.gtitle').textContent,
          axis: plot._fullLayout.yaxis.range,
          traces: Object.fromEntries(plot._fullData.filter(t => t.name)
            .map(t => [t.name, {x: [...(t.x || [])], y: [...(t.y || [])]}]))};
}"""


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, CHROMES)), None)


def need_chromium() -> None:
    """Skip the test without a Chromium, or fail it where nothing may be skipped."""
    if chromium() is None:
        how = pytest.fail if os.environ.get("CHAT_MEMORY_REQUIRE_ALL") == "1" else pytest.skip
        how("There is no Chromium on this machine: install chromium to run this test.")


class Lab:
    """A JupyterLab over one folder; use it in a `with`."""

    def __init__(self, folder: Path, theme: str = "JupyterLab Light", **environment: str) -> None:
        self.folder, self.theme, self.environment = folder, theme, environment
        self.token = secrets.token_hex(8)

    def __enter__(self) -> "Lab":
        from playwright.sync_api import sync_playwright

        self.home = tempfile.TemporaryDirectory(prefix="lab")
        self._settings(Path(self.home.name))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = open(Path(self.home.name, "lab.log"), "w")
        self.process = subprocess.Popen(
            self._command(), env=self._environment(), stdout=self.log, stderr=subprocess.STDOUT
        )
        self._wait()
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.close()
        self.playwright.stop()
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        self.home.cleanup()

    def page(self, notebook: str) -> "Page":
        """Open a notebook of the folder and wait until its kernel is idle."""
        return Page(self, notebook)

    def _settings(self, home: Path) -> None:
        """No news, no look-ups, the theme that is wanted."""
        lab = home / "config" / "labconfig"
        lab.mkdir(parents=True)
        news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
        (lab / "page_config.json").write_text(json.dumps(news))
        user = home / "config/lab/user-settings/@jupyterlab/apputils-extension"
        user.mkdir(parents=True)
        (user / "themes.jupyterlab-settings").write_text(json.dumps({"theme": self.theme}))

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.folder}",
            "--LabApp.extension_manager=readonly",
        ]

    def _environment(self) -> dict[str, str]:
        """A reader's environment: live figures, no key, nothing of this machine's Jupyter."""
        dropped = ("GEMINI_", "GOOGLE_", "CHAT_MEMORY_STATIC")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        own = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
        places = {f"JUPYTER_{key}_DIR": f"{self.home.name}/{name}" for key, name in own.items()}
        return kept | places | {"IPYTHONDIR": f"{self.home.name}/ipython"} | self.environment

    def _wait(self) -> None:
        address = f"{self.url}/api/status?token={self.token}"
        for _ in range(PATIENCE * 4):
            try:
                urllib.request.urlopen(address, timeout=2).read()
                return
            except OSError:
                time.sleep(0.25)
        raise RuntimeError(Path(self.log.name).read_text()[-2000:])


class Page:
    """One open notebook; cells are named by their place, from 0."""

    def __init__(self, lab: Lab, notebook: str) -> None:
        self.left: list[str] = []  # requests that left the machine
        self.errors: list[str] = []
        self.page = lab.browser.new_context(viewport=SIZE).new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.on("request", lambda request: self._note(request.url, lab.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{lab.url}/lab/tree/{notebook}?reset&token={lab.token}")
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        self.idle()

    def _note(self, url: str, home: str) -> None:
        socket = home.replace("http", "ws")
        if not url.startswith((home, socket, "data:", "blob:")):
            self.left.append(url)

    def idle(self) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_function(IDLE)

    def run_all(self) -> None:
        """Run, Run All Cells, and wait."""
        self.page.click('.lm-MenuBar-item:has(> .lm-MenuBar-itemLabel:text-is("Run"))')
        self.page.click('.lm-Menu-item:has(> .lm-Menu-itemLabel:text-is("Run All Cells"))')
        self.page.wait_for_function(RAN)
        self.idle()
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt").all_text_contents()
        assert not any("[ ]" in prompt for prompt in prompts), self._output()

    def _output(self) -> str:
        """What the cells say, for a failed run."""
        return "\n".join(self.page.locator(".jp-OutputArea-output").all_text_contents())[-2000:]

    def cell(self, place: int) -> object:
        """The cell, scrolled into view."""
        cell = self.page.locator(".jp-Cell").nth(place)
        cell.scroll_into_view_if_needed()
        return cell

    def figure(self, place: int) -> dict:
        """What plotly has drawn in a cell: its title, the y axis, and its traces' numbers."""
        handle = self.page.wait_for_function(FIGURE, arg=[place])
        return handle.json_value()

    def wait_for_title(self, place: int, words: str) -> dict:
        """Wait until the figure's title holds these words; gives the figure."""
        look = f"([cell, words]) => {{ const f = ({FIGURE})([cell]); "
        look += "return f && f.title.includes(words) ? f : null; }"
        return self.page.wait_for_function(look, arg=[place, words]).json_value()

    def timed(self, place: int, key: str) -> float:
        """Press a key and give the milliseconds until the changed figure was painted."""
        self.page.evaluate(ARM, [place])
        self.page.keyboard.press(key)
        self.page.wait_for_function("() => window.__painted !== null", polling=10)
        return self.page.evaluate("() => window.__painted")

    def screenshot(self, path: Path) -> None:
        """A picture of what a reader sees."""
        self.page.screenshot(path=path)
