"""Rows read ahead of the step that gives them out: bounded, and without a key that starves."""

import random
from collections import defaultdict

import pytest
from tests.unit.gate.test_drain import NOW, draining, state_of, step_at

from holdfast.gate import Backlog, HeldRow, PartitionState, Room

Log = list[tuple[bytes, int]]
"""Key and weight of each row of held, by its offset."""


def partition_of(log: Log, paces: dict[bytes, float | None]) -> PartitionState:
    rows: dict[bytes, list[int]] = defaultdict(list)
    for offset, (key, _) in enumerate(log):
        rows[key].append(offset)
    entries = [draining(key, found, pace=paces[key]) for key, found in rows.items()]
    return state_of(*entries)


def read(backlog: Backlog[None], state: PartitionState, log: Log, now: int, most: int) -> None:
    """One pass, or as much of one as a slice has."""
    reading = backlog.read(state, now)
    if reading is None:
        return
    end = min(len(log), reading.start + most)
    for offset in range(reading.start, end):
        key, weight = log[offset]
        if key not in reading.keys:
            continue
        if reading.done:
            end = offset
            break
        reading.take(key, HeldRow(offset, offset, 1, offset, None, weight))
    reading.end(end)


def turn(
    backlog: Backlog[None], state: PartitionState, log: Log, now: int, most: int = 10**9
) -> list[int]:
    """A turn of the keeper: the rows that left held."""
    read(backlog, state, log, now, most)
    step = step_at(state, now)
    drained = step.drain(backlog)
    state.apply(step.finish().changes)
    return [each.row.offset for each in drained]


def test_many_paced_keys_with_large_rows_share_one_byte_limit() -> None:
    """100 released keys with rows of 100 kB at a pace of 60: 403 MiB waited where 48 may."""
    log = [(b"%d" % (i % 100), 100_000) for i in range(6_000)]
    state = partition_of(log, {b"%d" % i: 60.0 for i in range(100)})
    room = Room(48 * 1024**2)
    backlog: Backlog[None] = Backlog(size=room.size, room=room)
    out: list[int] = []
    for i in range(1_000):
        out += turn(backlog, state, log, NOW + 20 * i)
        assert room.used <= room.size
        if len(out) == len(log):
            break
    assert sorted(out) == list(range(len(log)))


def test_slow_keys_do_not_use_up_the_room_of_faster_keys() -> None:
    log = [(b"slow-%d" % i, 1_000) for i in range(100)] * 2 + [(b"quick", 1_000)] * 50
    paces: dict[bytes, float | None] = {key: 0.001 for key, _ in log}
    state = partition_of(log, {**paces, b"quick": 10.0})
    backlog: Backlog[None] = Backlog(size=20_000)
    out: list[int] = []
    for i in range(300):
        out += turn(backlog, state, log, NOW + 20 * i)
    assert sum(log[offset][0] == b"quick" for offset in out) == 50


def test_paced_and_unpaced_keys_do_not_use_up_each_others_room() -> None:
    log = [(b"paced-%d" % (i % 40), 1_000) for i in range(400)] + [(b"fast", 1_000)] * 200
    paces: dict[bytes, float | None] = {key: 1.0 for key, _ in log}
    state = partition_of(log, {**paces, b"fast": None})
    backlog: Backlog[None] = Backlog(size=20_000)
    out = [offset for i in range(60) for offset in turn(backlog, state, log, NOW + 20 * i)]
    assert sum(log[offset][0] == b"fast" for offset in out) == 200


def test_a_row_above_the_byte_limit_still_leaves_held() -> None:
    log = [(b"k", 10), (b"k", 5_000), (b"k", 10)]
    state = partition_of(log, {b"k": None})
    backlog: Backlog[None] = Backlog(size=100)
    out = [offset for i in range(5) for offset in turn(backlog, state, log, NOW + i)]
    assert out == [0, 1, 2]


@pytest.mark.parametrize("seed", range(40))
def test_all_rows_leave_in_order_within_the_byte_limit(seed: int) -> None:
    """Several partitions share a room, and their passes are cut into slices."""
    chance = random.Random(seed)
    room = Room(chance.choice((50, 2_000, 20_000)))
    count = chance.choice((1, 3))
    logs: list[Log] = []
    states: list[PartitionState] = []
    for _ in range(count):
        keys = [b"%d" % i for i in range(chance.choice((1, 5, 30)))]
        weights = chance.choice(((1, 10), (100, 3_000)))
        log = [(chance.choice(keys), chance.randint(*weights)) for _ in range(90)]
        logs.append(log)
        states.append(partition_of(log, {k: chance.choice((None, 0.5, 7.0, 900.0)) for k in keys}))
    backlogs: list[Backlog[None]] = [Backlog(size=room.size // count, room=room) for _ in logs]
    out: list[list[int]] = [[] for _ in logs]
    now, largest = NOW, max(weight for log in logs for _, weight in log)
    for _ in range(2_000):
        now += chance.choice((1, 20, 500))
        for p in chance.sample(range(count), count):
            out[p] += turn(backlogs[p], states[p], logs[p], now, chance.choice((3, 40, 1_000)))
            assert room.used <= room.size + largest, f"seed {seed}"
    for log, found in zip(logs, out, strict=True):
        assert sorted(found) == list(range(len(log))), f"seed {seed}"
        for key in {key for key, _ in log}:
            own = [offset for offset in found if log[offset][0] == key]
            assert own == sorted(own), f"seed {seed}"
