"""Memory of a process with all that it has started."""

import psutil


def resident_mb(pid: int) -> float:
    """In megabytes. What the processes share with each other, as forked ones do, counts once."""
    process = psutil.Process(pid)
    members = [process, *process.children(recursive=True)]
    found = [member.memory_full_info() for member in members]
    shared = max(each.rss - each.uss for each in found)
    return float(sum(each.uss for each in found) + shared) / 1e6
