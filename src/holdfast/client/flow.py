"""Flows: create them, and hold, release and dead-letter their keys."""

import getpass
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import TypedDict, Unpack

from holdfast.client.cluster import describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.delivery import Delivery
from holdfast.client.flow_registry import list_flows
from holdfast.client.flow_states import FlowStates, read_holds, read_states
from holdfast.client.held import HeldPage, HeldPosition, read_held
from holdfast.client.planned_topics import make_table, make_topic
from holdfast.client.positions import Offsets, Partition
from holdfast.client.producer import Producer
from holdfast.client.receipt import Effect, Receipt, effects_of
from holdfast.client.topics import Topics
from holdfast.clock import now_ms
from holdfast.errors import AlreadyExistsError, ConflictError, InvalidArgumentError, NotFoundError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command, ScopeCommand, Skip, encode_command, key_of
from holdfast.flows.holds import (
    WHOLE_FLOW,
    StandingHold,
    holds_of_key,
    own_or_only,
    prefix_text,
)
from holdfast.flows.keys import key_bytes, partition_of
from holdfast.flows.names import REGISTRY_TOPIC, FlowNames
from holdfast.flows.options import options_of
from holdfast.flows.registry import (
    FlowDefinition,
    Limits,
    Overflow,
    Start,
    Then,
    encode_flow,
)
from holdfast.flows.status import KeyStatus, PrefixStatus
from holdfast.flows.topics import EVENTS_MAX_BYTES, flow_topics


class FlowChanges(TypedDict, total=False):
    """The options of a flow that can be changed, as `FlowDefinition` declares them."""

    overflow: Overflow | None
    limits: Limits | Mapping[str, int] | None
    schema: str | None
    masks: Sequence[str] | None
    event_id: str | None
    checks: Sequence[str] | None
    require_reasons: bool | None
    sending: bool | None


class FlowOptions(FlowChanges, total=False):
    """The options of a new flow."""

    partitions: int
    start: Start


class Flow:
    """One flow, by name.

    >>> flow = client.flow(flow_name).create(partitions=6)
    >>> receipt = flow.hold("customer-7", reason="disputed", expires_in=3600)
    >>> receipt.offset
    0
    >>> flow.status("customer-7").state     # until the pipeline has applied it
    <KeyState.ACTIVE: 'ACTIVE'>
    """

    def __init__(self, connection: Connection, name: str, producer: Callable[[], Producer]) -> None:
        self.name = name
        self.names = FlowNames(name)
        self._connection = connection
        self._producer = producer
        self._definition: FlowDefinition | None = None

    def create(self, **options: Unpack[FlowOptions]) -> "Flow":
        """Create the flow's topics and register it. Existing topics must fit.

        `FlowDefinition` explains the options. Those that are left out have its defaults: 6
        partitions, no schema, no masks, no checks.

        An interrupted creation can be repeated: the flow exists once it is registered, which is
        the last step.
        """
        definition = FlowDefinition(name=self.name, created_at=now_ms()).with_options(options)
        return self._create(definition, EVENTS_MAX_BYTES)

    def create_guard(
        self,
        topic: str,
        *,
        start: Start = "earliest",
        attempts: int | None = None,
        backoff: str | None = None,
        then: Then | None = None,
        overflow: Overflow = "block",
        limits: Limits | None = None,
        masks: Sequence[str] = (),
        require_reasons: bool = False,
    ) -> "Flow":
        """Create a guard: a flow that gives the events of `topic` to a handler. See
        `holdfast.Guard`.

        `attempts`: how often an event is tried. `backoff`: the first and the longest pause between
        attempts, as in `1s..10m`. `then`: what follows the last attempt.
        """
        topics = Topics(self._connection)
        config = topics.config(topic)
        if "compact" in config["cleanup.policy"].value:
            raise ConflictError(f"{topic!r} is compacted: events vanish before they are handled.")
        definition = FlowDefinition(
            name=self.name,
            partitions=topics.describe(topic).partitions,
            created_at=now_ms(),
            start=start,
            overflow=overflow,
            limits=limits or Limits(),
            masks=tuple(masks),
            require_reasons=require_reasons,
            sending=False,
            topic=topic,
            attempts=attempts,
            backoff=backoff,
            then=then,
        )
        return self._create(definition, int(config["max.message.bytes"].value))

    def _create(self, definition: FlowDefinition, event_bytes: int) -> "Flow":
        brokers = len(describe_cluster(self._connection).brokers)
        make_table(self._connection, REGISTRY_TOPIC)
        if any(flow.name == self.name for flow in list_flows(self._connection)):
            raise AlreadyExistsError(f"There is a flow {self.name!r} already.")
        topics = Topics(self._connection)
        for plan in flow_topics(definition, brokers, event_bytes):
            make_topic(topics, plan)
        self._register(definition)
        return self

    def change(self, **options: Unpack[FlowChanges]) -> FlowDefinition:
        """Change options of a flow. Those that are left out or None stay; an empty schema or event
        id removes it. `limits`: the limits to change by name, e.g. `{"key_events": 100}`. Running
        parts apply the change."""
        for field, option in options_of(FlowDefinition):
            if option.fixed and field.name in options:
                raise InvalidArgumentError(f"{field.name!r} of a flow cannot be changed.")
        self._definition = None  # another client may have changed it
        definition = self.describe().with_options(options)
        self._register(definition)
        return definition

    def describe(self) -> FlowDefinition:
        """The definition of the flow, or NotFoundError."""
        if self._definition is None:
            flows = {flow.name: flow for flow in list_flows(self._connection)}
            if self.name not in flows:
                known = f" There are: {', '.join(sorted(flows))}." if flows else ""
                raise NotFoundError(f"There is no flow {self.name!r}.{known}")
            self._definition = flows[self.name]
        return self._definition

    def hold(
        self,
        key: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        name: str | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Hold all events of the key until a release or the expiry.

        Returns once the command is acknowledged: events of the key that are sent after that are
        held. Commands with the same `command_id` count once.

        A key may have several holds: it is held until the last has ended. `name`: the hold's name,
        by default the actor's. A hold of a name that the key has changes that one, and no other.
        """
        self.describe().check_reason(reason)
        commands = _commands_of(actor, command_id)
        return self._request(commands.hold(key, reason=reason, expires_in=expires_in, name=name))

    def release(
        self,
        key: str | bytes,
        *,
        pace: float | None = None,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """End holds of the key. With the last one its held events are released in order, at `pace`
        events a second; `Effect.remaining` has those that still stand.

        `holds`: the names of the holds to end. Unless given, the actor's own, or the only one;
        ChooseHoldError if others have several. `every`: end all of them, which needs a reason.
        """
        self.describe().check_reason(reason)
        commands = _commands_of(actor, command_id)
        if holds is None and not every:
            home = partition_of(key_bytes(key), self.describe().partitions)
            status = Partition(self.names.status, home)
            standing = holds_of_key(read_holds(self._connection, status, key_bytes(key)))
            meant = own_or_only(standing, commands.actor)
            holds = [hold.name for hold in meant] or None
        return self._request(
            commands.release(key, pace=pace, holds=holds, every=every, reason=reason)
        )

    def hold_prefix(
        self,
        prefix: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        name: str | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Hold all events of all keys that begin with `prefix`, whether or not an event of them was
        seen, until a release of the prefix or the expiry. As `hold` otherwise. Holds of single keys
        stand beside it."""
        self._check_scopes(reason)
        commands = _commands_of(actor, command_id)
        return self._request(
            commands.hold_prefix(prefix, reason=reason, expires_in=expires_in, name=name)
        )

    def release_prefix(
        self,
        prefix: str | bytes,
        *,
        pace: float | None = None,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """End holds of a prefix, as one. Its keys without another hold drain, each at `pace`.
        `holds` and `every`: as for `release`."""
        self.describe().check_reason(reason)
        commands = _commands_of(actor, command_id)
        prefix = key_bytes(prefix)
        if holds is None and not every:
            standing = self._states().holds_of_scope(prefix)
            whose = f"The prefix {prefix_text(prefix)}"
            holds = [hold.name for hold in own_or_only(standing, commands.actor, whose)] or None
        return self._request(
            commands.release_prefix(prefix, pace=pace, holds=holds, every=every, reason=reason)
        )

    def pause(
        self,
        *,
        reason: str = "",
        name: str | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Pause the whole flow: no events are taken, they wait in `<flow>.events`. Held rows do not
        leave for processed either. Commands are applied meanwhile.

        A flow may have several pauses, each with a name, by default the actor's: it is paused until
        the last was ended.
        """
        self._check_scopes(reason)
        return self._request(_commands_of(actor, command_id).pause(reason=reason, name=name))

    def resume(
        self,
        *,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """End pauses of the flow; with the last one events are taken again. `holds`: the names of
        the pauses to end, as for `release`."""
        self.describe().check_reason(reason)
        commands = _commands_of(actor, command_id)
        if holds is None and not every:
            meant = own_or_only(self.pauses(), commands.actor, "The flow")
            holds = [hold.name for hold in meant] or None
        return self._request(commands.resume(holds=holds, every=every, reason=reason))

    def dead_letter(
        self,
        key: str | bytes,
        *,
        reason: str = "",
        first: bool = False,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Send the events of the key that are held at this point to the dead letters. `first`: only
        the first one, which a guard has failed to handle; it goes on with the others."""
        self.describe().check_reason(reason)
        self.describe().check_first(first)
        commands = _commands_of(actor, command_id)
        return self._request(commands.dead_letter(key, reason=reason, first=first))

    def void(self, offset: int, *, reason: str = "", actor: str | None = None) -> Receipt:
        """Let the gate pass an unreadable record of the control log."""
        return self._request(_commands_of(actor).void(offset, reason=reason))

    def skip(
        self,
        partition: int,
        first: int,
        last: int,
        *,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Let the gate skip unreadable events: those from offset `first` to `last` of a partition
        of `<flow>.events`. They are lost, and the journal records it.

        The gate names these offsets when it stops. Other offsets have no effect, and the effect
        gives the reason.
        """
        commands = _commands_of(actor, command_id)
        partitions = self.describe().partitions
        return self._request(
            commands.skip(partition, first, last, reason=reason, partitions=partitions)
        )

    def status(self, key: str | bytes) -> KeyStatus:
        """The state of a key. ACTIVE if neither it nor a prefix of it is on hold."""
        return self._states().status_of(key_bytes(key))

    def held(self) -> list[KeyStatus]:
        """Every key that is held or draining, by key. A key that only a prefix holds is there once
        an event of it was held."""
        return self._states().held_keys()

    def prefixes(self) -> list[PrefixStatus]:
        """Every prefix that is held, with the keys that it holds."""
        return self._states().held_prefixes()

    def pauses(self) -> tuple[StandingHold, ...]:
        """The pauses of the flow, newest first; none if it is not paused."""
        return self._states().holds_of_scope(WHOLE_FLOW)

    def _check_scopes(self, reason: str) -> None:
        definition = self.describe()
        definition.check_scopes()
        definition.check_reason(reason)

    def _states(self) -> FlowStates:
        self.describe()
        return read_states(self._connection, self.names.status)

    def held_events(
        self, key: str | bytes, *, start: HeldPosition | None = None, limit: int = 100
    ) -> HeldPage:
        """Up to `limit` held events of a key, in the order of their release. `following` is the
        start of the next page."""
        if limit < 1:
            raise InvalidArgumentError(f"A page has at least one event, not {limit}.")
        entries = self.status(key).entries
        return read_held(self._connection, self.names, entries, start=start, limit=limit)

    def _request(self, command: Command) -> Receipt:
        return self.request([command])[0]

    def request(self, commands: Sequence[Command]) -> list[Receipt]:
        """Send commands to the control log, in this order; returns when all are acknowledged. For
        many keys at once: see `CommandBuilder` and `effects_of`."""
        partitions = self.describe().partitions  # raises if there is no such flow
        journals = [
            [Partition(self.names.journal, p) for p in _answering(command, partitions)]
            for command in commands
        ]
        ends = Offsets(self._connection).ends(list(dict.fromkeys(chain(*journals))))
        deliveries = self.append(commands)
        return [
            Receipt(
                command,
                delivery.result().offset,
                self._connection,
                {journal: ends[journal] for journal in answering},
            )
            for command, answering, delivery in zip(commands, journals, deliveries, strict=True)
        ]

    def actor(self, given: str | None) -> str:
        """The actor of commands: the one that is given, or the user of this process."""
        return given or user_name()

    def effects(self, receipts: Sequence[Receipt], timeout: float) -> list[Effect | None]:
        """The effect of each receipt, in order; None for those not known within `timeout`
        seconds."""
        return effects_of(receipts, timeout)

    def append(self, commands: Iterable[Command]) -> list[Delivery]:
        """Send commands to the control log, in this order; each is requested once its delivery has
        a result. For many at once, and for callers that follow the journal themselves. The flow
        must exist."""
        records = [encode_command(command) for command in commands]
        producer = self._producer()
        return [producer.send(self.names.control, value, key) for key, value in records]

    def _register(self, definition: FlowDefinition) -> None:
        key, value = encode_flow(definition)
        self._producer().send(REGISTRY_TOPIC, value, key).result()
        self._definition = definition


def _answering(command: Command, partitions: int) -> Sequence[int]:
    """The partitions that answer a command."""
    key = key_of(command)
    if key is not None:
        return [partition_of(key, partitions)]
    if isinstance(command, ScopeCommand):
        return range(partitions)
    return [command.partition if isinstance(command, Skip) else 0]


def _commands_of(actor: str | None, command_id: str | None = None) -> CommandBuilder:
    return CommandBuilder(actor or user_name(), now_ms(), command_id)


def user_name() -> str:
    """The user of this process: the actor of commands that name none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without a user entry, as in many containers
        return "unknown"
