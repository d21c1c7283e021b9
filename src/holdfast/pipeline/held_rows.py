"""Rows of held that are to leave it, found among those of all other keys."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from holdfast.client.settings import ClientSettings
from holdfast.client.source import Header, source_of
from holdfast.errors import GateStoppedError
from holdfast.gate import HeldRow, Reading
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.pipeline.bulk.reading import follow
from holdfast.pipeline.events import Events, KeySet


@dataclass(frozen=True, slots=True)
class Held:
    """What a row of held has beside its key and its place."""

    value: bytes | None
    headers: list[Header]
    """The source's coordinate is the last."""


class HeldRows:
    """Reads held. For one thread at a time."""

    def __init__(self, settings: ClientSettings, topic: str) -> None:
        self._cluster = Cluster(settings)
        self._topic = topic

    def read(self, partition: int, reading: Reading[Held], end: int) -> None:
        """Give rows to the reading until it has enough, or all below `end` were looked at."""
        try:
            reading.end(self._read(partition, reading, end))
        except BaseException:
            self._cluster.forget()
            raise

    def close(self) -> None:
        self._cluster.forget()

    def _read(self, partition: int, reading: Reading[Held], end: int) -> int:
        """-> the first row that was not looked at"""
        keys, reached = KeySet(reading.keys), reading.start
        for rows, reached in follow(self._cluster, self._topic, partition, reading.start):
            for key, row in self._rows(partition, rows, keys):
                if reading.done:
                    return row.offset
                reading.take(key, row)
            if reading.done or reached >= end:
                break
        return reached

    def _rows(
        self, partition: int, rows: pa.RecordBatch, keys: KeySet
    ) -> Iterator[tuple[bytes, HeldRow[Held]]]:
        found = keys.find(rows.column("key"))
        if not found:
            return
        events = Events(rows.take(pa.array(found, pa.int32())))
        headers = events.headers or [[]] * len(events)
        columns = zip(
            events.keys, events.values, events.offsets, events.timestamps, headers, strict=True
        )
        for key, value, offset, timestamp, own in columns:
            assert key is not None
            source = source_of(own)
            if source is None:
                raise no_source(offset, self._topic, partition)
            size = len(key) + len(value or b"")
            yield key, HeldRow(offset, source[1], size, timestamp, Held(value, own))


def no_source(offset: int, topic: str, partition: int) -> GateStoppedError:
    return GateStoppedError(
        f"The gate has stopped: offset {offset} of {topic}[{partition}] does not say which event "
        "it is. Something else has written to it."
    )
