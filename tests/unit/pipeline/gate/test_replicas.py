"""Replicas in workers always equal the driver's state."""

import gc
import pickle
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.gate.flow import Flow

from holdfast.gate import FlowHolds, PartitionState
from holdfast.pipeline.gate.replicas import DriverReplica, ReplicaUpdate, WorkerReplica

KEYS = [b"key %d" % number for number in range(60)]


@dataclass
class Spreading:
    """Broadcasts within this process."""

    alive: list["Spreading.Whole"] = field(default_factory=list)
    made: int = 0

    @dataclass
    class Whole:
        all: list["Spreading.Whole"]
        content: bytes

        @property
        def value(self) -> bytes:
            assert self in self.all, "it was destroyed"
            return self.content

        def destroy(self) -> None:
            self.all.remove(self)

    def __call__(self, whole: bytes) -> "Spreading.Whole":
        self.made += 1
        self.alive.append(self.Whole(self.alive, whole))
        return self.alive[-1]


def contents(value: PartitionState | FlowHolds) -> dict[str, Any]:
    """All that a copy must have. The heap of deadlines may be in another order."""
    names = set(value.__slots__) - {"history", "_deadlines", "buckets"}
    return {name: getattr(value, name) for name in names} | {"number": value.history.end}


def some_steps(flow: Flow, random_: random.Random) -> None:
    for _ in range(random_.randrange(4)):
        key = random_.choice(KEYS)
        match random_.randrange(7):
            case 0 | 1:
                flow.hold(key, expires_at=random_.choice([None, flow.now + 5]))
            case 2:
                flow.release(key)
            case 3:
                flow.keep(random_.randrange(1, 3))
            case 4:
                flow.now += random_.randrange(4)
            case _:
                for each in random_.choices(KEYS, k=random_.randrange(30)):
                    flow.send(each)
                flow.batch()


@pytest.mark.parametrize("seed", range(60))
def test_replicas_that_are_used_now_and_then_equal_the_drivers_state(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random_ = random.Random(seed)
    monkeypatch.setattr(
        "holdfast.pipeline.gate.replicas._INLINE_BYTES", random_.choice([0, 900, 10**6])
    )
    flow = Flow(partitions=2)
    spreading = Spreading()
    states: list[DriverReplica[PartitionState]] = [DriverReplica(spreading) for _ in range(2)]
    holds: DriverReplica[FlowHolds] = DriverReplica(spreading)
    workers: list[tuple[list[WorkerReplica[PartitionState]], WorkerReplica[FlowHolds]]] = [
        ([WorkerReplica(), WorkerReplica()], WorkerReplica()) for _ in range(3)
    ]
    for _ in range(40):
        some_steps(flow, random_)
        driver = flow.driver
        if random_.random() < 0.05:  # read again, as after a commit with an unknown result
            p = random_.randrange(2)
            driver.states[p] = pickle.loads(pickle.dumps(driver.states[p]))
        copies = [o.update(s) for o, s in zip(states, driver.states, strict=True)]
        copy = holds.update(driver.holds)
        kept_states, kept_holds = random_.choice(workers)
        if random_.random() < 0.1:
            kept_states[random_.randrange(2)] = WorkerReplica()
        for keeping, each, state in zip(kept_states, sent(copies), driver.states, strict=True):
            assert contents(keeping.follow(each)) == contents(state), f"seed {seed}"
        followed = kept_holds.follow(sent([copy])[0])
        followed.through, followed._looked_at = driver.holds.through, driver.holds._looked_at
        assert contents(followed) == contents(driver.holds), f"seed {seed}"


def sent(copies: list[ReplicaUpdate[Any]]) -> list[ReplicaUpdate[Any]]:
    """On the way to a worker; broadcasts go by another."""
    return [
        ReplicaUpdate(c.id, c.whole, c.later, pickle.loads(pickle.dumps(c.latest))) for c in copies
    ]


def all_held() -> Flow:
    flow = Flow()
    for key in KEYS:
        flow.hold(key)
    flow.keep()
    return flow


def test_an_unchanged_state_is_not_sent_again() -> None:
    original: DriverReplica[PartitionState] = DriverReplica()
    state = all_held().driver.states[0]
    first = original.update(state)
    second = original.update(state)
    assert second.id == first.id
    assert pickle.loads(second.latest) == []


def test_few_changes_are_sent_alone_and_many_as_a_full_copy() -> None:
    flow = all_held()
    original: DriverReplica[PartitionState] = DriverReplica()
    first = original.update(flow.driver.states[0])
    flow.send(KEYS[0])
    flow.batch()
    second = original.update(flow.driver.states[0])
    assert second.id == first.id
    assert len(pickle.loads(second.latest)) == 1
    for key in KEYS:
        flow.send(key)
    flow.batch()
    assert original.update(flow.driver.states[0]).id != first.id


def test_a_large_copy_is_broadcast_and_released_when_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.replicas._INLINE_BYTES", 1_000)
    spreading = Spreading()
    original: DriverReplica[PartitionState] = DriverReplica(spreading)
    state, other = (all_held().driver.states[0] for _ in range(2))
    keeping: WorkerReplica[PartitionState] = WorkerReplica()
    assert contents(keeping.follow(original.update(state))) == contents(state)
    original.update(state)
    assert spreading.made == 1
    assert contents(keeping.follow(original.update(other))) == contents(other)
    assert spreading.made == 2
    assert len(spreading.alive) == 1


def test_many_changes_are_broadcast_once_and_later_few_are_sent_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.replicas._INLINE_BYTES", 1_500)
    spreading = Spreading()
    original: DriverReplica[PartitionState] = DriverReplica(spreading)
    flow = all_held()
    state = flow.driver.states[0]
    keeping: WorkerReplica[PartitionState] = WorkerReplica()
    keeping.follow(original.update(state))
    for count, made in ((20, 2), (1, 2), (20, 3), (30, 4), (1, 4)):
        for key in KEYS[:count]:
            flow.send(key)
        flow.batch()
        copy = original.update(state)
        assert len(copy.latest) < 1_500
        assert spreading.made == made
        assert contents(keeping.follow(copy)) == contents(state)
    assert len(spreading.alive) == 1, "half of them have changed: all were sent again"


def test_after_a_failed_broadcast_a_full_copy_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.replicas._INLINE_BYTES", 1_000)
    spreading = Spreading()
    failing = [False]

    def broadcast(whole: bytes) -> Spreading.Whole:
        if failing[0]:
            raise OSError("no room")
        return spreading(whole)

    original: DriverReplica[PartitionState] = DriverReplica(broadcast)
    flow, state = all_held(), all_held().driver.states[0]
    original.update(state)
    flow.send(KEYS[0])
    flow.batch()
    failing[0] = True
    with pytest.raises(OSError, match="no room"):
        original.update(flow.driver.states[0])
    failing[0] = False
    assert contents(WorkerReplica[PartitionState]().follow(original.update(state))) == contents(
        state
    )


def test_replicas_in_a_worker_are_excluded_from_garbage_collection() -> None:
    flow = Flow(partitions=1)
    for key in KEYS:
        flow.hold(key)
    flow.batch()
    before = gc.get_freeze_count()
    WorkerReplica[PartitionState]().follow(
        DriverReplica[PartitionState]().update(flow.driver.states[0])
    )
    assert gc.get_freeze_count() > before
    gc.unfreeze()
