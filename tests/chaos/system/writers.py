"""The producer of each record in a log, from the batches in the broker's segment files.

Consumers are not given it. A producer that gives up a record takes a new epoch and sends others
again whose fate it does not know. Such a record is in the log twice, by different epochs: its
producer has written it twice. By one epoch and sequence, the broker has.
"""

from pathlib import Path
from typing import NamedTuple

from holdfast.wire.records.batch import HEADER_SIZE, header_of


class Writer(NamedTuple):
    """The identity of a record, as its producer gives it."""

    producer_id: int
    epoch: int
    sequence: int

    @property
    def series(self) -> tuple[int, int]:
        """Records of one series have rising sequences."""
        return self.producer_id, self.epoch


def read_writers(log: Path) -> dict[int, Writer]:
    """By offset. `log`: the folder of a partition on which nobody writes."""
    writers: dict[int, Writer] = {}
    for path in sorted(log.glob("*.log")):
        data = path.read_bytes()
        place = 0
        while len(data) - place >= HEADER_SIZE and any(data[place : place + HEADER_SIZE]):
            header = header_of(data, place)
            for delta in range(header.last_offset_delta + 1):
                writers[header.base_offset + delta] = Writer(
                    header.producer_id, header.producer_epoch, header.base_sequence + delta
                )
            place += header.size
    return writers
