"""Giving held rows out: in source order per key, within pace, and to an end that is proven."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.status import Entry, KeyState
from holdfast.gate.backlog import Backlog, HeldRow, Payload
from holdfast.gate.draft import Draft
from holdfast.gate.transitions import gives_out
from holdfast.gate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Drained(Generic[Payload]):
    """A row that leaves held: to processed (PASS) or to the dead letters (DEAD)."""

    key: bytes
    row: HeldRow[Payload]
    verdict: Verdict


def drain(
    draft: Draft, backlog: Backlog[Payload], *, rows: int, size: int
) -> list[Drained[Payload]]:
    """Take up to so many rows, and about so many bytes, off held, in the order of held.

    No key can keep the others from their share: those with few rows come first.
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
    """What one key gives out now, and how many of the bytes are left for others."""
    allowed = _within_pace(draft, entry, backlog.rows(entry))
    taken: list[Drained[Payload]] = []
    for row, verdict in islice(allowed, most):
        if size <= 0:
            break
        taken.append(Drained(entry.key, row, verdict))
        size -= row.size
    if taken:
        _pay(draft, entry, taken)
        draft.settle(_without(entry, taken, backlog))
    return taken, size


def _within_pace(
    draft: Draft, entry: Entry, rows: Iterator[HeldRow[Payload]]
) -> Iterator[tuple[HeldRow[Payload], Verdict]]:
    """The rows that may leave, each with where it goes. Dead letters are not paced."""
    tokens = float("inf")
    if entry.pace is not None:
        tokens = draft.bucket(entry.key).filled(entry.pace, draft.now).tokens
    for row in rows:
        if row.source > entry.counted_through:
            raise StaleStateError(
                f"Held has an event of source offset {row.source} that the state does not know of."
            )
        if row.source <= entry.dead_through:
            yield row, Verdict.DEAD
        elif entry.state is KeyState.DRAINING and tokens >= 1:
            tokens -= 1
            yield row, Verdict.PASS
        else:
            return


def _pay(draft: Draft, entry: Entry, taken: list[Drained[Payload]]) -> None:
    if entry.pace is None:
        return
    paced = sum(each.verdict is Verdict.PASS for each in taken)
    bucket = draft.bucket(entry.key).filled(entry.pace, draft.now)
    draft.buckets[entry.key] = bucket.take(paced)


def _without(entry: Entry, taken: list[Drained[Payload]], backlog: Backlog[Payload]) -> Entry:
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
            f"The gate has stopped: of key {entry.key!r} {entry.events} events ({entry.bytes} "
            f"bytes) were held, but {len(taken)} were found up to source offset {last.source} of "
            f"{entry.counted_through}. Rows of held are missing: run 'holdfast verify'."
        )
    following = next(backlog.rows(left), None)
    oldest = last.timestamp if following is None else following.timestamp
    return left._replace(oldest=None if ended else oldest)
