"""Index files: sorted entries of a fixed size beside a segment.

An index saves a scan and can be rebuilt. Its entries are checked against the log when they are
used. So nothing is synced here, and if a write fails, its entries stay in memory until a later
write succeeds.
"""

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.files import File, open_files, read_at, remove, truncate, write_at

OFFSET_ENTRY = struct.Struct(">ii")
"""Last offset of a batch, less the segment's base; its position."""
TIME_ENTRY = struct.Struct(">qi")
"""Largest timestamp so far; last offset, less the base, of the batch that has it."""
ABORTED_ENTRY = struct.Struct(">qqqqI")
"""Producer, first and last offset, last stable offset after its end, and the CRC of these. Unlike
other entries, such an entry cannot be checked against the log."""

_READ_AT_ONCE = 100
"""Entries per read."""
_WRITE_AT = 4096
"""Bytes of entries that are collected before a write."""


class IndexDamaged(Exception):
    """The file is missing, cut, or does not match the log. It must be rebuilt."""


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
    """Entries in append order: written ones, then pending ones."""

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
        """Writes pending entries. Returns False if the disk fails; the entries stay pending."""
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
        """Removes all entries."""
        self._written = 0
        self._pending = bytearray()
        remove(self.path)

    def cut(self, count: int) -> None:
        """Keeps the first `count` entries."""
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

    def entries(self, start: int = 0) -> "Iterator[tuple[int, ...]]":
        """The entries from index `start` on, read as they are needed; raises IndexDamaged."""
        entries = _Sorted(self)
        for first in range(start, len(self), _READ_AT_ONCE):
            yield from entries.some(first, _READ_AT_ONCE)

    def floor(self, value: int) -> tuple[int, ...] | None:
        """The last entry whose first field is at most `value`; raises IndexDamaged."""
        count = self.count_upto(value)
        return self.at(count - 1) if count else None

    def count_upto(self, value: int, key: Callable[[tuple[int, ...]], int] = itemgetter(0)) -> int:
        """The number of entries whose first field, or `key`, is at most `value`."""
        return bisect_right(_Sorted(self), value, key=key)

    def at(self, number: int) -> tuple[int, ...]:
        return _Sorted(self)[number]


class _Sorted:
    """The entries as a sequence for bisect. Each is read on access."""

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
        (entry,) = self.some(number, 1)
        return entry

    def some(self, first: int, count: int) -> "Iterator[tuple[int, ...]]":
        """At most `count` entries from index `first` on."""
        start = first * self._entry.size
        end = min(first + count, self._length) * self._entry.size
        data = bytes(self._pending[max(0, start - self._written) : max(0, end - self._written)])
        if start < self._written:
            size = min(end, self._written) - start
            try:
                if self._file is None:
                    self._file = open_files.get(self._path)
                written = read_at(self._file, size, start)
            except OSError as error:
                raise IndexDamaged(str(error)) from None
            if len(written) != size:
                raise IndexDamaged(f"{self._path} is cut")
            data = written + data
        return self._entry.iter_unpack(data)
