"""The ranges of source offsets in which the events of a key had to wait. No I/O.

A span of a key begins with its first waiting event, or where the journal says that the key is held.
It ends at the cut of the record `drained`. In between every event of the key must be in held.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.pipeline.audit.guard.logs import Copy

NEVER = 2**63
"""After every offset."""


@dataclass(slots=True)
class Span:
    """One stay of a key in held."""

    end: int
    """The first source offset that did not have to wait any more; `NEVER` if it lasts."""
    start: int = NEVER
    left_through: int = -1
    """The last source offset that had left held when it ended, according to the journal."""
    rows: int = 0
    last_row: int = -1

    @property
    def is_open(self) -> bool:
        return self.end == NEVER


class Spans:
    """The spans of all keys of a partition."""

    def __init__(self, journal: Sequence[JournalRecord], rows: Iterable[Copy]) -> None:
        self._of: dict[bytes, list[Span]] = defaultdict(list)
        for record in journal:
            if record.key is not None and record.outcome is Outcome.DRAINED:
                left = -1 if record.drained_through is None else record.drained_through
                self._of[record.key].append(Span(record.cut, left_through=left))
        self._ends = {key: [span.end for span in spans] for key, spans in self._of.items()}
        self._add_holds(journal)
        for row in rows:
            if row.key is not None and row.source is not None:
                span = self._at(row.key, row.source[1])
                span.start = min(span.start, row.source[1])
                span.rows += 1
                span.last_row = max(span.last_row, row.source[1])

    def _add_holds(self, journal: Sequence[JournalRecord]) -> None:
        """Of a key with several spans, a hold belongs to the one that ends after it, in the order
        of the journal: a hold may begin at the very offset where the span before has ended."""
        ended: dict[bytes, int] = defaultdict(int)
        for record in journal:
            if record.key is None:
                continue
            if record.outcome is Outcome.DRAINED:
                ended[record.key] += 1
            elif record.outcome is Outcome.HELD:
                spans = self._of[record.key]
                if ended[record.key] >= len(self._ends.get(record.key, ())):
                    span = self._open(record.key)
                else:
                    span = spans[ended[record.key]]
                span.start = min(span.start, record.cut)

    def get(self, key: bytes, source: int) -> Span | None:
        """The span in which an event of the key belongs, or the next one after it."""
        spans = self._of.get(key)
        if spans is None:
            return None
        at = bisect_right(self._ends.get(key, []), source)
        return spans[at] if at < len(spans) else None

    def all(self) -> Iterable[tuple[bytes, Span]]:
        for key, spans in self._of.items():
            for span in spans:
                yield key, span

    def open_span(self, key: bytes) -> Span | None:
        """The span of a key that lasts."""
        spans = self._of.get(key)
        return spans[-1] if spans and spans[-1].is_open else None

    def _at(self, key: bytes, source: int) -> Span:
        found = self.get(key, source)
        return self._open(key) if found is None else found

    def _open(self, key: bytes) -> Span:
        spans = self._of[key]
        if not spans or not spans[-1].is_open:
            spans.append(Span(NEVER))
        return spans[-1]
