"""The segments of a log in order, and which of them holds an offset."""

from bisect import bisect_right
from collections.abc import Iterator

from holdfast.broker.log.segment import Segment


class Segments:
    """At least one segment; the last is the active one, which grows."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]
        self.active = segments[-1]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, number: int) -> Segment:
        return self._segments[number]

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def sealed(self) -> list[Segment]:
        return self._segments[:-1]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def number_of(self, offset: int) -> int:
        """Which segment holds `offset`, or would."""
        return max(0, bisect_right(self._bases, offset) - 1)

    def starting_with(self, offset: int) -> list[Segment]:
        """The segment that holds `offset`, and all after it."""
        return self._segments[self.number_of(offset) :]

    def next_base(self, segment: Segment) -> int | None:
        """Where the segment after this one begins."""
        number = self.number_of(segment.base_offset) + 1
        return self._bases[number] if number < len(self._bases) else None

    def add(self, segment: Segment) -> None:
        """`segment` becomes the active one."""
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def drop_first(self) -> Segment:
        self._bases.pop(0)
        return self._segments.pop(0)

    def drop_last(self) -> Segment:
        """The one before becomes the active one again."""
        self._bases.pop()
        dropped = self._segments.pop()
        self.active = self._segments[-1]
        return dropped

    def replace(self, first_base: int, end: int, by: Segment) -> list[Segment]:
        """Put `by` in the place of the segments that begin in [first_base, end)."""
        start, stop = self.number_of(first_base), self.number_of(end - 1) + 1
        replaced = self._segments[start:stop]
        self._segments[start:stop] = [by]
        self._bases[start:stop] = [by.base_offset]
        return replaced
