"""The held rows that leave in a step: in source order per key, and no faster than the key's pace.

A drain ends only at the last row that the entry has counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import Generic

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.status import Entry, KeyState
from holdfast.gate.backlog import Backlog, HeldRow, Payload
from holdfast.gate.draft import Draft
from holdfast.gate.transitions import gives_out


class Verdict(IntEnum):
    """Where an event goes. Zero is the most frequent: a new bytearray lets all events pass."""

    PASS = 0
    """To processed."""
    HOLD = 1
    """To held."""
    DEAD = 2
    """To the dead letters."""


@dataclass(frozen=True, slots=True)
class Drained(Generic[Payload]):
    """A row that leaves held: to processed (PASS) or to the dead letters (DEAD)."""

    key: bytes
    row: HeldRow[Payload]
    verdict: Verdict


def drain(
    draft: Draft, backlog: Backlog[Payload], *, rows: int, size: int
) -> list[Drained[Payload]]:
    """Take up to `rows` rows and about `size` bytes from the backlog, in the order of held.

    Every key gets its share: keys with few rows come first.
    """
    keys = backlog.waiting()
    drained: list[Drained[Payload]] = []
    for index, key in enumerate(keys):
        entry = draft.entry(key)
        if entry is None or not gives_out(entry):
            continue
        share = -(-(rows - len(drained)) // (len(keys) - index))
        taken, size = _take(draft, entry, backlog, share, size)
        drained += taken
    drained.sort(key=lambda each: each.row.offset)
    return drained


def _take(
    draft: Draft, entry: Entry, backlog: Backlog[Payload], most: int, size: int
) -> tuple[list[Drained[Payload]], int]:
    """The rows of one key that leave now, and the number of bytes left for other keys."""
    allowed = within_pace(draft, entry, backlog.rows(entry))
    taken: list[Drained[Payload]] = []
    for row, verdict in islice(allowed, most):
        if size <= 0:
            break
        taken.append(Drained(entry.key, row, verdict))
        size -= row.size
    if taken:
        pay(draft, entry, taken)
        draft.settle(without(entry, taken, backlog))
    return taken, size


def within_pace(
    draft: Draft, entry: Entry, rows: Iterator[HeldRow[Payload]]
) -> Iterator[tuple[HeldRow[Payload], Verdict]]:
    """The rows that may leave, each with its destination. Dead letters are not paced, and do not
    wait for the end of a pause."""
    tokens = 0.0 if draft.paused else float("inf")
    if tokens and entry.pace is not None:
        tokens = draft.bucket(entry.key).filled(entry.pace, draft.paced_at).tokens
    for row in rows:
        if row.source > entry.counted_through:
            raise StaleStateError(
                f"Held has an event of source offset {row.source} that the state has not counted."
            )
        if row.source <= entry.dead_through:
            yield row, Verdict.DEAD
        elif entry.state is KeyState.DRAINING and tokens >= 1:
            tokens -= 1
            yield row, Verdict.PASS
        else:
            return


def pay(draft: Draft, entry: Entry, taken: Sequence[Drained[Payload]]) -> None:
    if entry.pace is None:
        return
    paced = sum(each.verdict is Verdict.PASS for each in taken)
    bucket = draft.bucket(entry.key).filled(entry.pace, draft.paced_at)
    draft.buckets[entry.key] = bucket.take(paced)


def without(entry: Entry, taken: Sequence[Drained[Payload]], backlog: Backlog[Payload]) -> Entry:
    """The entry after these rows have left."""
    last = taken[-1].row
    left = entry._replace(
        held_from=last.offset + 1,
        drained_through=last.source,
        events=entry.events - len(taken),
        bytes=entry.bytes - sum(each.row.size for each in taken),
    )
    ended = left.drained_through == left.counted_through
    if ended != (left.events == 0) or (ended and left.bytes):
        raise GateStoppedError(
            f"The gate has stopped: key {entry.key!r} should have {entry.events} held events "
            f"({entry.bytes} bytes), but the held topic has {len(taken)} up to source offset "
            f"{last.source} of {entry.counted_through}. Rows are missing: run 'holdfast verify'."
        )
    following = next(backlog.rows(left), None)
    oldest = last.timestamp if following is None else following.timestamp
    return left._replace(oldest=None if ended else oldest)
