"""Index files: sorted entries of a fixed size beside a segment.

An index saves scanning and is never needed: what it says is checked against the log where it is
used, and it can be made again. So a write that fails keeps its entries in memory until a later
one succeeds, and nothing here is synced.
"""

import struct
from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.files import File, open_files, read_at, remove, truncate, write_at

OFFSET_ENTRY = struct.Struct(">ii")
"""Last offset of a batch, less the segment's base; its position."""
TIME_ENTRY = struct.Struct(">qi")
"""Largest timestamp so far; last offset, less the base, of the batch that has it."""
ABORTED_ENTRY = struct.Struct(">qqqqI")
"""Producer, first and last offset, the last stable offset after it ended; the CRC of these. Unlike
the others, such an entry cannot be told from garbage by a look at the log."""

_WRITE_AT = 4096
"""Bytes of entries gathered before they are written."""


class IndexDamaged(Exception):
    """The file is not there, cut, or does not say what the log says. Make it again."""


class AbortedTransaction(NamedTuple):
    """A transaction whose records read_committed consumers skip."""

    producer_id: int
    first_offset: int
    last_offset: int
    """Offset of the marker that ended it."""
    last_stable_offset: int

    @property
    def crc(self) -> int:
        return int(crc32c(b"%d %d %d %d" % self))


class IndexFile:
    """Entries in append order: those on disk, and after them those not yet written."""

    __slots__ = ("_entry", "_pending", "_written", "path")

    def __init__(self, path: str, entry: struct.Struct, written: int = 0) -> None:
        self.path = path
        self._entry = entry
        self._written = written
        self._pending = bytearray()

    def __len__(self) -> int:
        return (self._written + len(self._pending)) // self._entry.size

    @property
    def size(self) -> int:
        """Bytes of all entries."""
        return self._written + len(self._pending)

    def append(self, *fields: int) -> None:
        self._pending += self._entry.pack(*fields)
        if len(self._pending) >= _WRITE_AT:
            self.write()

    def write(self) -> bool:
        """Write what is pending. False if the disk refused; the entries are still known."""
        if not self._pending:
            return True
        try:
            file = open_files.get(self.path) if self._written else open_files.create(self.path)
            write_at(file, self._pending, self._written)
        except OSError:
            return False
        self._written += len(self._pending)
        self._pending = bytearray()
        return True

    def reset(self) -> None:
        """Forget every entry."""
        self._written = 0
        self._pending = bytearray()
        remove(self.path)

    def cut(self, count: int) -> None:
        """Keep the first `count` entries."""
        size = count * self._entry.size
        if size >= self._written:
            del self._pending[size - self._written :]
            return
        self._pending = bytearray()
        self._written = size
        try:
            truncate(open_files.get(self.path), size)
        except OSError:
            pass  # bytes past `_written` are never read, and are overwritten

    def entries(self, start: int = 0) -> "list[tuple[int, ...]]":
        """All from the one numbered `start`; raises IndexDamaged."""
        at = start * self._entry.size
        data = bytes(self._pending[max(0, at - self._written) :])
        if at < self._written:
            try:
                data = read_at(open_files.get(self.path), self._written - at, at) + data
            except OSError as error:
                raise IndexDamaged(str(error)) from None
            if len(data) != self.size - at:
                raise IndexDamaged(f"{self.path} is cut")
        return list(self._entry.iter_unpack(data))

    def floor(self, value: int) -> tuple[int, ...] | None:
        """The last entry whose first field is at most `value`; raises IndexDamaged."""
        found = self.count_upto(value)
        return self.at(found - 1) if found else None

    def count_upto(self, value: int) -> int:
        """How many entries have a first field of at most `value`."""
        return bisect_right(_Sorted(self), value, key=itemgetter(0))

    def at(self, number: int) -> tuple[int, ...]:
        return _Sorted(self)[number]


class _Sorted:
    """The entries as a sequence to bisect, each read when it is looked at."""

    def __init__(self, index: IndexFile) -> None:
        self._entry = index._entry
        self._written = index._written
        self._pending = index._pending
        self._length = len(index)
        self._path = index.path
        self._file: File | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> tuple[int, ...]:
        position = number * self._entry.size
        if position >= self._written:
            return self._entry.unpack_from(self._pending, position - self._written)
        try:
            if self._file is None:
                self._file = open_files.get(self._path)
            data = read_at(self._file, self._entry.size, position)
        except OSError as error:
            raise IndexDamaged(str(error)) from None
        if len(data) != self._entry.size:
            raise IndexDamaged(f"{self._path} is cut")
        return self._entry.unpack(data)
