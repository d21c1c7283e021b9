"""The source coordinate: the event of `<flow>.events` that a record comes from."""

from collections.abc import Sequence

from confluent_kafka import Message

from holdfast.errors import GateStoppedError

SOURCE = "holdfast-source"
"""The header's name; its value is `<partition>:<offset>`."""
REPLAY_RUN = "holdfast-replay-run"
"""Header of an event that a run has sent again; its value is the run's id."""

Header = tuple[str, str | bytes | None]


def headers_of(message: Message) -> list[Header]:
    """A message's headers; an empty list if it has none."""
    headers = message.headers()
    assert not isinstance(headers, dict)  # librdkafka gives them in order, with repeats
    return headers or []


def source_of(headers: Sequence[Header]) -> tuple[int, int] | None:
    """Partition and offset of the event that a record comes from; None if it has no such header.

    For records written by the gate or a worker: they append the header to those of the event, so
    the last one counts. In `<flow>.events` the header has no meaning.
    """
    for name, value in reversed(headers):
        if name == SOURCE:
            partition, _, offset = (value if isinstance(value, bytes) else b"").partition(b":")
            known = all(number.isdigit() and len(number) < 19 for number in (partition, offset))
            return (int(partition), int(offset)) if known else None
    return None


def no_source(offset: int, topic: str, partition: int) -> GateStoppedError:
    """The error for a row of held that has no such header."""
    return GateStoppedError(
        f"The gate has stopped: offset {offset} of {topic}[{partition}] does not say which event "
        "it is. Something else has written to it."
    )
