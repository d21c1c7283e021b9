"""Random histories of commits, transactions and crashes, against a model that keeps it all."""

import os
import random
from dataclasses import dataclass, field

import pytest
from tests.unit.broker.groups.world import World, at, offset

from holdfast.broker.groups.offsets import _weight
from holdfast.wire.protocol.errors import ErrorCode

PARTITIONS = range(3)
PRODUCERS = (70, 80, 90)
SEEDS = int(os.environ.get("HOLDFAST_TEST_SEEDS", "150"))
STEPS = 80


@dataclass(frozen=True)
class Commit:
    partition: int
    offset: int | None
    """None: deleted."""
    producer: int | None = None


@dataclass(frozen=True)
class Marker:
    producer: int
    commit: bool


@dataclass
class Model:
    """Everything ever appended, and how much of it is durable."""

    log: list[Commit | Marker] = field(default_factory=list)
    durable: int = 0

    def visible(self, partition: int) -> int | None:
        """The offset of the last durable commit in the log that is not of an open or aborted
        transaction, nor before a deletion."""
        seen: int | None = None
        entries = self.log[: self.durable]
        for index, entry in enumerate(entries):
            if isinstance(entry, Commit) and entry.partition == partition:
                outcome = True if entry.producer is None else ended(entry.producer, entries, index)
                if outcome:
                    seen = entry.offset
        return seen

    def unstable(self, partition: int) -> bool:
        """Some transaction has an offset in the log, durable or not, and no durable end, and no
        durable deletion came since."""
        for index, entry in enumerate(self.log):
            if (
                isinstance(entry, Commit)
                and entry.partition == partition
                and entry.producer is not None
                and ended(entry.producer, self.log[: self.durable], index) is None
                and not any(
                    isinstance(later, Commit)
                    and (later.partition, later.offset) == (partition, None)
                    for later in self.log[index : self.durable]
                )
            ):
                return True
        return False


def ended(producer: int, entries: list[Commit | Marker], index: int) -> bool | None:
    """How the transaction of the commit at `index` ended; None if it has not."""
    for later in entries[index:]:
        if isinstance(later, Marker) and later.producer == producer:
            return later.commit
    return None


class History:
    def __init__(self, world: World, choose: random.Random) -> None:
        self.world = world
        self.choose = choose
        self.model = Model()
        self.next_offset = 0
        self.ending: set[int] = set()
        """Producers whose marker is in the log and not durable: they begin nothing new."""

    def step(self) -> None:
        kinds = ["plain"] * 4 + ["transactional"] * 4 + ["end"] * 3 + ["sync"] * 5
        kinds += ["fail", "delete", "crash"]
        getattr(self, self.choose.choice(kinds))()
        self.world.settle()

    def plain(self) -> None:
        partition = self.choose.choice(PARTITIONS)
        self.next_offset += 1
        self.model.log.append(Commit(partition, self.next_offset))
        self.world.begin_commit({at(partition): offset(self.next_offset)})

    def transactional(self) -> None:
        producer, partition = self.choose.choice(PRODUCERS), self.choose.choice(PARTITIONS)
        if producer in self.ending:
            return
        self.next_offset += 1
        self.model.log.append(Commit(partition, self.next_offset, producer))
        self.world.begin_transactional(producer, self.next_offset, partition=partition)

    def end(self) -> None:
        producer, commit = self.choose.choice(PRODUCERS), self.choose.random() < 0.6
        if producer in self.ending:
            return
        self.ending.add(producer)
        self.model.log.append(Marker(producer, commit))
        self.world.end_transaction(producer, commit=commit)

    def delete(self) -> None:
        """The topic is deleted: of each partition that has an offset, open transactions included,
        the offset goes."""
        known = {
            partition
            for partition in PARTITIONS
            if self.model.unstable(partition)
            or self.model.visible(partition) is not None
            or any(
                isinstance(entry, Commit) and entry.partition == partition and entry.offset
                for entry in self.model.log[self.model.durable :]
            )
        }
        before = len(self.world.log.waiting)
        self.world.groups.topic_deleted("events")
        assert len(self.world.log.waiting) == before + bool(known)
        self.model.log += [Commit(partition, None) for partition in known]

    def sync(self) -> None:
        count = self.choose.randint(0, len(self.world.log.waiting))
        appended = sum(len(batch) for batch, _ in self.world.log.waiting[:count])
        self.world.sync_log(count)
        self.model.durable += appended
        self._forget_ended()

    def fail(self) -> None:
        self.world.log.fail()
        self._cut()

    def crash(self) -> None:
        self.world.restart()
        self._cut()

    def _cut(self) -> None:
        del self.model.log[self.model.durable :]
        self.ending.clear()

    def _forget_ended(self) -> None:
        waiting = self.model.log[self.model.durable :]
        self.ending = {entry.producer for entry in waiting if isinstance(entry, Marker)}

    def check(self) -> None:
        kept = self.world.groups._offsets
        committed = sum(
            _weight(at, p.committed) for g in kept._committed.values() for at, p in g.items()
        )
        pending = sum(
            _weight(at, p.committed)
            for g in kept._pending.values()
            for held in g.values()
            for at, placed in held.items()
            for p in placed
        )
        assert kept._all_bytes == committed + pending == sum(kept._bytes.values())
        for partition in PARTITIONS:
            visible = self.model.visible(partition)
            assert self.world.fetch(partition) == visible
            unstable = self.model.unstable(partition)
            expected = ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else visible
            assert self.world.fetch(partition, stable=True) == expected


@pytest.mark.parametrize("seed", range(SEEDS))
def test_offsets_are_those_of_the_log_through_transactions_failures_and_crashes(seed: int) -> None:
    with World() as world:
        history = History(world, random.Random(seed))
        for step in range(STEPS):
            history.step()
            try:
                history.check()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, step {step}: {history.model}") from error
        history.crash()
        history.check()
