"""JupyterLab in a headless Chromium, driven as a reader would: with the keyboard.

`Lab(folder)` starts a Lab of its own, with settings, kernel files and port of its own, and stops
it again; `page(notebook)` opens a notebook in it. A `Page` runs all cells, moves controls by keys,
reads the numbers that plotly has drawn, and records every request that left the machine.
`Page.open` goes on to another notebook as a reader does, which takes half the time of a page.
Tests, screenshots and benchmarks drive with it. What it does *not* do: know a chapter.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from pictures import browser as chromium
from playwright.sync_api import Locator, TimeoutError, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE = {"width": 1280, "height": 720}
MOST = 40  # controls between two, for one who goes from one to the other by Tab
PATIENCE = 120  # seconds; a loaded machine takes its time
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/lab\S*\?token=(\w+)")
IDLE = r"""() => [...document.querySelectorAll('#jp-main-statusbar .jp-StatusBar-TextItem')]
  .some(item => /\|\s*Idle/.test(item.textContent))"""
# The numbers in front of the code cells, 0 for a cell that has none or is running.
COUNTS = r"""() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
  .map(prompt => Number((/\[(\d+)\]/.exec(prompt.textContent) ?? [0, 0])[1]))"""
# Where an element is from what has the keyboard: 1 further on, -1 further back, 0 it is that.
AHEAD = """(element) => {
  const now = document.activeElement;
  if (element === now) return 0;
  return now.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : -1;
}"""
# Armed before a key: t0 is when the browser got the key, and each change inside a plotly figure of
# the cell sets the end to the second frame after it: the first has been painted by then. The end
# counts once nothing has changed for `rest` ms: a figure drawn anew is drawn, then fitted.
# Nothing looks while the page works: the page tells what has changed.
ARM = """([cell, rest, patience]) => {
  const area = document.querySelectorAll('.jp-Cell')[cell].querySelector('.jp-OutputArea');
  const drawn = ({target}) => (target.closest ? target : target.parentElement)
    ?.closest('.svg-container');
  const frames = then => requestAnimationFrame(() => requestAnimationFrame(then));
  let t0 = null, quiet = null;
  addEventListener('keydown', event => { t0 = event.timeStamp; }, {capture: true, once: true});
  window.__painted = new Promise((done, fail) => {
    const watch = new MutationObserver(changes => {
      if (t0 !== null && changes.some(drawn)) frames(() => {
        const painted = performance.now() - t0;
        clearTimeout(quiet);
        quiet = setTimeout(() => { watch.disconnect(); done(painted); }, rest);
      });
    });
    watch.observe(area, {subtree: true, childList: true, attributes: true, characterData: true});
    setTimeout(() => fail(Error('The figure stays as it was.')), patience);
  });
}"""
REST = 150  # ms
FIGURE = """([cell]) => {
  const plot = document.querySelectorAll('.jp-Cell')[cell].querySelector('.js-plotly-plot');
  if (!plot || !plot._fullData || !plot.querySelector('.gtitle')) return null;
  return {title: plot.querySelector('.gtitle').textContent,
          axis: plot._fullLayout.yaxis.range,
          traces: Object.fromEntries(plot._fullData.filter(t => t.name)
            .map(t => [t.name, {x: [...(t.x || [])], y: [...(t.y || [])]}]))};
}"""

WIDE = """([cell]) => {
  const room = document.querySelectorAll('.jp-Cell')[cell].querySelector('.jp-OutputArea-output');
  const plot = room.querySelector('.js-plotly-plot .main-svg');
  return plot && Math.abs(plot.clientWidth / room.clientWidth - 0.99) < 0.02;
}"""


class Lab:
    """A JupyterLab over one folder; use it in a `with`."""

    def __init__(self, folder: Path, theme: str = "JupyterLab Light", **environment: str) -> None:
        self.folder, self.theme, self.environment = folder, theme, environment

    def __enter__(self) -> "Lab":
        self.home = tempfile.TemporaryDirectory(prefix="lab")
        self.settings(Path(self.home.name))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(Path(self.home.name, "lab.log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            self.command(), env=self._environment(), stdout=self.log, stderr=subprocess.STDOUT
        )
        self._wait()
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.close()
        self.playwright.stop()
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()
        self.home.cleanup()

    def page(self, notebook: str, address: str = "") -> "Page":
        """Open a notebook of the folder and wait until its kernel is idle.

        `address` is where it stands, if it is not to be worked out from its name.
        """
        own = f"{self.url}/lab/tree/{notebook}?reset&token={self.token}"
        return Page(self, notebook, address or own)

    def settings(self, home: Path) -> None:
        """No news, no look-ups, the theme that is wanted."""
        lab = home / "config" / "labconfig"
        lab.mkdir(parents=True)
        news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
        (lab / "page_config.json").write_text(json.dumps(news), encoding="utf-8")
        user = home / "config/lab/user-settings/@jupyterlab/apputils-extension"
        user.mkdir(parents=True)
        (user / "themes.jupyterlab-settings").write_text(
            json.dumps({"theme": self.theme}), "utf-8"
        )

    def command(self) -> list[str]:
        """What starts it; whatever it is prints the address that a reader would open."""
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
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

    def ask(self, path: str, method: str = "GET") -> object:
        """Ask the server itself; gives the JSON that it answers."""
        address = f"{self.url}/api/{path}?token={self.token}"
        with urllib.request.urlopen(
            urllib.request.Request(address, method=method), timeout=30
        ) as answer:
            return json.loads(answer.read() or "null")

    def _wait(self) -> None:
        """Read the address in what it prints, and wait until it answers there."""
        for _ in range(PATIENCE * 4):
            if printed := ADDRESS.search(self._printed()):
                self.address, (self.url, self.token) = printed[0], printed.groups()
                with contextlib.suppress(OSError):
                    self.ask("status")
                    return
            time.sleep(0.25)
        raise RuntimeError(self._printed()[-2000:])

    def _printed(self) -> str:
        return Path(self.log.name).read_text("utf-8", "replace")


class Page:
    """One open notebook; cells are named by their ids."""

    def __init__(self, lab: Lab, notebook: str, address: str) -> None:
        self.lab = lab
        self.context = lab.browser.new_context(viewport=SIZE)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.on("request", lambda request: self._note(request.url, lab.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self._begin(notebook)
        self.page.goto(address)
        self._wait()

    def _begin(self, notebook: str) -> None:
        self.left: list[str] = []  # requests that left the machine
        self.errors: list[str] = []
        cells = json.loads((self.lab.folder / notebook).read_text(encoding="utf-8"))["cells"]
        self.places = {cell["id"]: place for place, cell in enumerate(cells)}

    def _wait(self) -> None:
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        self.idle()

    def open(self, notebook: str) -> None:
        """Close the notebook without saving it, and open another on the same page."""
        self._menu("File", "Close Tab")
        gone = "() => !document.querySelector('.jp-Cell')"
        self._until(f"{gone} || document.querySelector('.jp-Dialog')")
        if self.page.evaluate(f"!({gone})()"):
            self.page.click('.jp-Dialog button:has-text("Discard")')
            self._until(gone)
        self._stop_kernels()
        self._begin(notebook)
        self._menu("File", "Open from Path…")
        self.write(notebook)
        self._wait()

    def close(self) -> None:
        """Close the page and stop its kernel, which would go on eating memory."""
        self.context.close()
        self._stop_kernels()

    def _stop_kernels(self) -> None:
        for kernel in self.lab.ask("kernels"):
            self.lab.ask(f"kernels/{kernel['id']}", "DELETE")

    def _menu(self, menu: str, item: str) -> None:
        self.page.click(f'.lm-MenuBar-item:has(> .lm-MenuBar-itemLabel:text-is("{menu}"))')
        self.page.click(f'.lm-Menu-item:has(> .lm-Menu-itemLabel:text-is("{item}"))')

    def _note(self, url: str, home: str) -> None:
        if not url.startswith((home, home.replace("http", "ws"), "data:", "blob:")):
            self.left.append(url)

    def _until(self, script: str, arg: object = None) -> object:
        """Wait until a script gives something, and give that.

        It is asked by the clock: on a loaded machine the frames, which playwright would go by,
        come seconds apart.
        """
        return self.page.wait_for_function(script, arg=arg, polling=50).json_value()

    def idle(self) -> None:
        """Wait until the kernel has nothing to do."""
        self._until(IDLE)

    def run_all(self, asked: bool = False) -> None:
        """Run, Run All Cells, and wait; a cell that did not run fails the test.

        A cell that has `asked` for a key gets Enter alone. What ran before is run again.
        """
        before = max(self.page.evaluate(COUNTS))
        self._menu("Run", "Run All Cells")
        if asked:
            self.page.locator(".jp-Stdin-input").press("Enter")
            self.page.locator(".jp-Stdin-input").wait_for(state="detached")
        try:
            self._until(f"before => ({COUNTS})().every(n => n > before)", arg=before)
        except TimeoutError:
            raise AssertionError(self._output()) from None
        self.idle()

    def _output(self) -> str:
        """What the cells say, for a failed run."""
        return "\n".join(self.page.locator(".jp-OutputArea-output").all_text_contents())[-2000:]

    def cell(self, name: str) -> Locator:
        """The cell, scrolled into view."""
        cell = self.page.locator(".jp-Cell").nth(self.places[name])
        cell.scroll_into_view_if_needed()
        return cell

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> str:
        """The kind of control that has the keyboard."""
        return self.page.evaluate("() => document.activeElement.type || ''")

    def enter(self, name: str) -> None:
        """Give the keyboard to a cell, from where Tab goes on into its output."""
        self.cell(name).focus()

    def reach(self, control: Locator) -> None:
        """Go to a control by Tab, or back to it by Shift+Tab, and mark it as reached."""
        for _ in range(MOST):
            ahead = control.evaluate(AHEAD)
            if not ahead:
                control.evaluate("element => { element.dataset.reached = true; }")
                return
            self.press("Tab" if ahead > 0 else "Shift+Tab")
        raise AssertionError(f"Tab does not reach {control}.")

    def predict(self, name: str) -> None:
        """Choose the first prediction and lift the veil, by keyboard."""
        self.enter(name)
        self.reach(self.cell(name).locator(".widget-toggle-buttons button").first)
        self.press("Space")
        button = self.cell(name).locator(".widget-button:enabled:not(.widget-toggle-button)")
        button.wait_for()
        self.reach(button)
        self.press("Enter")
        self.figure(name)
        first = "input, .widget-toggle-button"  # a number box, or the first of some choices
        self._until(f"() => document.activeElement.matches('{first}')")

    def type_number(self, name: str, number: int) -> None:
        """Type a number into the box beside a cell's first slider."""
        self.cell(name).locator("input[type=number]").first.focus()
        self.press("ControlOrMeta+a", *str(number), "Enter")

    def write(self, text: str) -> None:
        """Type a text where the keyboard is, and press Enter."""
        self.page.keyboard.type(text)
        self.press("Enter")

    def figure(self, name: str) -> dict:
        """What plotly has drawn in a cell: its title, the y axis, and its traces' numbers."""
        return self._until(FIGURE, [self.places[name]])

    def wait_for(self, name: str, right: Callable[[dict], bool]) -> dict:
        """Wait until a cell's figure is as it should be; gives the figure."""
        for _ in range(PATIENCE * 10):
            figure = self.figure(name)
            if right(figure):
                return figure
            self.page.wait_for_timeout(100)
        raise AssertionError(f"The figure of {name} stays {figure}")

    def wait_for_width(self, name: str) -> None:
        """Wait until a cell's figure fills its output."""
        self._until(WIDE, [self.places[name]])

    def timed(self, name: str, key: str) -> float:
        """Press a key and give the milliseconds until the changed figure was painted.

        Raises playwright's Error if nothing changes.
        """
        self.page.evaluate(ARM, [self.places[name], REST, PATIENCE * 1000])
        self.press(key)
        return self.page.evaluate("() => window.__painted")

    def screenshot(self, path: Path) -> None:
        """A picture of what a reader sees."""
        self.page.screenshot(path=path)
