"""The memory that the Python which runs this holds: now, and at its most.

This file does *not* import anything of the workbook: it is imported in kernels that have none.
"""

import sys
from pathlib import Path

import psutil

STATUS = Path("/proc/self/status")  # Linux


def resident() -> tuple[int, int]:
    """Bytes of resident memory, now and at the most.

    On Linux the kernel's own line is read: `getrusage` would begin with what the parent held.
    """
    memory = psutil.Process().memory_info()
    if STATUS.exists():
        lines = STATUS.read_text("ascii").splitlines()
        (peak,) = (line for line in lines if line.startswith("VmHWM"))
        return memory.rss, int(peak.split()[1]) * 1024
    if sys.platform == "win32":
        return memory.rss, memory.peak_wset
    import resource  # not on Windows

    return memory.rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
