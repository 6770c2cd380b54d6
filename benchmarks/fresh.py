"""What begins from nothing: a reader's variables, a copy of the checkout, a kernel of its own.

    with Kernel() as kernel:
        kernel.run("1 + 1")

Children run the Python that runs this, with settings in a folder that is thrown away, so that the
maintainer's own Jupyter, keys and vocabulary change nothing. What it does *not* do: show what the
code in a kernel prints, or keep anything between two of them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import environment
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

ROOT = environment.ROOT
PATIENCE = 120  # seconds
MAINTAINERS = ("GEMINI_", "GOOGLE_", "CHAT_MEMORY_", "JUPYTER")  # variables that a reader lacks


def variables(home: str, **more: str) -> dict[str, str]:
    """The variables of a reader whose settings stand in the folder `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(MAINTAINERS)}
    names = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
    places = {f"JUPYTER_{key}_DIR": os.path.join(home, name) for key, name in names.items()}
    return kept | places | {"IPYTHONDIR": os.path.join(home, "ipython"), "PYTHONUTF8": "1"} | more


def checkout(folder: Path) -> Path:
    """Copy the workbook into `folder`, as git would give it: nothing of what .gitignore names."""
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    ignored = [line.rstrip("/") for line in lines if line and not line.startswith("#")]
    to = folder / "workbook"
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(".git", *ignored))
    return to


class Kernel:
    """One kernel, as a notebook gets it; it has answered when the `with` begins."""

    def __enter__(self) -> "Kernel":
        self.home = tempfile.TemporaryDirectory(prefix="kernel", ignore_cleanup_errors=True)
        own = KernelSpecManager(kernel_dirs=[str(Path(sys.prefix, "share/jupyter/kernels"))])
        self.manager = KernelManager(kernel_spec_manager=own)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.manager.start_kernel(env=variables(self.home.name), **quiet)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.home.cleanup()

    def run(self, code: str) -> str:
        """Run code and give what it printed; raises RuntimeError with its error."""
        printed: list[str] = []

        def hear(message: dict) -> None:
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                printed.append(message["content"]["text"])

        answer = self.client.execute_interactive(code, output_hook=hear)["content"]
        if answer["status"] != "ok":
            raise RuntimeError(f"{answer['ename']}: {answer['evalue']}")
        return "".join(printed)
