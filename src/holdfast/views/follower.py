"""The thread that reads the topics of all flows into their views."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from holdfast.client.connection import Connection
from holdfast.client.flow_registry import FlowRegistry
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.client.table import Table
from holdfast.errors import HoldfastError, InvalidRecordError, NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import REPORTS_TOPIC, Report, decode_report
from holdfast.flows.status import decode_status
from holdfast.views.audit import WINDOW, effective, requested
from holdfast.views.changes import ChangeKind, Changes
from holdfast.views.flow_view import FlowView

log = logging.getLogger(__name__)

_CHUNK = 1_000
_TURN_S = 0.25
"""How long a new flow may go unseen."""
_TRY_AGAIN_S = 10.0

_READER = {
    # Never joined: librdkafka wants a name all the same.
    "group.id": "holdfast.reader",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # A view shows what there is: what retention took is not there to be shown.
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    # A flow that is new waits for the fetch before it to end, twice.
    "fetch.wait.max.ms": 200,
    "queued.max.messages.kbytes": 16 * 1024,
}


@dataclass(slots=True)
class _Followed:
    """A flow that is read: its view, its places, and which of them are yet to be read through."""

    view: FlowView
    places: list[Partition]
    unread: set[Partition] = field(default_factory=set)


def tell_health(view: FlowView, changes: Changes) -> None:
    """Tell of a flow's health where all flows are told of, if it is another than before."""
    health = view.changed_health()
    if health is not None:
        changes.append(ChangeKind.HEALTH, view.name, health)


class Follower:
    """Reads registry, status, control, journal and the pipeline's reports, from start to stop."""

    def __init__(
        self, connection: Connection, flows: dict[str, FlowView], changes: Changes
    ) -> None:
        self.caught_up = Event()
        """Everything that was there at the start has been read."""
        self._connection = connection
        self._flows = flows
        self._changes = changes
        self._registry = FlowRegistry(connection)
        self._followed: dict[str, _Followed] = {}
        self._by_place: dict[Partition, _Followed] = {}
        self._takers: dict[str, Callable[[Message], None]] = {}
        self._try_again_at: dict[str, float] = {}
        self._reports: dict[str, dict[str, Report]] = {}
        self._report_table = Table(connection, REPORTS_TOPIC, self._take_report)
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="views", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        consumer = self._connection.make(Consumer, _READER)
        try:
            while not self._stopping.is_set():
                try:
                    self._turn(consumer)
                except (HoldfastError, KafkaException) as error:
                    log.warning("Views cannot go on just now: %s", error)
                    self._stopping.wait(1.0)
        finally:
            self._registry.close()
            self._report_table.close()
            consumer.close()

    def _turn(self, consumer: Consumer) -> None:
        self._registry.poll(0)
        if self._registry.complete:
            self._follow_registry(consumer)
        self._report_table.poll(0)
        for message in next_messages(consumer, _CHUNK, _TURN_S):
            self._take(message)
        unread = any(followed.unread for followed in self._followed.values())
        if self._registry.complete and self._report_table.complete and not unread:
            self.caught_up.set()

    def _follow_registry(self, consumer: Consumer) -> None:
        registered = self._registry.flows
        for name, followed in list(self._followed.items()):
            flow = registered.get(name)
            if flow is None or flow.created_at != followed.view.definition.created_at:
                self._forget(consumer, followed)
            elif flow != followed.view.definition:
                followed.view.define(flow)
                self._changes.append(ChangeKind.FLOW, name, flow)
        for name, flow in registered.items():
            if name not in self._followed and self._try_again_at.get(name, 0.0) <= monotonic():
                self._try_to_begin(consumer, flow)

    def _try_to_begin(self, consumer: Consumer, flow: FlowDefinition) -> None:
        """A flow that cannot be followed, say because its topics are gone, is in nobody's way."""
        try:
            self._begin(consumer, flow)
        except NotFoundError as error:
            if flow.name not in self._try_again_at:
                log.warning("The flow %s cannot be shown: %s", flow.name, error)
            self._try_again_at[flow.name] = monotonic() + _TRY_AGAIN_S
        else:
            self._try_again_at.pop(flow.name, None)

    def _begin(self, consumer: Consumer, flow: FlowDefinition) -> None:
        names = flow.names
        control = Partition(names.control, 0)
        journal = [Partition(names.journal, p) for p in range(flow.partitions)]
        status = [Partition(names.status, p) for p in range(flow.partitions)]
        offsets = Offsets(self._connection)
        starts, ends = offsets.starts([control, *journal]), offsets.ends([control, *journal])
        begin = dict.fromkeys(status, 0)
        begin[control] = max(starts[control], ends[control] - WINDOW)
        for place in journal:
            begin[place] = max(starts[place], ends[place] - WINDOW // flow.partitions)
        view = FlowView(flow, control_from=begin[control])
        for place in (control, *journal):
            if begin[place] > starts[place]:
                view.skip("control" if place is control else "journal", place.number)
        followed = _Followed(view, list(begin), set(begin))
        self._takers |= {
            names.control: lambda message: self._take_control(view, message),
            names.journal: lambda message: self._take_journal(view, message),
            names.status: lambda message: self._take_status(view, message),
        }
        self._by_place |= dict.fromkeys(begin, followed)
        self._followed[flow.name] = followed
        for report in self._reports.get(flow.name, {}).values():
            view.take_report(report)
        consumer.incremental_assign([place.at(offset) for place, offset in begin.items()])

    def _forget(self, consumer: Consumer, followed: _Followed) -> None:
        name = followed.view.name
        consumer.incremental_unassign([place.at(0) for place in followed.places])
        for place in followed.places:
            del self._by_place[place]
            self._takers.pop(place.topic, None)
        del self._followed[name]
        self._flows.pop(name, None)
        self._changes.append(ChangeKind.FLOW, name, None)

    def _take(self, message: Message) -> None:
        place = Partition(message.topic() or "", message.partition() or 0)
        error = message.error()
        if error is None:
            self._hand_over(place, message)
        elif error.code() == KafkaError._PARTITION_EOF:
            self._reach_end(place)
        else:
            log.info("Views: %s", error.str())

    def _hand_over(self, place: Partition, message: Message) -> None:
        taker = self._takers.get(place.topic)
        if taker is None:
            return  # of a flow that has just gone
        try:
            taker(message)
        except InvalidRecordError as error:
            log.warning("Offset %s of %s: %s", message.offset(), place, error)
        except Exception:
            # One record that trips us must not freeze what is shown of all others.
            log.exception("Offset %s of %s was left out", message.offset(), place)

    def _reach_end(self, place: Partition) -> None:
        followed = self._by_place.get(place)
        if followed is None or not followed.unread:
            return
        followed.unread.discard(place)
        if not followed.unread:
            view = followed.view
            view.go_live()
            self._flows[view.name] = view
            self._changes.append(ChangeKind.FLOW, view.name, view.definition)

    def _take_control(self, view: FlowView, message: Message) -> None:
        view.take_audit(
            requested(message.offset() or 0, message.timestamp()[1], message.key(), message.value())
        )

    def _take_journal(self, view: FlowView, message: Message) -> None:
        view.take_audit(
            effective(
                message.partition() or 0, message.offset() or 0, message.timestamp()[1],
                message.key(), message.value(),
            )
        )  # fmt: skip

    def _take_status(self, view: FlowView, message: Message) -> None:
        view.take_status(message.partition() or 0, decode_status(message.key(), message.value()))

    def _take_report(self, key: bytes | None, value: bytes | None) -> None:
        if value is None:
            return
        report = decode_report(key, value)
        self._reports.setdefault(report.flow, {})[report.part] = report
        followed = self._followed.get(report.flow)
        if followed is not None:
            followed.view.take_report(report)
            tell_health(followed.view, self._changes)
