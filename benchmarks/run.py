"""Run the benchmarks and print their tables.

    python benchmarks/run.py                     # all
    python benchmarks/run.py strategies slider   # these

Times are printed, with the aim where there is one, and compared as ratios. They are never
asserted: a busy machine is no fault. `--quick` makes one round of the smallest sizes, only to
see that everything runs.

This file does *not* measure anything: strategies.py, session.py, slider.py and history.py do.
"""

import argparse
import importlib
import os
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

BENCHMARKS = ("strategies", "session", "slider", "history")


def main() -> None:
    """Print what each benchmark reports."""
    options = argparse.ArgumentParser(description="Run the benchmarks and print their tables.")
    options.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    options.add_argument("--quick", action="store_true", help="one round of the smallest sizes")
    asked = options.parse_args()
    if unknown := set(asked.names) - set(BENCHMARKS):
        options.error(f"there is no {', '.join(sorted(unknown))}: name {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    for name in asked.names or BENCHMARKS:
        print(f"\n## {name}")
        for part in importlib.import_module(name).report(asked.quick):
            print(f"\n{part}", flush=True)


if __name__ == "__main__":
    main()
