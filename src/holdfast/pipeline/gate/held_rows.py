"""Reading the rows that leave held, among those of all other keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import pyarrow as pa

from holdfast.client.settings import ClientSettings
from holdfast.client.source import Header, no_source, source_of
from holdfast.errors import TimedOutError
from holdfast.gate import HeldRow, Reading
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import follow
from holdfast.kafka.record_size import wire_size
from holdfast.pipeline.gate.events import Events, KeySet

_NOTHING_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Held:
    """Value and headers of a row of held."""

    value: bytes | None
    headers: list[Header]
    """The source's coordinate is the last."""

    def wire_size(self, key: bytes) -> int:
        """The exact size of a batch that has this row alone."""
        return wire_size(key, self.value, self.headers)


class HeldRows:
    """Reads held. For one thread at a time."""

    def __init__(self, settings: ClientSettings, topic: str) -> None:
        self._cluster = ClusterClient(settings)
        self._topic = topic
        self._waiting: dict[int, tuple[int, float]] = {}
        """At which offset of a partition nothing came, and since when."""

    def read(self, partition: int, reading: Reading[Held], end: int, until: float) -> bool:
        """Give rows to the reading until it has enough, or all below `end` were examined. Returns
        False if the time `until` (`monotonic`) came first, and the pass must continue.

        At least one response is read. TimedOutError if nothing arrives for three seconds.
        """
        try:
            reached, ended = self._read(partition, reading, end, until)
            self._check(partition, reading.start, reached, ended)
        except BaseException:
            self._cluster.forget()
            raise
        reading.end(reached)
        return ended

    def close(self) -> None:
        self._cluster.forget()

    def _read(
        self, partition: int, reading: Reading[Held], end: int, until: float
    ) -> tuple[int, bool]:
        """Returns the first offset that was not examined, and True if the pass has ended."""
        keys, reached = KeySet(reading.keys), reading.start
        for rows, reached in follow(self._cluster, self._topic, partition, reading.start):
            for key, row in self._rows(partition, rows, keys):
                if reading.done:
                    return row.offset, True
                reading.take(key, row)
            if reading.done or reached >= end:
                return reached, True
            if monotonic() >= until:
                return reached, False
        return reached, True

    def _check(self, partition: int, start: int, reached: int, ended: bool) -> None:
        """Raise TimedOutError if nothing has come for too long, in however many slices."""
        now = monotonic()
        offset, since = self._waiting.get(partition, (-1, now))
        if ended or reached > start:
            self._waiting.pop(partition, None)
        elif offset != start:
            self._waiting[partition] = (start, now)
        elif now - since > _NOTHING_SECONDS:
            raise TimedOutError(
                f"Partition {partition} of {self._topic} gives nothing from offset {start} on, "
                "though there should be records. Is a transaction left open on it?"
            )

    def _rows(
        self, partition: int, rows: pa.RecordBatch, keys: KeySet
    ) -> Iterator[tuple[bytes, HeldRow[Held]]]:
        found = keys.find(rows.column("key"))
        if not found:
            return
        events = Events(rows.take(pa.array(found, pa.int32())))
        headers = events.headers or [[]] * len(events)
        columns = zip(
            events.keys,
            events.values,
            events.offsets,
            events.timestamps,
            headers,
            events.weights.to_numpy().tolist(),
            strict=True,
        )
        for key, value, offset, timestamp, own, weight in columns:
            assert key is not None
            source = source_of(own)
            if source is None:
                raise no_source(offset, self._topic, partition)
            size = len(key) + len(value or b"")
            yield key, HeldRow(offset, source[1], size, timestamp, Held(value, own), weight)
