"""Memory of a process with all that it has started."""

import psutil


def resident_mb(pid: int) -> float:
    """In megabytes. What processes share, as forked ones do, counts once."""
    process = psutil.Process(pid)
    members = [process, *process.children(recursive=True)]
    return sum(member.memory_full_info().pss for member in members) / 1e6
