"""The source coordinate: which event of `<flow>.events` a record was made of."""

from collections.abc import Sequence

from confluent_kafka import Message

SOURCE = "holdfast-source"
"""The header's name; its value is `<partition>:<offset>`."""

Header = tuple[str, str | bytes | None]


def headers_of(message: Message) -> list[Header]:
    """A message's headers; an empty list if it has none."""
    headers = message.headers()
    assert not isinstance(headers, dict)  # librdkafka gives them in order, with repeats
    return headers or []


def source_of(headers: Sequence[Header]) -> tuple[int, int] | None:
    """Partition and offset of the event that a record was made of. The last header counts: the
    event may have come through another flow's gate before."""
    for name, value in reversed(headers):
        if name == SOURCE and isinstance(value, bytes):
            partition, _, offset = value.partition(b":")
            return int(partition), int(offset)
    return None
