"""What `start.py` does for a reader's own machine, done for an image of Binder or a JupyterHub.

repo2docker, which builds such images, installs environment.yml and then runs the file `postBuild`,
which runs this with the image's own Python. It copies the chapters into `my/`, without outputs;
it lets the image's JupyterLab open the first one, fetch no news and look nothing up, and its
kernels say which cell comes first.
It does *not* install anything, and it does not start anything. Standard library only.
"""

import json
import sys
from pathlib import Path

from environment import NOT_WRITABLE, Trouble, settle
from launch import copy_missing, lab_settings


def main() -> int:
    """Prepare this checkout and the environment of the Python that runs this."""
    try:
        copy_missing()
        prepare(Path(sys.prefix))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    return 0


def prepare(prefix: Path) -> None:
    """Give the environment at `prefix` the settings that `start.py` gives."""
    settings = prefix / "etc" / "jupyter" / "jupyter_lab_config.json"
    try:
        settle(prefix)
        settings.write_text(json.dumps({"LabApp": lab_settings()}), encoding="utf-8")
    except OSError as error:
        raise Trouble(NOT_WRITABLE.format(prefix, error.strerror or error)) from None


if __name__ == "__main__":
    sys.exit(main())
