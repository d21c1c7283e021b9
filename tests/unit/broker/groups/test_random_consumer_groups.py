"""Random histories of consumer groups against a naive model, with failures and crashes.

The model knows what each living process reads. Whatever happens:
- no partition has two readers that the group accepts;
- an epoch that a member was given is never forgotten, not even after a crash;
- when everything is calm, each partition of a subscribed topic has exactly one reader.
"""

import os
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.broker.groups.consumers import NewConsumer, begin_beat, places
from tests.unit.broker.groups.test_consumer_groups import classic
from tests.unit.broker.groups.world import GROUP, Client, World

from holdfast.broker.groups.consumer.group import ConsumerGroup
from holdfast.broker.groups.consumer_protocol import Owned, read_assignment, write_assignment
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.rebalance import GroupState
from holdfast.wire.protocol.errors import ErrorCode

SEEDS = int(os.environ.get("HOLDFAST_TEST_SEEDS", "40"))
STEPS = 80
TOPICS = ("events", "more", "later")


@dataclass
class Process:
    """A consumer process of either protocol."""

    new: NewConsumer | None = None
    old: Client | None = None
    reads: set[tuple[str, int]] = field(default_factory=set)
    fenced: bool = False


class History:
    def __init__(self, world: World, choose: random.Random) -> None:
        self.world = world
        self.choose = choose
        self.born = 0
        self.epoch = 0
        self.rebalances = 0
        self.conversions = 0
        self.processes = [self._process(slot) for slot in range(5)]
        world.topics.put("events", 6)
        world.topics.put("more", 2)

    def _process(self, slot: int) -> Process:
        self.born += 1
        name = f"p{slot}-{self.born}"
        instance_id = "static" if slot == 0 else None
        if slot == 4:
            return Process(old=classic(name))
        topics = self.choose.choice((("events",), ("events", "more"), TOPICS))
        pattern = "more|later" if slot == 3 else None
        assignor = self.choose.choice((None, "uniform", "range"))
        return Process(
            NewConsumer(
                name,
                topics=topics,
                instance_id=instance_id,
                pattern=pattern,
                assignor=assignor,
            )
        )

    def step(self) -> None:
        kinds = ["beat"] * 20 + ["calm"] * 4 + ["tick"] * 2
        kinds += ["die", "leave", "away", "topic", "crash", "fail", "long_tick"]
        getattr(self, self.choose.choice(kinds))()
        self.world.settle()
        self.check()

    # steps

    def beat(self) -> None:
        self._act(self.choose.choice(self.processes))

    def calm(self) -> None:
        for _ in range(self.choose.randint(1, 5)):
            for process in self.processes:
                self._act(process)
            self.world.threads.finish()
            self.world.sync_log()

    def _act(self, process: Process) -> None:
        if process.new is not None:
            self._beat(process, process.new)
        elif process.old is not None:
            self._classic(process, process.old)

    def _beat(self, process: Process, new: NewConsumer) -> None:
        if process.fenced:
            return
        task = begin_beat(self.world, new)
        self.world.sync_log()
        reply = task.result()
        if reply.error is ErrorCode.NONE:
            new.hear(reply)
            process.reads = places(self.world, new.owned)
        elif reply.error is ErrorCode.UNRELEASED_INSTANCE_ID:
            return
        elif reply.error is ErrorCode.FENCED_INSTANCE_ID:
            process.fenced, process.reads = True, set()
        elif reply.error is not ErrorCode.COORDINATOR_NOT_AVAILABLE:
            new.epoch, new.owned, process.reads = 0, {}, set()

    def _classic(self, process: Process, old: Client) -> None:
        if old.generation >= 0:
            error = self.world.heartbeat(old)
            if error is ErrorCode.NONE:
                return
            process.reads = set()  # an eager consumer gives up everything before it joins
            if error is not ErrorCode.REBALANCE_IN_PROGRESS:
                old.member_id = ""
        task = self.world.begin_join(old)
        self.world.sync_log()
        if not task.done():  # it waits for other classic members, which do not exist
            task.cancel()
            return
        joined = task.result()
        if joined.error is not ErrorCode.NONE:
            old.member_id, old.generation = "", -1
            return
        self.world.joined(old, task)
        parts: Owned = {"events": frozenset(range(6))}
        sync = self.world.begin_sync(old, **self._assignments(old, parts))
        self.world.sync_log()
        if sync.done() and sync.result().error is ErrorCode.NONE:
            owned = read_assignment(sync.result().assignment)
            process.reads = {(topic, p) for topic, ps in owned.items() for p in ps}
        else:
            old.generation = -1

    def _assignments(self, old: Client, parts: Owned) -> dict[str, bytes]:
        if not old.leads:
            return {}
        return {old.member_id: write_assignment(parts, old.offers[0].metadata)}

    def tick(self) -> None:
        self.world.advance(self.choose.randint(1, 20_000))

    def long_tick(self) -> None:
        self.world.advance(100_000)
        self.world.sync_log()
        for process in self.processes:
            process.reads = set()  # a process that hears nothing for this long stops reading

    def die(self) -> None:
        slot = self.choose.randrange(len(self.processes))
        self.processes[slot] = self._process(slot)

    def leave(self) -> None:
        process = self.choose.choice(self.processes)
        if process.new is not None and process.new.epoch > 0:
            begin_beat(self.world, process.new, epoch=-1)
            self.world.sync_log()
            process.new.epoch, process.new.owned, process.reads = 0, {}, set()

    def away(self) -> None:
        process = self.processes[0]
        assert process.new is not None
        if process.new.epoch > 0:
            begin_beat(self.world, process.new, epoch=-2)
            self.world.sync_log()
            self.processes[0] = self._process(0)

    def topic(self) -> None:
        topics, name = self.world.topics, self.choose.choice(TOPICS[1:])
        known = topics.get(name)
        if known is None:
            topics.put(name, 2)
        elif self.choose.random() < 0.5:
            topics.put(name, len(known.partitions) + 1)
        else:
            topics.delete(name)

    def crash(self) -> None:
        self.world.restart()

    def fail(self) -> None:
        process = self.processes[1]
        assert process.new is not None
        begin_beat(self.world, process.new)
        self.world.log.fail()
        self.world.settle()

    # checks

    def check(self) -> None:
        group = self.world.groups.get(GROUP)
        budget = self.world.groups._runtime.budget
        if isinstance(group, ConsumerGroup):
            for process in self.processes:
                if process.new is not None and process.new.member_id in group.members:
                    assert group.epoch >= process.new.epoch, "an epoch in use is forgotten"
            self.rebalances += group.epoch > self.epoch
            self.epoch = group.epoch
            assert budget.members == len(group.members)
            assert budget.bytes >= sum(member.weight() for member in group.members.values())
            assert group.members or budget.bytes == 0
            self._check_readers(group)
        elif isinstance(group, Group):
            self.conversions += self.epoch > 0
            self.epoch = 0
            assert budget.members == len(group.roster) + len(group.roster.pending)

    def _check_readers(self, group: ConsumerGroup) -> None:
        """The partitions that members may read do not overlap."""
        readers: dict[tuple[Any, int], str] = {}
        for member in group.members.values():
            for topic, partitions in (*member.assigned.items(), *member.revoking.items()):
                for partition in partitions:
                    other = readers.setdefault((topic, partition), member.member_id)
                    assert other == member.member_id, f"two readers of {topic} {partition}"
        for one in self.processes:
            for two in self.processes:
                if one is not two and one.new and two.new and one.new.epoch and two.new.epoch:
                    both = one.reads & two.reads
                    accepted = {one.new.member_id, two.new.member_id} <= group.members.keys()
                    assert not (both and accepted), f"two readers of {both}"

    def finish(self) -> None:
        """Everybody is calm for a while: each partition then has one reader."""
        self.processes = [p for p in self.processes if p.new is not None and not p.fenced]
        self.world.advance(1_000_000)
        self.world.sync_log()
        for process in self.processes:
            assert process.new is not None
            process.new.epoch, process.new.owned = 0, {}
        for _ in range(12):
            self.calm()
        group = self.world.groups.get(GROUP)
        assert isinstance(group, ConsumerGroup)
        assert group.state is GroupState.STABLE
        found = [place for process in self.processes for place in process.reads]
        wanted = {
            (name, p)
            for name in group.subscribed_topics()
            if (topic := self.world.topics.get(name)) is not None
            for p in topic.partitions
        }
        assert sorted(found) == sorted(wanted)


def run(seed: int) -> History:
    with World() as world:
        history = History(world, random.Random(seed))
        for step in range(STEPS):
            try:
                history.step()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, step {step}") from error
        history.finish()
    return history


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_partition_has_two_readers_through_any_history(seed: int) -> None:
    run(seed)


def test_histories_reach_all_interesting_states() -> None:
    """Otherwise they would prove nothing."""
    histories = [run(seed) for seed in range(10)]
    assert sum(history.rebalances for history in histories) > 80
    assert sum(history.conversions for history in histories) > 2
