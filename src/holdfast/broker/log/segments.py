"""The segments of a log in order, and the search for the one with an offset."""

from bisect import bisect_right
from collections.abc import Iterator

from holdfast.broker.log.segment import Segment


class Segments:
    """At least one segment. The last one is active: it grows."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]
        self.active = segments[-1]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, index: int) -> Segment:
        return self._segments[index]

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def sealed(self) -> list[Segment]:
        return self._segments[:-1]

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def index_of(self, offset: int) -> int:
        """The index of the segment for `offset`."""
        return max(0, bisect_right(self._bases, offset) - 1)

    def with_offset(self, offset: int) -> Segment:
        """The segment for `offset`."""
        return self._segments[self.index_of(offset)]

    def starting_with(self, offset: int) -> list[Segment]:
        """The segment for `offset`, and all later ones."""
        return self._segments[self.index_of(offset) :]

    def next_base(self, segment: Segment) -> int | None:
        """The base offset of the next segment."""
        index = self.index_of(segment.base_offset) + 1
        return self._bases[index] if index < len(self._bases) else None

    def add(self, segment: Segment) -> None:
        """Makes `segment` the active one."""
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def drop_first(self) -> Segment:
        self._bases.pop(0)
        return self._segments.pop(0)

    def drop_last(self) -> Segment:
        """Removes the active segment; the previous one becomes active again."""
        self._bases.pop()
        dropped = self._segments.pop()
        self.active = self._segments[-1]
        return dropped

    def replace(self, first_base: int, end: int, by: Segment) -> list[Segment]:
        """Replaces the segments that begin in [first_base, end) by `by`."""
        start, stop = self.index_of(first_base), self.index_of(end - 1) + 1
        replaced = self._segments[start:stop]
        self._segments[start:stop] = [by]
        self._bases[start:stop] = [by.base_offset]
        return replaced
