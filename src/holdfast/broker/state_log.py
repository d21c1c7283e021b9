"""The log of the coordinators' state: an internal compacted partition."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from holdfast.broker.log import CorruptRecords, Source
from holdfast.broker.partition import Partition
from holdfast.errors import DataDirectoryError
from holdfast.wire.records.batch import build_batch, iterate_batches, marker_of, records_of

Records = Sequence[tuple[bytes, bytes | None]]

_READ_BYTES = 1024 * 1024


class StateRecord(NamedTuple):
    """A record of the log. A marker has neither key nor value."""

    key: bytes | None
    value: bytes | None
    producer_id: int
    transactional: bool
    control: Literal["commit", "abort"] | None


class StateLog:
    """Appends state changes, which become durable in order. Reads all of them at start."""

    def __init__(self, partition: Partition, clock: Callable[[], int]) -> None:
        self._partition = partition
        self._clock = clock

    def append(self, records: Records) -> "asyncio.Future[None]":
        """Resolves when the records are durable."""
        return self.append_built(self.build(records))

    def build(self, records: Records, producer: tuple[int, int] | None = None) -> bytearray:
        """A batch of records, in the producer's transaction if there is one. On any thread."""
        producer_id, producer_epoch = producer or (-1, -1)
        return build_batch(
            records,
            timestamp=self._clock(),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            transactional=producer is not None,
        )

    def append_built(self, batch: bytearray) -> "asyncio.Future[None]":
        appended = self._partition.append(memoryview(batch), Source.COORDINATOR)
        return self._partition.when_durable(appended.last_offset)

    def replay(self) -> Iterator[StateRecord]:
        """All records; raises DataDirectoryError where the log is damaged.

        Acknowledged state is lost there and must not be guessed: a group could read records again,
        and half of a transaction could become visible.
        """
        log = self._partition.log
        offset = log.log_start_offset
        while offset < log.high_watermark:
            data = self._read(offset)
            if not data:
                return
            for header, batch in iterate_batches(data):
                offset = header.last_offset + 1
                if header.is_control:
                    control: Literal["commit", "abort"] = "commit" if marker_of(batch) else "abort"
                    yield StateRecord(None, None, header.producer_id, True, control)
                    continue
                for record in records_of(batch):
                    yield StateRecord(
                        record.key, record.value, header.producer_id, header.is_transactional, None
                    )

    def _read(self, offset: int) -> bytes | memoryview:
        log = self._partition.log
        try:
            return log.read(offset, _READ_BYTES, limit=log.high_watermark)
        except CorruptRecords:
            raise DataDirectoryError(
                f"{log.directory} is damaged at offset {offset}. It has the state of consumer "
                "groups and transactions. Restore the directory from a backup. Or move it away: "
                "all groups then lose their offsets, and all transactions their outcomes, for "
                "good."
            ) from None
