"""How the C library deals with memory that was freed."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_KEPT_BYTES = 64 * 1024**2
_LARGEST_KEPT_BYTES = 32 * 1024**2


def keep_freed_memory() -> None:
    """Have freed memory used again instead of given back to the system, up to some megabytes.

    Records are read into buffers of a megabyte each that live for a moment. Given back, the next
    one is cleared and mapped by the system, page by page: of what it takes to read and check
    records, three quarters.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:  # other libraries than glibc go without
        adjust(_TRIM_THRESHOLD, _KEPT_BYTES)
        adjust(_MMAP_THRESHOLD, _LARGEST_KEPT_BYTES)
