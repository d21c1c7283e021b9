"""What workers keep of the driver's knowledge is what the driver has, whatever happens to it."""

import gc
import pickle
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.gate.flow import Flow

from holdfast.gate import FlowHolds, PartitionState
from holdfast.pipeline.copies import Copy, Keeping, Original

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
    names = set(value.__slots__) - {"latest", "_deadlines", "buckets"}
    return {name: getattr(value, name) for name in names} | {"number": value.latest.end}


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
def test_copies_in_workers_that_are_asked_now_and_then_are_the_driver_s(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random_ = random.Random(seed)
    monkeypatch.setattr("holdfast.pipeline.copies._INLINE_BYTES", random_.choice([0, 900, 10**6]))
    flow = Flow(partitions=2)
    spreading = Spreading()
    states: list[Original[PartitionState]] = [Original(spreading) for _ in range(2)]
    holds: Original[FlowHolds] = Original(spreading)
    workers: list[tuple[list[Keeping[PartitionState]], Keeping[FlowHolds]]] = [
        ([Keeping(), Keeping()], Keeping()) for _ in range(3)
    ]
    for _ in range(40):
        some_steps(flow, random_)
        driver = flow.driver
        if random_.random() < 0.05:  # read anew, as after a commit of which nothing is known
            p = random_.randrange(2)
            driver.states[p] = pickle.loads(pickle.dumps(driver.states[p]))
        copies = [o.copy(s) for o, s in zip(states, driver.states, strict=True)]
        copy = holds.copy(driver.holds)
        kept_states, kept_holds = random_.choice(workers)
        if random_.random() < 0.1:
            kept_states[random_.randrange(2)] = Keeping()
        for keeping, each, state in zip(kept_states, sent(copies), driver.states, strict=True):
            assert contents(keeping.follow(each)) == contents(state), f"seed {seed}"
        followed = kept_holds.follow(sent([copy])[0])
        followed.through, followed.now = driver.holds.through, driver.holds.now
        assert contents(followed) == contents(driver.holds), f"seed {seed}"


def sent(copies: list[Copy[Any]]) -> list[Copy[Any]]:
    """On the way to a worker; broadcasts go by another."""
    return [Copy(c.id, c.whole, c.later, pickle.loads(pickle.dumps(c.latest))) for c in copies]


def all_held() -> Flow:
    flow = Flow()
    for key in KEYS:
        flow.hold(key)
    flow.keep()
    return flow


def test_what_has_not_changed_is_not_sent_again() -> None:
    original: Original[PartitionState] = Original()
    state = all_held().driver.states[0]
    first = original.copy(state)
    second = original.copy(state)
    assert second.id == first.id
    assert pickle.loads(second.latest) == []


def test_few_changes_go_alone_and_many_as_a_whole() -> None:
    flow = all_held()
    original: Original[PartitionState] = Original()
    first = original.copy(flow.driver.states[0])
    flow.send(KEYS[0])
    flow.batch()
    second = original.copy(flow.driver.states[0])
    assert second.id == first.id
    assert len(pickle.loads(second.latest)) == 1
    for key in KEYS:
        flow.send(key)
    flow.batch()
    assert original.copy(flow.driver.states[0]).id != first.id


def test_what_is_large_is_broadcast_and_let_go_when_there_is_a_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.copies._INLINE_BYTES", 1_000)
    spreading = Spreading()
    original: Original[PartitionState] = Original(spreading)
    state, other = (all_held().driver.states[0] for _ in range(2))
    keeping: Keeping[PartitionState] = Keeping()
    assert contents(keeping.follow(original.copy(state))) == contents(state)
    original.copy(state)
    assert spreading.made == 1
    assert contents(keeping.follow(original.copy(other))) == contents(other)
    assert spreading.made == 2
    assert len(spreading.alive) == 1


def test_many_changes_are_broadcast_once_and_few_after_them_go_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.copies._INLINE_BYTES", 1_500)
    spreading = Spreading()
    original: Original[PartitionState] = Original(spreading)
    flow = all_held()
    state = flow.driver.states[0]
    keeping: Keeping[PartitionState] = Keeping()
    keeping.follow(original.copy(state))
    for count, made in ((20, 2), (1, 2), (20, 3), (30, 4), (1, 4)):
        for key in KEYS[:count]:
            flow.send(key)
        flow.batch()
        copy = original.copy(state)
        assert len(copy.latest) < 1_500
        assert spreading.made == made
        assert contents(keeping.follow(copy)) == contents(state)
    assert len(spreading.alive) == 1, "half of them have changed: all was sent anew"


def test_after_a_broadcast_that_could_not_be_made_the_whole_is_sent_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.copies._INLINE_BYTES", 1_000)
    spreading = Spreading()
    failing = [False]

    def spread(whole: bytes) -> Spreading.Whole:
        if failing[0]:
            raise OSError("no room")
        return spreading(whole)

    original: Original[PartitionState] = Original(spread)
    flow, state = all_held(), all_held().driver.states[0]
    original.copy(state)
    flow.send(KEYS[0])
    flow.batch()
    failing[0] = True
    with pytest.raises(OSError, match="no room"):
        original.copy(flow.driver.states[0])
    failing[0] = False
    assert contents(Keeping[PartitionState]().follow(original.copy(state))) == contents(state)


def test_what_a_worker_keeps_is_not_looked_through_for_garbage() -> None:
    flow = Flow(partitions=1)
    for key in KEYS:
        flow.hold(key)
    flow.batch()
    before = gc.get_freeze_count()
    Keeping[PartitionState]().follow(Original[PartitionState]().copy(flow.driver.states[0]))
    assert gc.get_freeze_count() > before
    gc.unfreeze()
