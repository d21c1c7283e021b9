"""The heap of a JVM, from the log of its collector.

The memory of a JVM's process says how far its heap was ever used, not what is alive in it. The
collector writes what it knows into a file that `jstat` reads, and so do we: a process of Java for
each sample would take more than what is measured.
"""

import getpass
import struct
import tempfile
from pathlib import Path

_HEAD = struct.Struct("<4sBBBBiiqii")
_ENTRY = struct.Struct("<iiibbbbi")
_MAGIC = b"\xca\xfe\xc0\xc0"
_LITTLE_ENDIAN = 1
_LONG = ord("J")
_OLD = "sun.gc.generation.1.space.0.used"
"""As of the last collection: what has outlived some of them."""


def heap_figures(pid: int) -> dict[str, float]:
    """Megabytes of the old generation; nothing where the JVM does not tell."""
    file = Path(tempfile.gettempdir()) / f"hsperfdata_{getpass.getuser()}" / str(pid)
    try:
        used = _counters(file.read_bytes()).get(_OLD)
    except OSError:
        return {}
    return {} if used is None else {"spark-old.heap_mb": used / 1024**2}


def _counters(content: bytes) -> dict[str, int]:
    """The whole numbers among the counters, by name."""
    magic, order, *_, first, count = _HEAD.unpack_from(content)
    if magic != _MAGIC or order != _LITTLE_ENDIAN:
        return {}
    found = {}
    at = first
    for _ in range(count):
        length, name_at, vector, kind, _flags, _unit, _change, data_at = _ENTRY.unpack_from(
            content, at
        )
        if kind == _LONG and vector == 0:
            name = content[at + name_at : content.index(b"\0", at + name_at)].decode()
            (found[name],) = struct.unpack_from("<q", content, at + data_at)
        at += length
    return found
