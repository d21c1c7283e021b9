"""The C library's use of freed memory."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_KEPT_BYTES = 64 * 1024**2
_LARGEST_KEPT_BYTES = 32 * 1024**2


def keep_freed_memory() -> None:
    """Makes the C library keep some megabytes of freed memory instead of returning them.

    Records are read into short-lived buffers of a megabyte each. For returned memory, the system
    clears and maps the next buffer page by page, which is three quarters of the cost of a read.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:  # libraries other than glibc do not have it
        adjust(_TRIM_THRESHOLD, _KEPT_BYTES)
        adjust(_MMAP_THRESHOLD, _LARGEST_KEPT_BYTES)
