"""A log under test, with a clock and a disk that can fail."""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.broker.log import Appended, CleanState, PartitionLog, Source, files
from holdfast.broker.topic_config import TopicConfig
from holdfast.wire.records.batch import (
    HEADER_SIZE,
    MAGIC,
    BatchHeader,
    build_batch,
    control_batch,
    header_of,
    iterate_batches,
    records_of,
)
from holdfast.wire.records.record import Record

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike, ReadableBuffer

NOW = 1_700_000_000_000


class LogUnderTest:
    """A partition log with short ways to do what brokers and clients do."""

    def __init__(self, directory: Path, **settings: object) -> None:
        self.directory = directory
        self.settings = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.reports: list[str] = []
        self.now = NOW
        self.log = self.open()

    @property
    def config(self) -> TopicConfig:
        return TopicConfig.of(self.settings)

    def open(self, clean: CleanState | None = None) -> PartitionLog:
        self.reports.clear()
        self.log = PartitionLog.open(
            self.directory,
            self.config,
            now_ms=self.now,
            clean=clean,
            report=self.reports.append,
        )
        return self.log

    def crash(self) -> PartitionLog:
        """Open again as after kill -9."""
        return self.open(None)

    def reopen(self) -> PartitionLog:
        """Open again after a clean stop."""
        return self.open(CleanState.from_json(self.log.close().to_json()))

    def put(self, *values: str | None, key: str | None = "k", **fields: Any) -> Appended:
        """Append one batch."""
        batch = build_batch(
            [
                (None if key is None else key.encode(), v if v is None else v.encode())
                for v in values
            ],
            timestamp=self.now,
            **fields,
        )
        return self.log.append(memoryview(batch), now_ms=self.now)

    def send(
        self,
        producer: int,
        sequence: int,
        count: int = 1,
        epoch: int = 0,
        transactional: bool = False,
    ) -> Appended:
        return self.put(
            *[f"{producer}/{sequence + n}" for n in range(count)],
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=transactional,
        )

    def end(
        self, producer: int, commit: bool, epoch: int = 0, coordinator_epoch: int = 0
    ) -> Appended:
        marker = control_batch(producer, epoch, commit, coordinator_epoch, self.now)
        return self.log.append(memoryview(marker), now_ms=self.now, source=Source.COORDINATOR)

    def flush(self) -> None:
        ticket = self.log.flush_targets()
        if ticket is not None:
            ticket.sync()
            self.log.flushed(ticket)

    def fail_flush(self) -> None:
        ticket = self.log.flush_targets()
        assert ticket is not None
        self.log.flush_failed(ticket, OSError(errno.EIO, "injected"))

    def batches(self, start: int | None = None, max_bytes: int = 1 << 20) -> list[BatchHeader]:
        """Headers of all that readers can see, read sequentially."""
        offset = self.log.log_start_offset if start is None else start
        found = []
        while data := self.log.read(offset, max_bytes, limit=self.log.high_watermark):
            for header, _ in iterate_batches(data):
                found.append(header)
                offset = header.last_offset + 1
        return found

    def records(self, start: int | None = None, max_bytes: int = 1 << 20) -> list[Record]:
        offset = self.log.log_start_offset if start is None else start
        found: list[Record] = []
        while data := self.log.read(offset, max_bytes, limit=self.log.high_watermark):
            for header, batch in iterate_batches(data):
                if not header.is_control:
                    found += [record for record in records_of(batch) if record.offset >= offset]
                offset = header.last_offset + 1
        return found

    def values(self, start: int | None = None) -> list[str | None]:
        return [None if r.value is None else r.value.decode() for r in self.records(start)]

    def file(self, suffix: str, number: int = -1) -> Path:
        """One of the files that end so: the last, unless told."""
        return sorted(self.directory.glob(f"*{suffix}"))[number]

    def reported(self, text: str) -> bool:
        return any(text in report for report in self.reports)


def flip(path: Path, position: int) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= 0x5A
    path.write_bytes(data)


def batch_positions(path: Path) -> list[int]:
    """Where the batches of a good segment begin."""
    data = written_bytes(path)
    positions, position = [], 0
    while position < len(data):
        positions.append(position)
        position += header_of(data, position).size
    return positions


def written_bytes(path: Path) -> bytes:
    """The batches of a good segment, without the room that an active one has after them."""
    data = path.read_bytes()
    end = 0
    while len(data) - end >= HEADER_SIZE and (header := header_of(data, end)).magic == MAGIC:
        end += header.size
    return data[:end]


class FaultyDisk(files.Disk):
    """A disk with limited room, or on which chosen calls fail."""

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.failing: set[str] = set()

    def _maybe_fail(self, call: str) -> None:
        if call in self.failing:
            raise OSError(errno.EIO, f"injected: {call}")

    def open(  # type: ignore[override]  # the log never passes `dir_fd`
        self, path: str, flags: int, mode: int = 0o777
    ) -> int:
        self._maybe_fail("create" if flags & os.O_CREAT else "open")
        if flags & os.O_CREAT and self.room == 0:
            raise OSError(errno.ENOSPC, "injected")
        return os.open(path, flags, mode)

    def pwrite(self, fd: int, data: "ReadableBuffer", position: int, /) -> int:
        self._maybe_fail("pwrite")
        if self.room is None:
            return os.pwrite(fd, data, position)
        if self.room == 0:
            raise OSError(errno.ENOSPC, "injected")
        part = memoryview(data)[: self.room]
        self.room -= len(part)
        return os.pwrite(fd, part, position)

    def pread(self, fd: int, size: int, position: int, /) -> bytes:
        self._maybe_fail("pread")
        return os.pread(fd, size, position)

    def ftruncate(self, fd: int, size: int, /) -> None:
        self._maybe_fail("ftruncate")
        os.ftruncate(fd, size)

    def fdatasync(self, fd: "FileDescriptorLike") -> None:
        self._maybe_fail("fdatasync")
        os.fdatasync(fd)

    def fsync(self, fd: "FileDescriptorLike") -> None:
        self._maybe_fail("fsync")
        os.fsync(fd)

    def unlink(self, path: str) -> None:  # type: ignore[override]  # as in `open`
        self._maybe_fail("unlink")
        os.unlink(path)
