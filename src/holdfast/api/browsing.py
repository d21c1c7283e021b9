"""Looking into topics: records from any place, filtered, newest first or oldest first.

Whatever is asked for, a page ends after so many records looked at, so many bytes, or so much time,
and says so; its cursor goes on from there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Literal

from confluent_kafka import Message

from holdfast.access.masks import visible_value
from holdfast.access.roles import Actor
from holdfast.api.matching import NO_FILTER, Filter
from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.record import Record
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
Order = Literal["newest", "oldest"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record, its value as the asker may see it."""

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
    order: Order = "newest"
    offset: int | None = None
    """Begin there: the first to show, going up (oldest) or down (newest)."""
    since: int | None = None
    until: int | None = None
    """Times of records, in milliseconds since 1970; `until` is not included."""
    filter: Filter = NO_FILTER
    wanted: Callable[[Seen], bool] | None = None
    """What else a record must have."""
    limit: int = 50
    cursor: str | None = None
    seconds: float = MOST_SECONDS
    """How long to look at most."""


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """Records in the order asked for."""

    records: tuple[Seen, ...]
    cursor: str | None
    """Where the next page begins; None if there is nothing more."""
    looked_at: int
    stopped_early: str = ""
    """Why the page ended before it was full, though there is more; empty if it did not."""
    reached: int = 0
    """Newest first: every match that is newer than this time was found; 0: every match was."""


def topic_of(names: FlowNames, role: TopicRole) -> str:
    """The topic that has this role in the flow."""
    topic: str = getattr(names, role)
    return topic


def browse(connection: Connection, query: Browse, masks: Sequence[str], actor: Actor) -> BrowsePage:
    """One page. Blocks for the query's `seconds` or a little longer."""
    if not 1 <= query.limit <= MAX_PAGE:
        raise InvalidArgumentError(f"A page has 1 to {MAX_PAGE} records, not {query.limit}.")
    budget = _Budget(query.seconds)
    reader = LogReader(connection, isolation="read_committed", patience=query.seconds)
    try:
        stretches = [
            _Stretch(place, low, high, query, masks, actor, reader, budget)
            for place, (low, high) in _ranges(connection, query).items()
        ]
        found, early = _merge(stretches, query, budget)
    finally:
        reader.close()
    left = {s.place.number: s.resume() for s in stretches if not s.finished}
    cursor = _write_cursor(query, left) if left else None
    reached = max((s.reached for s in stretches if s.low < s.high), default=0)
    return BrowsePage(tuple(found), cursor, budget.records, early, reached)


def read_one(
    connection: Connection, place: Partition, offset: int, masks: Sequence[str], actor: Actor
) -> Seen:
    """The record at an offset, or NotFoundError."""
    missing = NotFoundError(f"There is no record at offset {offset} of {place}.")
    offsets = Offsets(connection)
    if not offsets.starts([place])[place] <= offset < offsets.ends([place])[place]:
        raise missing
    reader = LogReader(connection, isolation="read_committed", patience=MOST_SECONDS)
    try:
        for messages in reader.read(place, offset, offset + 1):
            record = Record.of(messages[0])
            return Seen(record, visible_value(record.value, masks, actor))
    finally:
        reader.close()
    raise missing


@dataclass(slots=True)
class _Budget:
    """What one page may still cost."""

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
        """Why there is none left; empty if there is."""
        if self.records >= MOST_RECORDS:
            return f"It has looked at {self.records:,} records."
        if self.bytes >= MOST_BYTES:
            return f"It has looked at {self.bytes // 1024**2} MB."
        if monotonic() >= self.deadline:
            return f"It has looked for {self.seconds:.0f} s."
        return ""


class _Stretch:
    """What is asked of one partition: [low, high), taken from one end in chunks that grow."""

    def __init__(
        self,
        place: Partition,
        low: int,
        high: int,
        query: Browse,
        masks: Sequence[str],
        actor: Actor,
        reader: LogReader,
        budget: _Budget,
    ) -> None:
        self.place = place
        self.low, self.high = low, high
        self._query = query
        self._masks, self._actor = masks, actor
        self._reader = reader
        self._budget = budget
        self._chunk = min(_LARGEST_CHUNK, max(_FIRST_CHUNK, query.limit))
        self.reached = _FAR
        """The time of the oldest record that was looked at; of newest first alone."""
        self._too_much = False
        self._matches: list[Seen] = []
        """Found and not handed out, the next one last."""

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
        """Where to go on: below this (newest first), or from this on (oldest first)."""
        if self._query.order == "newest":
            return self._matches[-1].record.offset + 1 if self._matches else self.high
        return self._matches[-1].record.offset if self._matches else self.low

    def _read_chunk(self) -> None:
        newest = self._query.order == "newest"
        low = max(self.low, self.high - self._chunk) if newest else self.low
        high = self.high if newest else min(self.high, self.low + self._chunk)
        self._chunk = min(_LARGEST_CHUNK, 4 * self._chunk)
        found = [seen for message in self._messages(low, high) if (seen := self._look(message))]
        if self._too_much:
            self._too_much = False
            self._chunk = max(1, (high - low) // 8)
            return
        if newest:
            self._matches, self.high = found, low
        else:
            self._matches, self.low = found[::-1], high

    def _messages(self, low: int, high: int) -> Iterator[Message]:
        """The records of a chunk. One with too many bytes is left, to be read in smaller ones."""
        most = self._budget.bytes + MOST_CHUNK_BYTES
        try:
            for messages in self._reader.read(self.place, low, high):
                for message in messages:
                    yield message
                    if self._budget.bytes > most and high - low > 1:
                        self._too_much = True
                        return
        except EventsLostError:
            return  # retention took them in this moment
        except TimedOutError:
            self._budget.deadline = 0.0

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
            return found, spent  # the next one may be where nobody has looked
        if not heads:
            break
        found.append(stretches[pick(heads)[1]].pop())
    return found, ""


def _ranges(connection: Connection, query: Browse) -> dict[Partition, tuple[int, int]]:
    places = [Partition(query.topic, number) for number in query.partitions]
    offsets = Offsets(connection)
    lows, highs = offsets.starts(places), offsets.ends(places)
    if query.since is not None:
        later = offsets.resolve(places, _time(query.since))
        lows = {place: max(lows[place], later[place]) for place in places}
    if query.until is not None:
        later = offsets.resolve(places, _time(query.until))
        highs = {place: min(highs[place], later[place]) for place in places}
    if query.offset is not None:
        if query.order == "newest":
            highs = {place: min(highs[place], query.offset + 1) for place in places}
        else:
            lows = {place: max(lows[place], query.offset) for place in places}
    if query.cursor is not None:
        left = _read_cursor(query)
        places = [place for place in places if place.number in left]
        if query.order == "newest":
            highs = {place: min(highs[place], left[place.number]) for place in places}
        else:
            lows = {place: max(lows[place], left[place.number]) for place in places}
    return {place: (lows[place], highs[place]) for place in places}


def _time(milliseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidArgumentError(f"{milliseconds} is no time that can be looked for.") from None


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
