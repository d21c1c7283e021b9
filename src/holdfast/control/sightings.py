"""When events of a key were seen last: a key that was never seen is not simply ACTIVE, but perhaps
misspelt."""

from dataclasses import dataclass

from holdfast.access.roles import Actor, Role
from holdfast.client.connection import Connection
from holdfast.control.filters import Filter
from holdfast.control.records import MAX_PAGE, MOST_RECORDS, Browse, browse
from holdfast.flows.keys import partition_of
from holdfast.flows.registry import FlowDefinition

_HOUR_MS = 3_600_000
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Sightings:
    """The last event of a key, from a bounded look back in its partition."""

    last: int | None
    """The time of the newest event; None if none was found."""
    last_hour: int
    more: bool
    """There may be more in the last hour than were counted."""
    whole: bool
    """All events of the partition were looked at, or enough were found."""

    def sentence(self, now: int) -> str:
        """For people.

        >>> Sightings(last=88_000, last_hour=163, more=False, whole=True).sentence(100_000)
        'last event 12 s ago, 163 in the last hour'
        >>> Sightings(last=None, last_hour=0, more=False, whole=True).sentence(100_000)
        'never seen in this flow'
        """
        if self.last is None:
            if self.whole:
                return "never seen in this flow"
            return f"not among the last {MOST_RECORDS:,} events of its partition"
        count = f"more than {self.last_hour:,}" if self.more else f"{self.last_hour:,}"
        return f"last event {_ago(now - self.last)} ago, {count} in the last hour"


def sightings(
    connection: Connection, flow: FlowDefinition, key: bytes, now: int, *, seconds: float = 2.0
) -> Sightings:
    """Look for events of the key, newest first, in the partition that murmur2 gives it."""
    query = Browse(
        topic=flow.names.events,
        partitions=(partition_of(key, flow.partitions),),
        filter=Filter(key=key),
        limit=MAX_PAGE,
        seconds=seconds,
    )
    page = browse(connection, query, (), Actor("", Role.VIEWER))
    times = [seen.time for seen in page.records]
    recent = [time for time in times if time > now - _HOUR_MS]
    # A search that ended early may have stopped within the last hour.
    more = len(recent) == MAX_PAGE or (page.cursor is not None and page.reached > now - _HOUR_MS)
    return Sightings(max(times, default=None), len(recent), more, page.cursor is None)


def _ago(milliseconds: int) -> str:
    seconds = max(0, milliseconds) // 1000
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return "0 s"
