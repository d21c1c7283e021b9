"""Random histories of a log, with crashes, against a model that keeps everything in a list."""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.broker.log.world import NOW, FaultyDisk, written_bytes

from holdfast.broker.log import CleanState, PartitionLog, RecordsRejected, Source, compaction, files
from holdfast.broker.log.cleaning import CompactionPlan, clean
from holdfast.broker.log.directory import CLEANED_DIRECTORY, SNAPSHOT_COPY
from holdfast.broker.log.leftovers import swap_name
from holdfast.broker.topic_config import TopicConfig
from holdfast.broker.work import finish
from holdfast.wire.records.batch import (
    build_batch,
    control_batch,
    iterate_batches,
    marker_of,
    records_of,
)
from holdfast.wire.records.compression import Compression

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike


class QuickDisk(FaultyDisk):
    """The history decides which bytes are synced."""

    def fdatasync(self, fd: "FileDescriptorLike") -> None:
        self._maybe_fail("fdatasync")

    def fsync(self, fd: "FileDescriptorLike") -> None:
        self._maybe_fail("fsync")


@dataclass(frozen=True)
class Batch:
    """A batch as the model remembers it."""

    base: int
    records: tuple[tuple[bytes, bytes | None], ...]
    producer: int = -1
    epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    commit: bool | None = None
    """None: not a marker."""

    @property
    def last(self) -> int:
        return self.base + len(self.records) - 1


@dataclass
class Model:
    """The log as a list."""

    batches: list[Batch] = field(default_factory=list)
    start: int = 0
    visible: int = 0

    @property
    def end(self) -> int:
        return self.batches[-1].last + 1 if self.batches else 0

    def cut(self, end: int) -> None:
        self.batches = [batch for batch in self.batches if batch.last < end]

    def of(self, producer: int) -> list[Batch]:
        return [batch for batch in self.batches if batch.producer == producer]

    def epoch_of(self, producer: int) -> int:
        batches = self.of(producer)
        return batches[-1].epoch if batches else 0

    def next_sequence(self, producer: int, epoch: int) -> int:
        data = [b for b in self.of(producer) if b.commit is None and b.epoch == epoch]
        return data[-1].sequence + len(data[-1].records) if data else 0

    def transactions(self) -> Iterator[tuple[int, int, Batch | None]]:
        """Producer, first offset and marker of each transaction."""
        opened: dict[int, int] = {}
        for batch in self.batches:
            if batch.commit is not None:
                if batch.producer in opened:
                    yield batch.producer, opened.pop(batch.producer), batch
            elif batch.transactional:
                opened.setdefault(batch.producer, batch.base)
        for producer, first in opened.items():
            yield producer, first, None

    def is_open(self, producer: int) -> bool:
        return any(p == producer and m is None for p, _, m in self.transactions())

    def last_stable(self) -> int:
        undecided = [
            first
            for _, first, marker in self.transactions()
            if marker is None or marker.base >= self.visible
        ]
        return max(self.start, min([self.visible, *undecided]))

    def aborted(self, start: int, upto: int) -> set[tuple[int, int, int]]:
        return {
            (producer, first, marker.base)
            for producer, first, marker in self.transactions()
            if marker is not None
            and marker.commit is False
            and marker.base >= start
            and first < upto
        }

    def is_aborted(self, offset: int, producer: int) -> bool:
        return any(p == producer and f <= offset < last for p, f, last in self.aborted(0, self.end))


class History:
    """One log, one model, and what chance does to both."""

    def __init__(self, seed: int, root: Path) -> None:
        self.random = random.Random(seed)
        self.root = root
        self.now = NOW
        self.model = Model()
        self.compacted = self.random.random() < 0.5
        self.was_compacted = False
        self.settings = {
            "segment.bytes": str(self.random.choice([300, 700, 5000])),
            "index.interval.bytes": str(self.random.choice([0, 150, 4096])),
            "cleanup.policy": "compact" if self.compacted else "delete",
            "delete.retention.ms": "500",
            "min.cleanable.dirty.ratio": "0.1",
        }
        self.generation = 0
        self.synced_bytes = 0
        self.lost_snapshots = False
        self.reports: list[str] = []
        self.steps: list[str] = []
        self.log = self.open(None)

    @property
    def directory(self) -> Path:
        return self.root / f"p-{self.generation}"

    def open(self, clean_state: CleanState | None) -> PartitionLog:
        self.reports.clear()
        return PartitionLog.open(
            self.directory,
            TopicConfig.of(self.settings),
            now_ms=self.now,
            clean=clean_state,
            report=self.reports.append,
        )

    def run(self, steps: int) -> None:
        actions = [
            (self.append_plain, 6),
            (self.append_idempotent, 6),
            (self.append_transactional, 6),
            (self.end_transaction, 4),
            (self.repeat_a_batch, 2),
            (self.send_out_of_order, 1),
            (self.flush, 6),
            (self.fail_flush, 1),
            (self.full_disk, 1),
            (self.delete_records, 1),
            (self.retain, 1),
            (self.compact, 2),
            (self.crash_in_compaction, 1),
            (self.kill, 1),
            (self.lose_power, 1),
            (self.stop_and_start, 1),
            (self.lose_snapshots_and_kill, 1),
            (self.lose_snapshots_and_stop, 1),
        ]
        names = [action for action, weight in actions for _ in range(weight)]
        for _ in range(steps):
            action = self.random.choice(names)
            self.steps.append(action.__name__)
            self.now += self.random.choice([0, 1, 50])
            action()
            self.check()

    # what clients do

    def some_records(self) -> tuple[tuple[bytes, bytes | None], ...]:
        count = self.random.choice([1, 1, 2, 4])
        return tuple(
            (
                b"k%d" % self.random.randrange(6),
                None if self.random.random() < 0.15 else b"v%d" % self.random.randrange(10**6),
            )
            for _ in range(count)
        )

    def append(self, batch: Batch) -> None:
        made = build_batch(
            batch.records,
            timestamp=self.now,
            producer_id=batch.producer,
            producer_epoch=batch.epoch,
            base_sequence=batch.sequence,
            transactional=batch.transactional,
            compression=self.random.choice(list(Compression)),
        )
        appended = self.log.append(memoryview(made), now_ms=self.now)
        assert not appended.duplicate
        assert (appended.base_offset, appended.last_offset) == (batch.base, batch.last)
        self.model.batches.append(batch)

    def append_plain(self) -> None:
        self.append(Batch(self.model.end, self.some_records()))

    def append_idempotent(self) -> None:
        producer = self.random.randrange(3)
        epoch = self.model.epoch_of(producer) + (self.random.random() < 0.1)
        sequence = self.model.next_sequence(producer, epoch)
        self.append(Batch(self.model.end, self.some_records(), producer, epoch, sequence))

    def append_transactional(self) -> None:
        producer = 10 + self.random.randrange(3)
        epoch = self.model.epoch_of(producer)
        sequence = self.model.next_sequence(producer, epoch)
        self.append(Batch(self.model.end, self.some_records(), producer, epoch, sequence, True))

    def end_transaction(self) -> None:
        producer = 10 + self.random.randrange(3)
        bump = self.random.random() < 0.2
        epoch = self.model.epoch_of(producer) + bump
        commit = self.random.random() < 0.5
        marker = control_batch(producer, epoch, commit, 0, self.now)
        appended = self.log.append(memoryview(marker), now_ms=self.now, source=Source.COORDINATOR)
        batch = Batch(self.model.end, ((b"", b""),), producer, epoch, -1, True, commit)
        assert appended.base_offset == batch.base
        self.model.batches.append(batch)

    def repeat_a_batch(self) -> None:
        producer = self.random.choice([0, 1, 2, 10, 11, 12])
        epoch = self.model.epoch_of(producer)
        mine = [b for b in self.model.of(producer) if b.commit is None and b.epoch == epoch][-5:]
        if not mine:
            return
        batch = self.random.choice(mine)
        made = build_batch(
            batch.records,
            timestamp=self.now,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=batch.sequence,
            transactional=batch.transactional,
        )
        appended = self.log.append(memoryview(made), now_ms=self.now)
        assert appended.duplicate
        assert (appended.base_offset, appended.last_offset) == (batch.base, batch.last)

    def send_out_of_order(self) -> None:
        producer = self.random.choice([0, 1, 2])
        if not self.model.of(producer):
            return
        epoch = self.model.epoch_of(producer)
        for wrong_epoch, sequence in (
            (epoch, self.model.next_sequence(producer, epoch) + 1),
            (epoch + 1, 5),
            (epoch - 1, 0),
        ):
            made = build_batch(
                [(b"k", b"v")],
                timestamp=self.now,
                producer_id=producer,
                producer_epoch=wrong_epoch,
                base_sequence=sequence,
            )
            with pytest.raises(RecordsRejected):
                self.log.append(memoryview(made), now_ms=self.now)

    # what the broker does

    def flush(self) -> None:
        ticket = self.log.flush_targets()
        if ticket is not None:
            ticket.sync()
            self.log.flushed(ticket)
            self.model.visible = self.model.end

    def fail_flush(self) -> None:
        ticket = self.log.flush_targets()
        if ticket is not None:
            self.log.flush_failed(ticket, OSError("injected"))
            self.model.cut(self.model.visible)

    def full_disk(self) -> None:
        disk = files.disk
        assert isinstance(disk, QuickDisk)
        disk.room = self.random.randrange(60)
        made = build_batch(self.some_records(), timestamp=self.now)
        with pytest.raises(Exception, match="could not be written"):
            self.log.append(memoryview(made), now_ms=self.now)
        disk.room = None

    def delete_records(self) -> None:
        offset = self.random.randint(self.model.start, self.model.visible)
        self.model.start = finish(self.log.delete_records_before(offset))
        assert self.model.start == offset

    def retain(self) -> None:
        if self.compacted:
            return
        self.log.apply_config(TopicConfig.of({**self.settings, "retention.bytes": "900"}))
        finish(self.log.retain(self.now))
        assert self.log.log_start_offset <= self.model.visible
        self.model.start = self.log.log_start_offset

    def compact(self) -> None:
        if self.compacted and compaction.compact_needed(self.log, self.now):
            result = asyncio.run(compaction.compact(self.log, self.now))
            assert result.failure is None, result
            self.was_compacted = True

    # what fate does

    def crash_in_compaction(self) -> None:
        job = compaction.plan(self.log, self.now) if self.compacted else None
        if job is None:
            return
        target = self.directory / CLEANED_DIRECTORY
        target.mkdir()
        _, written = clean(str(self.directory), str(target), job)
        for facts, group in list(zip(written, job.groups, strict=False))[
            : self.random.randint(0, 2)
        ]:
            end = compaction._end_of_group(job, group)
            compaction._decide(str(self.directory), str(target), facts.base_offset, end)
            self.was_compacted = True
            for old in group:
                if self.random.random() < 0.3 and old.base_offset != facts.base_offset:
                    (self.directory / f"{old.base_offset:020}.log").unlink()
            if self.random.random() < 0.3:
                swap = self.directory / swap_name(facts.base_offset, end)
                for old in group[1:]:
                    (self.directory / f"{old.base_offset:020}.log").unlink(missing_ok=True)
                swap.rename(self.directory / f"{facts.base_offset:020}.log")
        self.kill()

    def kill(self) -> None:
        """The process dies; what it wrote is there."""
        self.move()
        self.log = self.open(None)
        self.model.visible = self.model.end
        damage = [text for text in self.reports if "torn" in text or "damaged" in text]
        assert all("snapshot" in text for text in damage), self.reports
        assert self.lost_snapshots or not damage, self.reports
        self.flush()

    def lose_snapshots_and_kill(self) -> None:
        self.lose_snapshots()
        self.kill()

    def lose_snapshots_and_stop(self) -> None:
        self.flush()
        state = self.log.close()
        self.model.visible = self.model.end
        damaged = self.lose_snapshots()
        self.move()
        self.log = self.open(CleanState.from_json(state.to_json()))
        if damaged and state.has_producers:
            assert any("producers" in text for text in self.reports), self.reports
        self.flush()  # as at every start, which writes them again

    def lose_snapshots(self) -> bool:
        """The snapshots of producers are destroyed, or their copy is: never both at once."""
        lost = list(self.directory.glob("*.snapshot"))
        self.lost_snapshots = self.lost_snapshots or bool(lost)
        if self.random.random() < 0.3:
            (self.directory / SNAPSHOT_COPY).unlink(missing_ok=True)
            return False
        for path in lost:
            if self.random.random() < 0.5:
                path.unlink()
            else:
                data = bytearray(path.read_bytes())
                data[self.random.randrange(len(data))] ^= 0x40
                path.write_bytes(data[: self.random.randint(1, len(data))])
        return bool(lost)

    def lose_power(self) -> None:
        """The machine dies: of what was not synced a part is there, perhaps torn, and garbage."""
        durable_end = self.model.visible
        self.move()
        self.tear(durable_end)
        self.log = self.open(None)
        assert durable_end <= self.log.end_offset <= self.model.end
        self.model.cut(self.log.end_offset)
        assert self.model.end == self.log.end_offset or not self.model.batches
        self.model.visible = self.log.end_offset
        self.flush()

    def stop_and_start(self) -> None:
        state = self.log.close()
        self.model.visible = self.model.end
        self.move()
        self.log = self.open(CleanState.from_json(state.to_json()))
        assert not self.reports, self.reports

    def move(self) -> None:
        old = self.directory
        self.generation += 1
        shutil.copytree(old, self.directory)
        shutil.rmtree(old)

    def tear(self, durable_end: int) -> None:
        """Cut the log's bytes anywhere after the last synced batch."""
        paths = sorted(self.directory.glob("*.log"))
        unsynced: list[tuple[Path, int, int]] = []
        for path in paths:
            data, position = written_bytes(path), 0
            for header, batch in iterate_batches(data):
                if header.base_offset >= durable_end:
                    unsynced.append((path, position, len(batch)))
                position += len(batch)
        if unsynced:
            path, position, size = self.random.choice(unsynced)
            kept = position + self.random.randint(0, size - 1)
            garbage = self.random.choice([b"", bytes(50), self.random.randbytes(40)])
            path.write_bytes(path.read_bytes()[:kept] + garbage)
            for later in paths[paths.index(path) + 1 :]:
                if self.random.random() < 0.5:
                    later.unlink()
                else:
                    later.write_bytes(b"")
        for index in self.directory.glob("*index"):
            damage = self.random.random()
            data = index.read_bytes()
            if damage < 0.2:
                index.unlink()
            elif damage < 0.4:
                index.write_bytes(data[: self.random.randint(0, len(data))])
            elif damage < 0.5:
                index.write_bytes(self.random.randbytes(len(data)))

    # what must hold

    def check(self) -> None:
        log, model = self.log, self.model
        assert log.end_offset == model.end or not model.batches
        assert log.high_watermark == model.visible
        assert log.log_start_offset == model.start
        assert log.last_stable_offset == model.last_stable()
        self.check_reading(model.start if self.random.random() < 0.5 else None)
        start = self.random.randint(model.start, model.visible)
        upto = self.random.randint(start, model.visible)
        found = {(a.producer_id, a.last_offset) for a in log.aborted_transactions(start, upto)}
        expected = model.aborted(start, upto)
        assert found <= {(producer, last) for producer, _, last in expected}
        if not self.was_compacted:
            assert found >= {
                (producer, last)
                for producer, first, last in expected
                if any(
                    max(first, start) <= batch.base < min(last, upto)
                    for batch in model.of(producer)
                )
            }

    def check_reading(self, start: int | None) -> None:
        log, model = self.log, self.model
        offset = self.random.randint(model.start, model.visible) if start is None else start
        first = offset
        limit = self.random.choice([model.visible, model.last_stable()])
        found: dict[int, tuple[bytes | None, bytes | None]] = {}
        while data := log.read(offset, self.random.choice([1, 100, 5000]), limit=limit):
            for header, batch in iterate_batches(data):
                assert header.last_offset >= offset
                assert header.last_offset < limit
                offset = header.last_offset + 1
                if header.is_control:
                    marker = marker_of(batch)
                    if marker is not None:
                        found[header.base_offset] = (b"", b"commit" if marker else b"abort")
                    continue
                for record in records_of(batch):
                    found[record.offset] = (record.key, record.value)
        assert offset >= limit
        self.compare(found, first, limit)

    def compare(
        self, found: dict[int, tuple[bytes | None, bytes | None]], first: int, limit: int
    ) -> None:
        expected: dict[int, tuple[bytes | None, bytes | None]] = {}
        aborted: set[int] = set()
        for batch in self.model.batches:
            if batch.last < first or batch.last >= limit:
                continue
            if batch.commit is not None:
                expected[batch.base] = (b"", b"commit" if batch.commit else b"abort")
                continue
            for n, record in enumerate(batch.records):
                expected[batch.base + n] = record
                if batch.transactional and self.model.is_aborted(batch.base, batch.producer):
                    aborted.add(batch.base + n)
        found = {offset: record for offset, record in found.items() if offset in expected}
        if not self.was_compacted:
            assert found == expected
            return
        for offset, kept in found.items():
            assert expected[offset] == kept
        last: dict[bytes | None, int] = {}
        for offset, (key, _) in expected.items():
            if offset not in aborted and key != b"":
                last[key] = offset
        for offset in last.values():
            assert offset in found or expected[offset][1] is None, offset


def run_history(seed: int, root: Path) -> None:
    history = History(seed, root / str(seed))
    try:
        history.run(steps=40)
    except BaseException as error:
        trace = "\n".join([*history.steps, *history.reports])
        raise AssertionError(f"seed {seed} after:\n{trace}") from error
    shutil.rmtree(root / str(seed))


@contextmanager
def world_of_histories() -> Iterator[Path]:
    """A folder in memory, with a disk that fails when a history says so, and compaction without
    a process of its own."""
    memory = Path("/dev/shm")
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as path,
    ):
        patch.setattr(files, "disk", QuickDisk())
        patch.setattr(compaction, "_run", _run_here)
        yield Path(path)


async def _run_here(directory: str, job: CompactionPlan) -> dict[str, object]:
    end, segments = clean(directory, f"{directory}/{CLEANED_DIRECTORY}", job)
    return {"end": end, "segments": segments}
