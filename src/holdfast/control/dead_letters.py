"""Dead letters: listed, and grouped by their reason."""

from dataclasses import dataclass

from holdfast.access.roles import Actor
from holdfast.client.connection import Connection
from holdfast.client.dead_letters import LetterReason, message_pattern, reason_of
from holdfast.client.topics import Topics
from holdfast.control.filters import NO_FILTER, Filter, FilterError
from holdfast.control.records import Browse, BrowsePage, Seen, browse
from holdfast.control.spans import ALWAYS, Span
from holdfast.flows.registry import FlowDefinition

UNKNOWN = "unknown"
"""The reason of letters that name none."""
MOST_GROUPS = 200
"""Groups of one flow; letters of further ones count as one group per kind of error."""
_OTHERS = "other messages"


@dataclass(slots=True)
class LetterGroup:
    """Letters with the same kind of error, and messages that differ only in numbers and quotes."""

    reason: str
    pattern: str
    """The message, with … for each number and each quoted text."""
    message: str
    """Of the newest letter."""
    newest: int
    partition: int
    offset: int
    """Of the newest letter."""
    count: int = 0


@dataclass(frozen=True, slots=True)
class LetterGroups:
    groups: tuple[LetterGroup, ...]
    """Most frequent first."""
    looked_at: int
    stopped_early: str


def letter_reason(seen: Seen) -> LetterReason:
    """Why a letter is dead, with a name for letters that do not say it."""
    kind, message = reason_of(seen.record.headers)
    return LetterReason(kind or UNKNOWN, message)


def has_reason(seen: Seen, reason: str, message: str) -> bool:
    """Returns True if the letter has this kind of error and this pattern of its message; an empty
    one matches all."""
    known = letter_reason(seen)
    return reason in ("", known.kind) and message in ("", message_pattern(known.message))


def letters(
    connection: Connection,
    flow: FlowDefinition,
    actor: Actor,
    *,
    reason: str = "",
    message: str = "",
    partition: int | None = None,
    span: Span = ALWAYS,
    wanted: Filter = NO_FILTER,
    limit: int = 50,
    cursor: str | None = None,
) -> BrowsePage:
    """One page, newest first."""
    count = Topics(connection).describe(flow.names.dlq).partitions
    if partition is not None and partition >= count:
        raise FilterError("partition", f"There are the partitions 0 to {count - 1}.")
    query = Browse(
        topic=flow.names.dlq,
        partitions=tuple(range(count)) if partition is None else (partition,),
        since=span.since,
        until=span.until,
        filter=wanted,
        wanted=lambda seen: has_reason(seen, reason, message),
        limit=limit,
        cursor=cursor,
    )
    return browse(connection, query, flow.masks, actor)


def letter_groups(connection: Connection, flow: FlowDefinition, actor: Actor) -> LetterGroups:
    """The groups of the newest letters: about 50,000 of them."""
    groups: dict[tuple[str, str], LetterGroup] = {}

    def count(seen: Seen) -> bool:
        kind, message = letter_reason(seen)
        pattern = message_pattern(message)
        if (kind, pattern) not in groups and len(groups) >= MOST_GROUPS:
            pattern = _OTHERS
        group = groups.get((kind, pattern))
        record = seen.record
        if group is None or seen.time > group.newest:
            known = group.count if group else 0
            group = groups[kind, pattern] = LetterGroup(
                kind, pattern, message, seen.time, record.partition, record.offset, known
            )
        group.count += 1
        return False  # counted only

    partitions = Topics(connection).describe(flow.names.dlq).partitions
    query = Browse(topic=flow.names.dlq, partitions=tuple(range(partitions)), wanted=count)
    page = browse(connection, query, flow.masks, actor)
    found = sorted(groups.values(), key=lambda group: (-group.count, group.reason, group.pattern))
    return LetterGroups(tuple(found), page.looked_at, page.stopped_early)
