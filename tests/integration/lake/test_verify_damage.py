"""Every kind of damage that we could think of is found and named, and nothing else is."""

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.integration.lake.damaged import NOWHERE, Copy, Damage, Slot, live, named_by_slot
from tests.integration.lake.history import source

from holdfast.client.source import SOURCE
from holdfast.flows.status import ENTRY
from holdfast.pipeline.audit.verification import Fault, Verdict, Verification

# One audit does for all tests here, and the first of them waits for it.
pytestmark = pytest.mark.spark

SLOTS_PER_PARTITION = 90


class Planted(NamedTuple):
    damage: Damage
    faults: set[Fault]
    """All by which it must be named."""
    alone: bool
    """It needs a partition for itself."""


DAMAGE: dict[str, Planted] = {}


def plant(name: str, *faults: Fault, alone: bool = False) -> Callable[[Damage], Damage]:
    """Put a kind of damage into the table."""

    def add(damage: Damage) -> Damage:
        DAMAGE[name] = Planted(damage, set(faults), alone)
        return damage

    return add


@plant("no damage")
def _none(copy: Copy, slot: Slot) -> None:
    pass


def nowhere(slot: Slot) -> bytes:
    return b"%d:%d" % (slot.partition, NOWHERE + slot.number)


# --- every event in exactly one place


@plant("an event is lost", Fault.LOST)
def _lost(copy: Copy, slot: Slot) -> None:
    copy.take(copy.find("processed", slot.partition, slot.free, 1))


@plant("a dead letter is lost", Fault.LOST)
def _letter_lost(copy: Copy, slot: Slot) -> None:
    copy.take(copy.find("dlq", slot.partition, slot.free))


@plant("a row of held that still counts is lost", Fault.LOST)
def _held_lost(copy: Copy, slot: Slot) -> None:
    copy.take(copy.find("held", slot.partition, slot.stays))


@plant("an event is doubled at the end", Fault.DOUBLED)
def _doubled(copy: Copy, slot: Slot) -> None:
    copy.put(
        "processed", slot.partition, copy.get(copy.find("processed", slot.partition, slot.free, -1))
    )


@plant("a row of held is doubled", Fault.DOUBLED)
def _held_doubled(copy: Copy, slot: Slot) -> None:
    rows, place = copy.logs["held"][slot.partition], copy.find("held", slot.partition, slot.stays)
    rows.insert(place.index, copy.get(place))


@plant("a dead letter is doubled", Fault.DOUBLED)
def _letter_doubled(copy: Copy, slot: Slot) -> None:
    copy.put("dlq", slot.partition, copy.get(copy.find("dlq", slot.partition, slot.free)))


@plant("an event is in processed and among dead letters", Fault.DOUBLED, Fault.NOT_OVER)
def _two_outputs(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("processed", slot.partition, slot.free), "overflow", move=False)


@plant("an event of a held key is in held and among dead letters", Fault.DOUBLED, Fault.NOT_OVER)
def _held_and_dead(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("held", slot.partition, slot.stays), "overflow", move=False)


@plant("an event over the limit is in held and among dead letters", Fault.DOUBLED, Fault.HELD_OVER)
def _over_and_held(copy: Copy, slot: Slot) -> None:
    key, value, headers, time, _ = copy.get(copy.find("dlq", slot.partition, slot.over))
    copy.put("held", slot.partition, (key, value, headers[:-2], time, slot.partition))


@plant("an invalid event is in held, too", Fault.DOUBLED, Fault.HELD_UNASKED, Fault.INVALID_PASSED)
def _invalid_and_held(copy: Copy, slot: Slot) -> None:
    key, value, headers, time, _ = copy.get(copy.find("dlq", slot.partition, slot.free))
    copy.put("held", slot.partition, (key, value, headers[:-2], time, slot.partition))


@plant("a record says no source", Fault.LOST, Fault.STRAY)
def _no_source(copy: Copy, slot: Slot) -> None:
    place = copy.find("processed", slot.partition, slot.free)
    copy.change(place, headers=copy.get(place)[2][:-1])


@plant("a record's source is no coordinate", Fault.LOST, Fault.STRAY)
def _odd_source(copy: Copy, slot: Slot) -> None:
    place = copy.find("processed", slot.partition, slot.free)
    copy.change(place, headers=[*copy.get(place)[2][:-1], (SOURCE, b"%d:1:1" % slot.partition)])


@plant("a record's source does not exist", Fault.LOST, Fault.STRAY, Fault.SWAPPED)
def _unknown_source(copy: Copy, slot: Slot) -> None:
    place = copy.find("processed", slot.partition, slot.free)
    copy.change(place, headers=[*copy.get(place)[2][:-1], (SOURCE, nowhere(slot))])


@plant("a record is added that nobody sent", Fault.STRAY)
def _added(copy: Copy, slot: Slot) -> None:
    sent = copy.get(copy.find("processed", slot.partition, slot.free))
    copy.put("processed", slot.partition, (*sent[:2], [(SOURCE, nowhere(slot))], *sent[3:]))


@plant("two records name each other's source", Fault.LOST, Fault.STRAY, Fault.SWAPPED)
def _swapped_source(copy: Copy, slot: Slot) -> None:
    one = copy.find("processed", slot.partition, slot.free)
    two = copy.find("processed", slot.partition, slot.forged)
    first, second = copy.get(one)[2], copy.get(two)[2]
    copy.change(one, headers=[*first[:-1], second[-1]])
    copy.change(two, headers=[*second[:-1], first[-1]])


@plant("the last event of a key is in another partition of processed", Fault.MISPLACED)
def _misplaced(copy: Copy, slot: Slot) -> None:
    copy.put("processed", (slot.partition + 1) % copy.partitions, copy.take(
        copy.find("processed", slot.partition, slot.free, -1)))  # fmt: skip


@plant("an event without a key is in another partition of processed", Fault.MISPLACED)
def _keyless_misplaced(copy: Copy, slot: Slot) -> None:
    own = ("slot", b"%d" % slot.number)
    records = copy.logs["processed"][slot.partition]
    index = next(i for i, sent in enumerate(records) if sent[0] is None and sent[2][0] == own)
    copy.put("processed", (slot.partition + 1) % copy.partitions, records.pop(index))


@plant("a row of held is in another partition", Fault.MISPLACED)
def _held_misplaced(copy: Copy, slot: Slot) -> None:
    copy.put(
        "held",
        (slot.partition + 1) % copy.partitions,
        copy.take(copy.find("held", slot.partition, slot.stays)),
    )


@plant("a dead letter is in another partition", Fault.MISPLACED)
def _letter_misplaced(copy: Copy, slot: Slot) -> None:
    copy.put(
        "dlq",
        (slot.partition + 1) % copy.partitions,
        copy.take(copy.find("dlq", slot.partition, slot.free)),
    )


# --- events unchanged


@plant("a key is changed", Fault.LOST, Fault.STRAY)
def _key(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("processed", slot.partition, slot.free), key=slot.other)


@plant("a key is taken away", Fault.LOST, Fault.STRAY)
def _key_gone(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("processed", slot.partition, slot.free), key=None)


@plant("a value is changed", Fault.ALTERED)
def _value(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("processed", slot.partition, slot.free), value=b'{"n": 666}')


@plant("a value is taken away", Fault.ALTERED)
def _value_gone(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("processed", slot.partition, slot.free), value=None)


@plant("a row of held is changed", Fault.ALTERED)
def _held_value(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("held", slot.partition, slot.stays), value=b'{"n": 666}')


@plant("a dead letter is changed", Fault.ALTERED)
def _letter_value(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("dlq", slot.partition, slot.free), value=b"other")


def own_headers(log: str, name: str, headers: Any) -> Damage:
    added = 3 if log == "dlq" else 1

    def damage(copy: Copy, slot: Slot) -> None:
        place = copy.find(log, slot.partition, getattr(slot, name))
        sent = copy.get(place)[2]
        copy.change(place, headers=[*headers(sent[:-added]), *sent[-added:]])

    return damage


for _log, _name in (("processed", "free"), ("held", "stays"), ("dlq", "free")):
    plant(f"headers are dropped in {_log}", Fault.HEADERS_ALTERED)(
        own_headers(_log, _name, lambda own: [])
    )
plant("one header is dropped", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: own[:-1])
)
plant("headers are reordered", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: own[::-1])
)
plant("a header is added", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: [*own, ("holdfast-attempt", b"2")])
)
plant("a header's value is changed", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: [(own[0][0], b"9"), *own[1:]])
)
plant("a header's null becomes empty", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: [own[0], ("b", b""), own[2]])
)
plant("a null moves from one header to another", Fault.HEADERS_ALTERED)(
    own_headers("processed", "free", lambda own: [(own[0][0], None), ("b", own[0][1]), own[2]])
)


@plant("an event's time is changed", Fault.TIME_ALTERED)
def _time(copy: Copy, slot: Slot) -> None:
    place = copy.find("processed", slot.partition, slot.free)
    copy.change(place, at=copy.get(place)[3] + 1)


@plant("the time of a row of held is changed", Fault.TIME_ALTERED)
def _held_time(copy: Copy, slot: Slot) -> None:
    copy.change(copy.find("held", slot.partition, slot.stays), at=1_600_000_000_000)


# --- order


@plant("two events of a key change places", Fault.SWAPPED)
def _swapped(copy: Copy, slot: Slot) -> None:
    rows = copy.logs["processed"][slot.partition]
    one, two = (copy.find("processed", slot.partition, slot.free, n).index for n in (0, 1))
    rows[one], rows[two] = rows[two], rows[one]


@plant("a drain does not keep the order", Fault.SWAPPED)
def _drain_swapped(copy: Copy, slot: Slot) -> None:
    rows = copy.logs["processed"][slot.partition]
    one, two = (copy.find("processed", slot.partition, slot.released, n).index for n in (1, 2))
    rows[one], rows[two] = rows[two], rows[one]


@plant("rows of held change places", Fault.HELD_SWAPPED, alone=True)
def _held_swapped(copy: Copy, slot: Slot) -> None:
    rows = copy.logs["held"][slot.partition]
    one, two = (
        copy.find("held", slot.partition, slot.stays).index,
        copy.find("held", slot.partition, slot.stays, 1).index,
    )
    rows[one], rows[two] = rows[two], rows[one]


@plant("a newer event comes out before the drain is over", Fault.STUCK, Fault.OVERTAKEN)
def _overtaken(copy: Copy, slot: Slot) -> None:
    copy.take(copy.find("processed", slot.partition, slot.released, 2))


# --- holds


@plant("an event of a held key passes", Fault.LET_THROUGH)
def _let_through(copy: Copy, slot: Slot) -> None:
    copy.put("processed", slot.partition, copy.take(copy.find("held", slot.partition, slot.stays)))


@plant("a held event comes out that nobody released", Fault.TOO_EARLY)
def _unreleased(copy: Copy, slot: Slot) -> None:
    copy.put("processed", slot.partition, copy.get(copy.find("held", slot.partition, slot.stays)))


@plant("a held event comes out before its release", Fault.TOO_EARLY)
def _too_early(copy: Copy, slot: Slot) -> None:
    rows, place = (
        copy.logs["processed"][slot.partition],
        copy.find("processed", slot.partition, slot.released),
    )
    rows.insert(copy.find("processed", slot.partition, slot.free, 4).index, rows.pop(place.index))


@plant("an event is held although its key is not", Fault.HELD_UNASKED)
def _held_unasked(copy: Copy, slot: Slot) -> None:
    copy.put(
        "held", slot.partition, copy.take(copy.find("processed", slot.partition, slot.free, -1))
    )


# --- dead letters


def without_cause(kind: str) -> Damage:
    def damage(copy: Copy, slot: Slot) -> None:
        copy.dead_letter(copy.find("processed", slot.partition, slot.free), kind)

    return damage


plant("a dead letter 'overflow' without cause", Fault.NOT_OVER)(without_cause("overflow"))
plant("a dead letter 'invalid' without cause", Fault.NOT_INVALID)(without_cause("invalid"))
plant("a dead letter 'too-large' without cause", Fault.NOT_TOO_LARGE)(without_cause("too-large"))
plant("a dead letter without a command", Fault.DEAD_UNASKED)(without_cause("dead-lettered"))
plant("a dead letter for a reason that does not exist", Fault.UNKNOWN_REASON)(
    without_cause("builtins.ValueError")
)


@plant("a held event is dead-lettered for overflow below the limit", Fault.NOT_OVER)
def _held_overflow(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("held", slot.partition, slot.stays), "overflow")


@plant("an event that was let out is a dead letter by command", Fault.DEAD_UNASKED)
def _released_dead(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("processed", slot.partition, slot.released), "dead-lettered")


@plant("an event that is still held is a dead letter by command", Fault.DEAD_UNASKED)
def _stays_dead(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("held", slot.partition, slot.stays), "dead-lettered", move=False)


@plant("a held event is dead-lettered for its size", Fault.NOT_TOO_LARGE, Fault.TOO_EARLY)
def _stays_too_large(copy: Copy, slot: Slot) -> None:
    copy.dead_letter(copy.find("held", slot.partition, slot.stays), "too-large", move=False)


@plant("an invalid event is a dead letter for overflow", Fault.NOT_OVER, Fault.INVALID_PASSED)
def _other_reason(copy: Copy, slot: Slot) -> None:
    place = copy.find("dlq", slot.partition, slot.free)
    headers = copy.get(place)[2]
    copy.change(place, headers=[*headers[:-2], ("holdfast-error", b"overflow"), headers[-1]])


@plant("an invalid event comes out", Fault.INVALID_PASSED)
def _invalid_passed(copy: Copy, slot: Slot) -> None:
    copy.come_out(copy.find("dlq", slot.partition, slot.forged))
    rows = copy.logs["processed"][slot.partition]
    first = copy.find("processed", slot.partition, slot.forged).index
    rows.insert(first, rows.pop())


@plant("an event over the limit is held", Fault.HELD_OVER)
def _held_over(copy: Copy, slot: Slot) -> None:
    copy.come_out(copy.find("dlq", slot.partition, slot.over), "held")


@plant("a dead-lettered event comes out", Fault.CAME_OUT_DEAD, Fault.TOO_EARLY)
def _came_out(copy: Copy, slot: Slot) -> None:
    copy.come_out(copy.find("dlq", slot.partition, slot.dead))


@plant("a dead letter is passed off as a worker's", Fault.LOST)
def _workers(copy: Copy, slot: Slot) -> None:
    place = copy.find("dlq", slot.partition, slot.free)
    copy.change(place, headers=[*copy.get(place)[2], ("holdfast-failed-at", b"now")])


# --- journal


@plant("the hold is not journalled", Fault.UNANSWERED, Fault.HELD_UNASKED, Fault.STATUS_DIFFERS)
def _hold_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "held", slot.stays))


@plant(
    "the release is not journalled", Fault.UNANSWERED, Fault.IMPOSSIBLE
)  # fmt: skip
def _release_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "released", slot.released))


@plant("the end of the drain is not journalled", Fault.STATUS_DIFFERS, Fault.LET_THROUGH)
def _drained_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "drained", slot.released))


@plant("the dead-letter is not journalled", Fault.UNANSWERED, Fault.DEAD_UNASKED)
def _dead_letter_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "dead-lettered", slot.dead))


@plant("the overflow is not journalled", Fault.NOT_OVER)
def _overflow_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "overflow-begun", slot.over))


@plant(
    "the settings are not journalled",
    Fault.JOURNAL_MISSING,
    Fault.NOT_INVALID,
    Fault.NOT_OVER,
    alone=True,
)
def _settings_gone(copy: Copy, slot: Slot) -> None:
    copy.take(copy.outcome(slot.partition, "changed"))


@plant(
    "the journal's settings cannot be read",
    Fault.UNREADABLE,
    Fault.NOT_INVALID,
    Fault.NOT_OVER,
    alone=True,
)
def _settings_unreadable(copy: Copy, slot: Slot) -> None:
    copy.say(copy.outcome(slot.partition, "changed"), settings="{")


@plant("the journal has another policy", Fault.NOT_OVER, alone=True)
def _policy(copy: Copy, slot: Slot) -> None:
    place = copy.outcome(slot.partition, "changed")
    settings = json.loads(json.loads(copy.get(place)[1] or b"")["settings"])
    copy.say(place, settings=json.dumps({**settings, "overflow": "block"}))


@plant("the journal has another schema", Fault.NOT_INVALID, alone=True)
def _schema(copy: Copy, slot: Slot) -> None:
    place = copy.outcome(slot.partition, "changed")
    settings = json.loads(json.loads(copy.get(place)[1] or b"")["settings"])
    copy.say(place, settings=json.dumps({**settings, "schema": None}))


@plant("a command is answered twice", Fault.ANSWERED_TWICE, Fault.IMPOSSIBLE)
def _answered_twice(copy: Copy, slot: Slot) -> None:
    place = copy.outcome(slot.partition, "held", slot.stays)
    copy.logs["journal"][slot.partition].insert(place.index, copy.get(place))


@plant("a hold is answered by a release", Fault.WRONG_ANSWER, Fault.IMPOSSIBLE, Fault.HELD_UNASKED,
       Fault.STATUS_DIFFERS)  # fmt: skip
def _wrong_answer(copy: Copy, slot: Slot) -> None:
    copy.say(copy.outcome(slot.partition, "held", slot.stays), outcome="released")


@plant("a journal record names a command of another key", Fault.ANSWERS_NOTHING,
       Fault.ANSWERED_TWICE, Fault.LET_THROUGH, Fault.STATUS_DIFFERS)  # fmt: skip
def _other_command(copy: Copy, slot: Slot) -> None:
    right = copy.get(copy.outcome(slot.partition, "held", slot.stays))
    said = json.loads(right[1] or b"")
    said["key"] = slot.free.decode()
    # Last in its step, so that steps and cuts stay in order.
    index = copy.outcome(slot.partition, "held", slot.stays).index + 1
    copy.logs["journal"][slot.partition].insert(
        index, (slot.free, json.dumps(said).encode(), *right[2:])
    )


@plant("a journal record names a command that was never given", Fault.ANSWERS_NOTHING)
def _forged_command(copy: Copy, slot: Slot) -> None:
    _, value, *rest = copy.logs["journal"][slot.partition][-1]
    forged = {"outcome": "nothing-to-do", "command_id": "forged", "command": "release"}
    said = {**json.loads(value or b""), **forged, "command_offset": 10_000_000}
    copy.logs["journal"][slot.partition].append((slot.free, json.dumps(said).encode(), *rest))  # type: ignore[arg-type]


@plant("a release ended a hold that it does not name", Fault.CUT_SHORT)
def _ended_another(copy: Copy, slot: Slot) -> None:
    place = copy.outcome(slot.partition, "released", slot.released)
    ended = json.loads(copy.get(place)[1] or b"")["ended"]
    copy.say(place, ended=[*ended, "fraud-team"])


@plant("a key was released while a hold stood", Fault.CUT_SHORT)
def _cut_short(copy: Copy, slot: Slot) -> None:
    copy.say(copy.outcome(slot.partition, "released", slot.released), ended=None)


@plant("an outcome names no command", Fault.IMPOSSIBLE, Fault.UNANSWERED)
def _commandless(copy: Copy, slot: Slot) -> None:
    place = copy.outcome(slot.partition, "dead-lettered", slot.dead)
    copy.say(place, command_offset=None, command_id=None, command=None)


@plant("the cut of a hold is too late", Fault.IMPOSSIBLE, Fault.HELD_UNASKED, alone=True)
def _late_cut(copy: Copy, slot: Slot) -> None:
    copy.say(copy.outcome(slot.partition, "held", slot.stays), cut=10_000)


@plant("the cut of a release goes back", Fault.IMPOSSIBLE, alone=True)
def _early_cut(copy: Copy, slot: Slot) -> None:
    copy.say(copy.outcome(slot.partition, "released", slot.released), cut=1)


@plant("a hold expired that has no expiry", Fault.EXPIRED_EARLY, Fault.STATUS_DIFFERS)
def _expired(copy: Copy, slot: Slot) -> None:
    key, value, *rest = copy.get(copy.outcome(slot.partition, "held", slot.stays))
    last = json.loads(copy.logs["journal"][slot.partition][-1][1] or b"")
    said = {**json.loads(value or b""), "outcome": "expired", "step": last["step"],
            "cut": last["cut"]}  # fmt: skip
    copy.logs["journal"][slot.partition].append((key, json.dumps(said).encode(), *rest))  # type: ignore[arg-type]


@plant("a journal record is unreadable", Fault.UNREADABLE)
def _unreadable(copy: Copy, slot: Slot) -> None:
    copy.put("journal", slot.partition, (slot.free, b"{", [], 1_700_000_000_000, slot.partition))


@plant("the journal is empty", Fault.JOURNAL_MISSING, Fault.UNANSWERED, Fault.HELD_UNASKED,
       Fault.NOT_OVER, Fault.NOT_INVALID, Fault.DEAD_UNASKED, Fault.STATUS_DIFFERS,
       alone=True)  # fmt: skip
def _journal_empty(copy: Copy, slot: Slot) -> None:
    copy.logs["journal"][slot.partition].clear()


# --- status


@plant("status says that a held key is active", Fault.STATUS_DIFFERS)
def _active(copy: Copy, slot: Slot) -> None:
    copy.change(copy.entry(slot.partition, slot.stays), value=None)


@plant("status has lost a key", Fault.STATUS_DIFFERS)
def _entry_gone(copy: Copy, slot: Slot) -> None:
    rows = copy.logs["status"][slot.partition]
    copy.logs["status"][slot.partition] = [sent for sent in rows if sent[0] != ENTRY + slot.stays]


@plant("status has a key that was never held", Fault.STATUS_DIFFERS)
def _entry_added(copy: Copy, slot: Slot) -> None:
    place = copy.entry(slot.partition, slot.stays)
    _, value, *rest = copy.get(place)
    copy.logs["status"][slot.partition].insert(place.index, (ENTRY + slot.free, value, *rest))  # type: ignore[arg-type]


@plant("status counts less than is held", Fault.STATUS_DIFFERS)
def _counts_less(copy: Copy, slot: Slot) -> None:
    last = source(copy.get(copy.find("held", slot.partition, slot.stays, -1)))[1]
    copy.say(copy.entry(slot.partition, slot.stays), events=1, counted_through=last)


@plant("status says that a held event has left", Fault.STATUS_DIFFERS)
def _says_left(copy: Copy, slot: Slot) -> None:
    last = source(copy.get(copy.find("held", slot.partition, slot.stays, -1)))[1]
    copy.say(copy.entry(slot.partition, slot.stays), drained_through=last, counted_through=last)


@plant("status is empty", Fault.STATUS_MISSING, alone=True)
def _status_empty(copy: Copy, slot: Slot) -> None:
    copy.logs["status"][slot.partition].clear()


# --- raw zone


def raw_place(copy: Copy, slot: Slot, nth: int = 1) -> int:
    return copy.find("events", slot.partition, slot.free, nth).index


@plant("a row of the raw zone is missing", Fault.RAW_MISSING)
def _raw_missing(copy: Copy, slot: Slot) -> None:
    copy.land(slot.partition, raw_place(copy, slot))


@plant("a row of the raw zone is doubled", Fault.RAW_DOUBLED)
def _raw_doubled(copy: Copy, slot: Slot) -> None:
    index = raw_place(copy, slot)
    sent = copy.logs["events"][slot.partition][index]
    copy.land(slot.partition, index, sent, sent)


@plant("an event lands at the offset of another", Fault.RAW_MISSING, Fault.RAW_DOUBLED,
       Fault.ALTERED, Fault.HEADERS_ALTERED, Fault.TIME_ALTERED)  # fmt: skip
def _raw_moved(copy: Copy, slot: Slot) -> None:
    events = copy.logs["events"][slot.partition]
    one, two = raw_place(copy, slot, 1), raw_place(copy, slot, 2)
    copy.land(slot.partition, one)
    copy.land(slot.partition, two, events[one], events[two])


def raw_change(**fields: Any) -> Damage:
    def damage(copy: Copy, slot: Slot) -> None:
        index = raw_place(copy, slot)
        key, value, headers, at, partition = copy.logs["events"][slot.partition][index]
        was = {"key": key, "value": value, "headers": headers, "at": at}
        new = {**was, **fields}
        landed = (new["key"], new["value"], new["headers"], new["at"], partition)
        copy.land(slot.partition, index, landed)

    return damage


plant("a value in the raw zone is changed", Fault.ALTERED)(raw_change(value=b'{"n": 666}'))
plant("headers in the raw zone are dropped", Fault.HEADERS_ALTERED)(raw_change(headers=[]))
plant("a time in the raw zone is changed", Fault.TIME_ALTERED)(raw_change(at=1_600_000_000_000))
# Where the raw zone has every offset, it is believed about which events there are.
plant("a key in the raw zone is changed", Fault.LOST, Fault.STRAY, alone=True)(
    raw_change(key=b"other")
)


@plant("a key in a raw zone with gaps is changed", Fault.RAW_MISSING, Fault.RAW_STRAY, alone=True)
def _raw_key(copy: Copy, slot: Slot) -> None:
    raw_change(key=b"other")(copy, slot)
    copy.land(slot.partition, raw_place(copy, slot, 2))


Found = tuple[Verification, dict[int, set[str]]]


@pytest.fixture(scope="module")
def damaged(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Found:
    slots, partitions = arranged()
    copy = Copy(*live(embedded_broker, slots, partitions))
    for slot, planted in zip(slots, DAMAGE.values(), strict=True):
        planted.damage(copy, slot)
    alone = {
        slot.partition: slot.number
        for slot, planted in zip(slots, DAMAGE.values(), strict=True)
        if planted.alone
    }
    lake = str(tmp_path_factory.mktemp("damaged") / "lake")
    found = copy.write(embedded_broker, spark, lake).verify(spark, examples=10_000)
    return found, named_by_slot(found, copy, alone)


def arranged() -> tuple[list[Slot], int]:
    """A slot for each kind of damage; and how many partitions they take."""
    sharing = sum(not planted.alone for planted in DAMAGE.values())
    shared = -(-sharing // SLOTS_PER_PARTITION)
    partitions = shared + len(DAMAGE) - sharing
    together, alone = cycle(range(shared)), iter(range(shared, partitions))
    return [
        Slot(number, next(alone if planted.alone else together), partitions)
        for number, planted in enumerate(DAMAGE.values())
    ], partitions


@pytest.mark.parametrize("name", list(DAMAGE))
def test_planted_damage_is_reported_by_its_name(damaged: Found, name: str) -> None:
    """By these faults, and no others."""
    assert damaged[1][list(DAMAGE).index(name)] == {fault.value for fault in DAMAGE[name].faults}


def test_every_fault_is_planted_by_some_damage(damaged: Found) -> None:
    planted = {fault for each in DAMAGE.values() for fault in each.faults}
    # Seals are broken in `test_verify_again`, and pauses in `test_verify_scopes`.
    elsewhere = {Fault.SEAL_BROKEN, Fault.TAKEN_WHILE_PAUSED}
    assert set(Fault) - planted == {Fault.CONTROL_MISSING, Fault.DAMAGED} | elsewhere
    assert damaged[0].verdict is Verdict.NOT_CLEAN
