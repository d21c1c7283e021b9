"""The final state: the committed records of every log of a flow."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from confluent_kafka import Message
from tests.brokers import BrokerProcess
from tests.chaos.system.flows import ChaosFlow, identity_of
from tests.chaos.system.writers import Writer, read_writers

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.client.source import headers_of, source_of
from holdfast.flows.commands import decode_command
from holdfast.flows.journal import Outcome as Outcomes
from holdfast.flows.journal import decode_journal
from holdfast.flows.names import FlowNames

PATIENCE_S = 60.0

_LATER = {Outcomes.EXPIRED, Outcomes.DRAINED}
"""Journal records of a command after its outcome."""

Coordinate = tuple[int, int]
"""Partition and offset in the events of a flow."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of events, processed or dlq."""

    partition: int
    offset: int
    key: bytes | None
    id: int
    source: Coordinate | None = None
    """The event that it was made of, as it says itself."""
    writer: Writer | None = None
    """Who has written an event."""

    @property
    def place(self) -> Coordinate:
        return self.partition, self.offset


@dataclass(frozen=True, slots=True)
class Answer:
    """A journal record that answers a command."""

    partition: int
    command_offset: int
    outcome: str


@dataclass(slots=True)
class Outcome:
    """One flow, when all was quiet. Lists are in the order of their logs, by partition."""

    flow: ChaosFlow
    events: list[Record] = field(default_factory=list)
    processed: list[Record] = field(default_factory=list)
    dead: list[Record] = field(default_factory=list)
    control: dict[int, str] = field(default_factory=dict)
    """Ids of commands by their offset."""
    answers: list[Answer] = field(default_factory=list)


def read_outcome(broker: BrokerProcess, flow: ChaosFlow) -> Outcome:
    connection = Connection(ClientSettings(bootstrap=broker.bootstrap))
    names = FlowNames(flow.name)
    log = _Logs(connection)
    outcome = Outcome(flow)
    writers = [
        read_writers(broker.data_dir / f"{names.events}-{p}") for p in range(flow.partitions)
    ]
    outcome.events = [
        replace(event, writer=writers[event.partition].get(event.offset))
        for event in map(_record, log.read(names.events, flow.partitions))
    ]
    outcome.processed = [_record(m) for m in log.read(names.processed, flow.partitions)]
    outcome.dead = [_record(m) for m in log.read(names.dlq, flow.partitions)]
    for message in log.read(names.control, 1):
        command = decode_command(message.key(), message.value())
        outcome.control[message.offset() or 0] = command.id
    for message in log.read(names.journal, flow.partitions):
        record = decode_journal(message.key(), message.value())
        if record.command is not None and record.outcome not in _LATER:
            answer = Answer(message.partition() or 0, record.command.offset, record.outcome)
            outcome.answers.append(answer)
    log.close()
    return outcome


class _Logs:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._reader = LogReader(connection, isolation="read_committed", timeout=PATIENCE_S)

    def read(self, topic: str, partitions: int) -> Iterator[Message]:
        places = [Partition(topic, p) for p in range(partitions)]
        starts = Offsets(self._connection).starts(places)
        ends = Offsets(self._connection).ends(places)
        for place in places:
            for messages in self._reader.read(place, starts[place], ends[place]):
                yield from messages

    def close(self) -> None:
        self._reader.close()


def _record(message: Message) -> Record:
    return Record(
        partition=message.partition() or 0,
        offset=message.offset() or 0,
        key=message.key(),
        id=identity_of(message.value()),
        source=source_of(headers_of(message)),
    )
