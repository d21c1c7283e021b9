"""The thread that reads the topics of all flows into their views."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from holdfast.background import Background
from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.connection import Connection
from holdfast.client.flow_registry import FlowRegistry
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.clock import now_ms
from holdfast.errors import HoldfastError, InvalidRecordError, NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import REPORTS_TOPIC, Report, decode_report
from holdfast.flows.status import decode_status
from holdfast.views.audit import WINDOW, effective, requested
from holdfast.views.changes import ChangeKind, Changes
from holdfast.views.flow_view import FlowView
from holdfast.views.standstill import Standstill

log = logging.getLogger(__name__)

_CHUNK = 1_000
_TURN_SECONDS = 0.25
"""The longest time until a new flow is noticed."""
_RETRY_SECONDS = 10.0
_STUCK_SECONDS = 30.0
"""A broker sends existing records within moments: after this time, one is unreadable."""

_TUNING = {
    # A new flow waits for the end of the fetch before it, twice.
    "fetch.wait.max.ms": 200,
    "queued.max.messages.kbytes": 16 * 1024,
}


@dataclass(slots=True)
class _Followed:
    """A followed flow: its view, its partitions, and those not yet read to their end."""

    view: FlowView
    partitions: list[Partition]
    unread: set[Partition] = field(default_factory=set)
    moved_at: float = field(default_factory=monotonic)
    """The time of the last record."""


def with_arrival_time(report: Report, *, live: bool) -> Report:
    """The report with the time of its arrival, from which missing reports are detected: the
    pipeline's clock may be wrong. An older report (not `live`) keeps its time."""
    now = now_ms()
    return replace(report, at=now if live else min(report.at, now))


def publish_health(view: FlowView, changes: Changes) -> None:
    """Publish a flow's health among the changes of all flows, if it has changed."""
    health = view.changed_health()
    if health is not None:
        changes.append(ChangeKind.HEALTH, view.name, health)


class Follower:
    """Reads registry, status, control, journal and the pipeline's reports, from start to stop.

    After a failure everything is read again. Until then nothing is caught up, because the views
    would be stale.
    """

    def __init__(
        self, connection: Connection, flows: dict[str, FlowView], changes: Changes
    ) -> None:
        self.caught_up = Event()
        """All records that existed at the start were read."""
        self._connection = connection
        self._flows = flows
        self._changes = changes
        self._thread = Background("views", self._turn, restart=self._restart, close=self._close)
        self._consumer: Consumer | None = None
        self.standstill: Standstill | None = None
        """Set while the broker does not serve a turn. The views stay as they are."""
        self._begin_again()

    @property
    def failure(self) -> str:
        """Why the topics are not followed at the moment; empty if they are."""
        return self._thread.failure or (self.standstill.why if self.standstill else "")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.stop()

    def _begin_again(self) -> None:
        self._registry = FlowRegistry(self._connection)
        self._followed: dict[str, _Followed] = {}
        self._by_partition: dict[Partition, _Followed] = {}
        self._takers: dict[str, Callable[[Message], None]] = {}
        self._try_again_at: dict[str, float] = {}
        self._reports: dict[str, dict[str, Report]] = {}
        self._refused: set[Partition] = set()
        """Partitions that the broker has refused to serve. librdkafka reports that once."""
        self._report_topic = CompactedTopic(self._connection, REPORTS_TOPIC, self._take_report)

    def _restart(self) -> None:
        self.caught_up.clear()
        for name, view in list(self._flows.items()):  # open pages reload
            self._changes.append(ChangeKind.FLOW, name, view.definition)
        self._close()
        self._begin_again()

    def _close(self) -> None:
        self._registry.close()
        self._report_topic.close()
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _turn(self) -> None:
        try:
            self._follow_all()
            self.standstill = None
        except (HoldfastError, KafkaException) as error:  # the broker is away
            if self.standstill is None:
                log.warning("Views cannot be updated: %s", error)
            self.standstill = Standstill.after(self.standstill, f"views: {error}")
            self._thread.stopping.wait(1.0)

    def _follow_all(self) -> None:
        if self._consumer is None:
            # Records that retention has deleted cannot be shown: continue with the earliest.
            self._consumer = self._connection.reader(_TUNING, lost="earliest")
        consumer = self._consumer
        self._registry.poll(0)
        if self._registry.complete:
            self._follow_registry(consumer)
        self._report_topic.poll(0)
        for message in next_messages(consumer, _CHUNK, _TURN_SECONDS):
            self._take(message)
        self._check_refused()
        self._skip_unreadable()
        unread = any(followed.unread for followed in self._followed.values())
        if self._registry.complete and self._report_topic.complete and not unread:
            for name in self._flows.keys() - self._followed.keys():
                self._flows.pop(name, None)  # removed during the restart
            self.caught_up.set()

    def _check_refused(self) -> None:
        """Raise if the broker still refuses a partition."""
        for partition in sorted(self._refused):
            try:
                Offsets(self._connection).ends([partition])
            except NotFoundError:
                pass  # a flow without topics must not affect the others
            self._refused.discard(partition)

    def _skip_unreadable(self) -> None:
        """An unreadable batch must not hide all flows: librdkafka stops before it without an error.
        Its flow is shown as far as it was read."""
        for followed in self._followed.values():
            if not followed.unread or monotonic() - followed.moved_at < _STUCK_SECONDS:
                continue
            # Raises if the broker is the cause.
            Offsets(self._connection).ends(followed.partitions)
            log.error(
                "The flow %s is shown without the unreadable records of %s",
                followed.view.name, ", ".join(map(str, sorted(followed.unread))),
            )  # fmt: skip
            for partition in list(followed.unread):
                self._reach_end(partition)

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
        """A flow that cannot be followed, as one without topics, must not affect the others."""
        try:
            self._begin(consumer, flow)
        except NotFoundError as error:
            if flow.name not in self._try_again_at:
                log.warning("The flow %s cannot be shown: %s", flow.name, error)
            self._try_again_at[flow.name] = monotonic() + _RETRY_SECONDS
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
        for partition in journal:
            begin[partition] = max(starts[partition], ends[partition] - WINDOW // flow.partitions)
        view = FlowView(flow, control_from=begin[control])
        for partition in (control, *journal):
            if begin[partition] > starts[partition]:
                view.skip("control" if partition is control else "journal", partition.number)
        followed = _Followed(view, list(begin), set(begin))
        self._takers |= {
            names.control: lambda message: self._take_control(view, message),
            names.journal: lambda message: self._take_journal(view, message),
            names.status: lambda message: self._take_status(view, message),
        }
        self._by_partition |= dict.fromkeys(begin, followed)
        self._followed[flow.name] = followed
        for report in self._reports.get(flow.name, {}).values():
            view.take_report(report)
        consumer.incremental_assign([partition.at(offset) for partition, offset in begin.items()])

    def _forget(self, consumer: Consumer, followed: _Followed) -> None:
        name = followed.view.name
        consumer.incremental_unassign([partition.at(0) for partition in followed.partitions])
        for partition in followed.partitions:
            del self._by_partition[partition]
            self._refused.discard(partition)
            self._takers.pop(partition.topic, None)
        del self._followed[name]
        self._flows.pop(name, None)
        self._changes.append(ChangeKind.FLOW, name, None)

    def _take(self, message: Message) -> None:
        partition = Partition(message.topic() or "", message.partition() or 0)
        error = message.error()
        if error is None:
            self._hand_over(partition, message)
        elif error.code() == KafkaError._PARTITION_EOF:
            self._reach_end(partition)
        else:
            log.info("Views: %s", error.str())
            if partition in self._by_partition:
                self._refused.add(partition)

    def _hand_over(self, partition: Partition, message: Message) -> None:
        if (followed := self._by_partition.get(partition)) is not None:
            followed.moved_at = monotonic()
        taker = self._takers.get(partition.topic)
        if taker is None:
            return  # of a flow that was just removed
        try:
            taker(message)
        except InvalidRecordError as error:
            log.warning("Offset %s of %s: %s", message.offset(), partition, error)
        except Exception:
            # One record must not stop the view of all others.
            log.exception("Offset %s of %s was left out", message.offset(), partition)

    def _reach_end(self, partition: Partition) -> None:
        followed = self._by_partition.get(partition)
        if followed is None or not followed.unread:
            return
        followed.unread.discard(partition)
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
        report = with_arrival_time(decode_report(key, value), live=self._report_topic.complete)
        self._reports.setdefault(report.flow, {})[report.part] = report
        followed = self._followed.get(report.flow)
        if followed is not None:
            followed.view.take_report(report)
            publish_health(followed.view, self._changes)
