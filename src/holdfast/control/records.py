"""Pages of a topic's records: from any offset or time, filtered, newest first or oldest first.

A page ends after a maximum number of records, bytes or seconds, and reports it; its cursor
continues from there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Literal, get_args

from confluent_kafka import Message

from holdfast.access.masks import visible_value
from holdfast.access.roles import Actor
from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.record import Record
from holdfast.clock import from_ms
from holdfast.control.filters import NO_FILTER, Filter
from holdfast.errors import EventsLostError, InvalidArgumentError, NotFoundError, TimedOutError
from holdfast.flows.names import FlowNames

MAX_PAGE = 500
MOST_RECORDS = 50_000
MOST_BYTES = 64 * 1024 * 1024
MOST_SECONDS = 4.0
MOST_CHUNK_BYTES = 16 * 1024 * 1024
_FIRST_CHUNK = 100
_LARGEST_CHUNK = 5_000
_FAR = 2**63

TopicRole = Literal["events", "held", "processed", "dlq", "control", "journal", "status"]
ROLES: tuple[TopicRole, ...] = get_args(TopicRole)
SortOrder = Literal["newest", "oldest"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record with its value as the actor may see it."""

    record: Record
    value: bytes | None

    @property
    def time(self) -> int:
        return self.record.timestamp_ms or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """Which records of one topic."""

    topic: str
    partitions: tuple[int, ...]
    order: SortOrder = "newest"
    offset: int | None = None
    """The first offset to show, going up (oldest first) or down (newest first)."""
    since: int | None = None
    until: int | None = None
    """Times of records, in milliseconds since 1970; `until` is not included."""
    filter: Filter = NO_FILTER
    wanted: Callable[[Seen], bool] | None = None
    """A further condition on a record."""
    limit: int = 50
    cursor: str | None = None
    seconds: float = MOST_SECONDS
    """The maximum time of the search."""


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """Records in the order of the query."""

    records: tuple[Seen, ...]
    cursor: str | None
    """The start of the next page; None if there are no more records."""
    looked_at: int
    stopped_early: str = ""
    """Why the page ended before it was full although there are more records; otherwise empty."""
    reached: int = 0
    """Newest first: every match that is newer than this time was found; 0: every match was."""


def topic_of(names: FlowNames, role: TopicRole) -> str:
    topic: str = getattr(names, role)
    return topic


def browse(connection: Connection, query: Browse, masks: Sequence[str], actor: Actor) -> BrowsePage:
    """One page. Blocks for the query's `seconds` or a little longer."""
    if not 1 <= query.limit <= MAX_PAGE:
        raise InvalidArgumentError(f"A page has 1 to {MAX_PAGE} records, not {query.limit}.")
    budget = _Budget(query.seconds)
    reader = LogReader(connection, isolation="read_committed", timeout=query.seconds)
    try:
        stretches = [
            _Stretch(partition, low, high, query, masks, actor, reader, budget)
            for partition, (low, high) in _ranges(connection, query).items()
        ]
        found, early = _merge(stretches, query, budget)
    finally:
        reader.close()
    left = {s.partition.number: s.resume() for s in stretches if not s.finished}
    cursor = _write_cursor(query, left) if left else None
    reached = max((s.reached for s in stretches if s.low < s.high), default=0)
    return BrowsePage(tuple(found), cursor, budget.records, early, reached)


def read_one(
    connection: Connection, partition: Partition, offset: int, masks: Sequence[str], actor: Actor
) -> Seen:
    """The record at an offset, or NotFoundError."""
    missing = NotFoundError(f"There is no record at offset {offset} of {partition}.")
    offsets = Offsets(connection)
    if not offsets.starts([partition])[partition] <= offset < offsets.ends([partition])[partition]:
        raise missing
    reader = LogReader(connection, isolation="read_committed", timeout=MOST_SECONDS)
    try:
        for messages in reader.read(partition, offset, offset + 1):
            record = Record.of(messages[0])
            return Seen(record, visible_value(record.value, masks, actor))
    finally:
        reader.close()
    raise missing


@dataclass(slots=True)
class _Budget:
    """The remaining budget of one page."""

    seconds: float
    deadline: float = field(init=False)
    records: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        self.deadline = monotonic() + self.seconds

    def take(self, message: Message) -> None:
        self.records += 1
        self.bytes += len(message)

    def spent(self) -> str:
        """Why the budget is spent; empty if it is not."""
        if self.records >= MOST_RECORDS:
            return f"The search has read {self.records:,} records."
        if self.bytes >= MOST_BYTES:
            return f"The search has read {self.bytes // 1024**2} MB."
        if monotonic() >= self.deadline:
            return f"It has looked for {self.seconds:.0f} s."
        return ""


class _Stretch:
    """The search in one partition: offsets [low, high), read from one end in growing chunks."""

    def __init__(
        self,
        partition: Partition,
        low: int,
        high: int,
        query: Browse,
        masks: Sequence[str],
        actor: Actor,
        reader: LogReader,
        budget: _Budget,
    ) -> None:
        self.partition = partition
        self.low, self.high = low, high
        self._query = query
        self._masks, self._actor = masks, actor
        self._reader = reader
        self._budget = budget
        self._chunk = min(_LARGEST_CHUNK, max(_FIRST_CHUNK, query.limit))
        self.reached = _FAR
        """The time of the oldest record read; for newest first only."""
        self._incomplete = False
        self._matches: list[Seen] = []
        """Matches that are not returned yet, the next one last."""

    @property
    def finished(self) -> bool:
        return not self._matches and self.low >= self.high

    def head(self) -> Seen | None:
        """The next match; None if there is none, or the budget is spent."""
        while not self._matches and self.low < self.high and not self._budget.spent():
            self._read_chunk()
        return self._matches[-1] if self._matches else None

    def pop(self) -> Seen:
        return self._matches.pop()

    def resume(self) -> int:
        """The offset to continue at: below it (newest first), or from it on (oldest first)."""
        if self._query.order == "newest":
            return self._matches[-1].record.offset + 1 if self._matches else self.high
        return self._matches[-1].record.offset if self._matches else self.low

    def _read_chunk(self) -> None:
        newest = self._query.order == "newest"
        low = max(self.low, self.high - self._chunk) if newest else self.low
        high = self.high if newest else min(self.high, self.low + self._chunk)
        self._chunk = min(_LARGEST_CHUNK, 4 * self._chunk)
        matches = [seen for message in self._messages(low, high) if (seen := self._look(message))]
        if self._incomplete:
            self._incomplete = False
            self._chunk = max(1, (high - low) // 8)
            return
        if newest:
            self._matches, self.high = matches, low
        else:
            self._matches, self.low = matches[::-1], high

    def _messages(self, low: int, high: int) -> Iterator[Message]:
        """The records of a chunk. A chunk with too many bytes, or for which the time is too short,
        is left, to be read again in smaller ones."""
        most = self._budget.bytes + MOST_CHUNK_BYTES
        try:
            for messages in self._reader.read(self.partition, low, high):
                for message in messages:
                    yield message
                    if self._budget.bytes > most and high - low > 1:
                        self._incomplete = True
                        return
        except EventsLostError:
            return  # retention took them in this moment
        except TimedOutError:
            self._budget.deadline, self._incomplete = 0.0, True

    def _look(self, message: Message) -> Seen | None:
        self._budget.take(message)
        record = Record.of(message)
        self.reached = min(self.reached, record.timestamp_ms or 0)
        value = visible_value(record.value, self._masks, self._actor)
        wanted = self._query.filter
        if not wanted.empty and not wanted.matches(record.key, value, record.headers):
            return None
        seen = Seen(record, value)
        return seen if self._query.wanted is None or self._query.wanted(seen) else None


def _merge(stretches: list[_Stretch], query: Browse, budget: _Budget) -> tuple[list[Seen], str]:
    """The next records of all partitions by time; within a partition always by offset."""
    found: list[Seen] = []
    pick = max if query.order == "newest" else min
    while len(found) < query.limit:
        heads = [(seen.time, index) for index, s in enumerate(stretches) if (seen := s.head())]
        spent = budget.spent()
        if spent and any(s.head() is None and not s.finished for s in stretches):
            return found, spent  # the next match may be in a partition that was not searched
        if not heads:
            break
        found.append(stretches[pick(heads)[1]].pop())
    return found, ""


def _ranges(connection: Connection, query: Browse) -> dict[Partition, tuple[int, int]]:
    """The offsets to search, by partition: from the first (inclusive) to the second (exclusive)."""
    partitions = [Partition(query.topic, number) for number in query.partitions]
    offsets, newest = Offsets(connection), query.order == "newest"
    lows = [offsets.starts(partitions)]
    highs = [offsets.ends(partitions)]
    if query.since is not None:
        lows.append(offsets.resolve(partitions, _time(query.since)))
    if query.until is not None:
        highs.append(offsets.resolve(partitions, _time(query.until)))
    if query.offset is not None:
        first = dict.fromkeys(partitions, query.offset + newest)
        (highs if newest else lows).append(first)
    if query.cursor is not None:
        left = _read_cursor(query)
        partitions = [p for p in partitions if p.number in left]
        (highs if newest else lows).append({p: left[p.number] for p in partitions})
    return {p: (max(low[p] for low in lows), min(high[p] for high in highs)) for p in partitions}


def _time(milliseconds: int) -> datetime:
    try:
        return from_ms(milliseconds)
    except (OverflowError, ValueError, OSError):
        raise InvalidArgumentError(f"{milliseconds} is not a valid time.") from None


def _write_cursor(query: Browse, left: dict[int, int]) -> str:
    return f"{query.order}." + ".".join(f"{number}-{offset}" for number, offset in left.items())


def _read_cursor(query: Browse) -> dict[int, int]:
    order, _, rest = (query.cursor or "").partition(".")
    left: dict[int, int] = {}
    for part in rest.split("."):
        number, _, offset = part.partition("-")
        plain = all(n.isascii() and n.isdigit() and len(n) < 19 for n in (number, offset))
        if order != query.order or not plain:
            raise InvalidArgumentError("This cursor cannot be used: take it from the page before.")
        left[int(number)] = int(offset)
    return left
