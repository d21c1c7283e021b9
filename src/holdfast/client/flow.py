"""Flows: make them, and hold, release and dead-letter their keys."""

import getpass
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import time
from typing import Any

from holdfast.client.cluster import describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.consumer import Consumer
from holdfast.client.delivery import Delivery
from holdfast.client.held import HeldPage, Place, read_held
from holdfast.client.planned_topics import make_table, make_topic
from holdfast.client.positions import Offsets, Partition
from holdfast.client.producer import Producer
from holdfast.client.receipt import Receipt
from holdfast.client.topics import Topics
from holdfast.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void, encode_command
from holdfast.flows.keys import key_bytes, partition_of
from holdfast.flows.names import REGISTRY_TOPIC, FlowNames
from holdfast.flows.registry import (
    FlowDefinition,
    Limits,
    Overflow,
    Start,
    decode_flow,
    encode_flow,
)
from holdfast.flows.status import Active, Entry, KeyState, decode_status
from holdfast.flows.topics import flow_topics


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """The state of a key, with its entry in each partition where it has one."""

    key: bytes
    state: KeyState
    entries: tuple[tuple[int, Entry], ...] = ()

    @property
    def events(self) -> int:
        """How many of its events are held."""
        return sum(entry.events for _, entry in self.entries)

    @property
    def bytes(self) -> int:
        """The size of their keys and values."""
        return sum(entry.bytes for _, entry in self.entries)

    @property
    def oldest(self) -> int | None:
        """The timestamp of the first of them, if there are any."""
        times = [entry.oldest for _, entry in self.entries if entry.oldest is not None]
        return min(times, default=None)


class Flow:
    """One flow, by name.

    >>> flow = client.flow(flow_name).create(partitions=6)
    >>> receipt = flow.hold("customer-7", reason="disputed", expires_in=3600)
    >>> receipt.offset
    0
    >>> flow.status("customer-7").state     # until the pipeline has carried it out
    <KeyState.ACTIVE: 'ACTIVE'>
    """

    def __init__(self, connection: Connection, name: str, producer: Callable[[], Producer]) -> None:
        self.name = name
        self.names = FlowNames(name)
        self._connection = connection
        self._producer = producer
        self._definition: FlowDefinition | None = None

    def create(
        self,
        *,
        partitions: int = 6,
        start: Start = "earliest",
        overflow: Overflow = "block",
        limits: Limits | None = None,
        schema: str | None = None,
        masks: Sequence[str] = (),
        event_id: str | None = None,
        checks: Sequence[str] = (),
    ) -> "Flow":
        """Make the flow's topics and register it. Topics that are there already must fit.

        `schema`: Spark DDL, e.g. `id BIGINT NOT NULL, total DOUBLE`. Values that are not JSON of
        this form go to the dead letters. Without it values are opaque bytes. `event_id`: the field
        by which tables tell that two events are one. `checks`: see `holdfast.flows.checks`.

        A creation that was interrupted can be repeated: the flow counts once it is registered,
        which comes last.
        """
        definition = FlowDefinition(
            name=self.name,
            partitions=partitions,
            created_at=_now(),
            start=start,
            overflow=overflow,
            limits=limits or Limits(),
            schema=schema,
            masks=tuple(masks),
            event_id=event_id,
            checks=tuple(checks),
        )
        brokers = len(describe_cluster(self._connection).brokers)
        make_table(self._connection, REGISTRY_TOPIC)
        if any(flow.name == self.name for flow in list_flows(self._connection)):
            raise AlreadyExistsError(f"There is a flow {self.name!r} already.")
        topics = Topics(self._connection)
        for plan in flow_topics(definition, brokers):
            make_topic(topics, plan)
        self._register(definition)
        return self

    def change(
        self,
        *,
        overflow: Overflow | None = None,
        limits: Limits | None = None,
        schema: str | None = None,
        masks: Sequence[str] | None = None,
        event_id: str | None = None,
        checks: Sequence[str] | None = None,
    ) -> FlowDefinition:
        """Change what may change of a flow; what is not given stays, and an empty schema or event
        id is none. Running parts follow."""
        self._definition = None  # somebody else may have changed it since it was read
        given = {
            "overflow": overflow,
            "limits": limits,
            "masks": None if masks is None else tuple(masks),
            "checks": None if checks is None else tuple(checks),
        }
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if schema is not None:
            changes["schema"] = schema or None
        if event_id is not None:
            changes["event_id"] = event_id or None
        definition = replace(self.describe(), **changes)
        self._register(definition)
        return definition

    def describe(self) -> FlowDefinition:
        """What was said of the flow when it was made, or NotFoundError."""
        if self._definition is None:
            found = {flow.name: flow for flow in list_flows(self._connection)}
            if self.name not in found:
                known = f" There are: {', '.join(sorted(found))}." if found else ""
                raise NotFoundError(f"There is no flow {self.name!r}.{known}")
            self._definition = found[self.name]
        return self._definition

    def hold(
        self,
        key: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Ask for every event of the key to be kept back, until a release or the expiry.

        Returns once the command is acknowledged: events of the key that are sent from then on do
        not come out. The same `command_id` twice is one command.
        """
        now = _now()
        return self._ask(
            Hold(
                **_signed(command_id, actor, now),
                key=key_bytes(key),
                reason=reason,
                expires_at=None if expires_in is None else now + _milliseconds(expires_in),
            )
        )

    def release(
        self,
        key: str | bytes,
        *,
        pace: float | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Ask for the key's held events to come out in order, at `pace` events a second."""
        signed = _signed(command_id, actor, _now())
        return self._ask(Release(**signed, key=key_bytes(key), pace=pace))

    def dead_letter(
        self,
        key: str | bytes,
        *,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Ask for what is held of the key at this point to go to the dead letters."""
        signed = _signed(command_id, actor, _now())
        return self._ask(DeadLetter(**signed, key=key_bytes(key), reason=reason))

    def void(self, offset: int, *, reason: str = "", actor: str | None = None) -> Receipt:
        """Let the gate pass an unreadable record of the control log."""
        return self._ask(Void(**_signed(None, actor, _now()), offset=offset, reason=reason))

    def status(self, key: str | bytes) -> KeyStatus:
        """The state of a key. ACTIVE if nobody has put it on hold."""
        wanted = key_bytes(key)
        for status in self.held():
            if status.key == wanted:
                return status
        return KeyStatus(wanted, KeyState.ACTIVE)

    def held(self) -> list[KeyStatus]:
        """Every key that is held or draining, by key."""
        self.describe()
        entries: dict[bytes, dict[int, Entry]] = {}
        with Consumer(self._connection, [self.names.status], group=None) as consumer:
            for record in consumer.records(until="end"):
                match decode_status(record.key, record.value):
                    case Entry() as entry:
                        entries.setdefault(entry.key, {})[record.partition] = entry
                    case Active(key):
                        entries.get(key, {}).pop(record.partition, None)
        return [_combined(key, found) for key, found in sorted(entries.items()) if found]

    def held_events(
        self, key: str | bytes, *, start: Place | None = None, limit: int = 100
    ) -> HeldPage:
        """Up to `limit` events that are held of a key, in the order in which they will come out;
        the next page begins where `following` says."""
        if limit < 1:
            raise InvalidArgumentError(f"A page has at least one event, not {limit}.")
        entries = self.status(key).entries
        return read_held(self._connection, self.names, entries, start=start, limit=limit)

    def _ask(self, command: Command) -> Receipt:
        partitions = self.describe().partitions  # also: a command to no flow must not make topics
        home = 0 if isinstance(command, Void) else partition_of(command.key, partitions)
        journal = Partition(self.names.journal, home)
        journal_end = Offsets(self._connection).ends([journal])[journal]
        delivered = self.append([command])[0].result()
        return Receipt(command, delivered.offset, self._connection, journal, journal_end)

    def append(self, commands: Iterable[Command]) -> list[Delivery]:
        """Hand commands over to the control log, in this order; each is requested once its
        delivery has a result. For many at once, and for those who follow the journal themselves:
        the flow must be known to exist."""
        records = [encode_command(command) for command in commands]
        producer = self._producer()
        return [producer.send(self.names.control, value, key) for key, value in records]

    def _register(self, definition: FlowDefinition) -> None:
        key, value = encode_flow(definition)
        self._producer().send(REGISTRY_TOPIC, value, key).result()
        self._definition = definition


def list_flows(connection: Connection) -> list[FlowDefinition]:
    """All registered flows, by name."""
    try:
        consumer = Consumer(connection, [REGISTRY_TOPIC], group=None)
    except NotFoundError:
        return []
    flows: dict[bytes | None, FlowDefinition] = {}
    with consumer:
        for record in consumer.records(until="end"):
            if record.value is None:
                flows.pop(record.key, None)
            else:
                flows[record.key] = decode_flow(record.key, record.value)
    return sorted(flows.values(), key=lambda flow: flow.name)


def _combined(key: bytes, entries: dict[int, Entry]) -> KeyStatus:
    held = any(entry.state == KeyState.HELD for entry in entries.values())
    state = KeyState.HELD if held else KeyState.DRAINING
    return KeyStatus(key, state, tuple(sorted(entries.items())))


def _signed(command_id: str | None, actor: str | None, at: int) -> dict[str, Any]:
    return {"id": command_id or str(uuid.uuid4()), "actor": actor or user_name(), "at": at}


def user_name() -> str:
    """Who runs this process: the actor of commands that name none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without a user entry, as in many containers
        return "unknown"


def _now() -> int:
    return round(time() * 1000)


def _milliseconds(duration: timedelta | float) -> int:
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if not 0 < seconds < 10**9:
        raise InvalidArgumentError(f"A hold expires after a positive time, not {seconds} s.")
    return max(1, round(seconds * 1000))
