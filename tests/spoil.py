"""Batches that nobody can read, put into the log of a broker that is stopped.

No broker takes them from a producer. They come from broken disks, and from brokers that check less.
"""

from collections.abc import Callable

from tests.brokers import BrokerProcess

from holdfast.wire.records.batch import HEADER, HEADER_SIZE, BatchHeader, header_of, seal

Spoil = Callable[[bytearray], None]


def garbage(batch: bytearray) -> None:
    """Records that make no sense, with a CRC that fits."""
    batch[HEADER_SIZE:] = b"\xff" * (len(batch) - HEADER_SIZE)
    seal(batch)


def unknown_codec(batch: bytearray) -> None:
    HEADER.pack_into(batch, 0, *header_of(batch)._replace(attributes=6))
    seal(batch)


def flipped_bit(batch: bytearray) -> None:
    """Damages a batch as a broken disk does: its CRC is wrong."""
    batch[-1] ^= 1


def spoil(
    broker: BrokerProcess, topic: str, partition: int, offset: int, how: Spoil = garbage
) -> tuple[int, int]:
    """Spoil the batch with that offset. Returns its first and its last offset."""
    assert not broker.running
    for path in sorted((broker.data_dir / f"{topic}-{partition}").glob("*.log")):
        data = bytearray(path.read_bytes())
        place = 0
        while len(data) - place >= HEADER_SIZE and any(data[place : place + HEADER_SIZE]):
            header: BatchHeader = header_of(data, place)
            if header.base_offset <= offset <= header.last_offset:
                batch = data[place : place + header.size]
                how(batch)
                data[place : place + header.size] = batch
                path.write_bytes(data)
                return header.base_offset, header.last_offset
            place += header.size
    raise AssertionError(f"{topic}-{partition} has no offset {offset}")
