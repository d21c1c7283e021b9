"""The thread of one hook: reads journals and reports, delivers events, and tries again.

Offsets are committed after an event was delivered or given up, so every event is delivered at least
once, whatever web processes start and end. Events of one partition are delivered in order.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from holdfast.background import Background
from holdfast.backoff import Backoff
from holdfast.client.connection import Connection
from holdfast.clock import now_ms
from holdfast.errors import InvalidRecordError
from holdfast.flows.journal import decode_journal
from holdfast.flows.reports import REPORTS_TOPIC, decode_report
from holdfast.hooks.delivery import Delivery, deliver
from holdfast.hooks.event import HookEvent, Requester, event_of_journal
from holdfast.hooks.gate_watch import GateWatch
from holdfast.hooks.hook import EventKind, Hook

log = logging.getLogger(__name__)

GIVE_UP_MS = 24 * 3_600_000
"""An event is tried for a day. One that was found later, after an outage of web, is tried once."""
_FIRST_SECONDS, _LONGEST_SECONDS = 1.0, 60.0
"""Pauses between attempts. The longest is well below `max.poll.interval.ms`, so the member stays in
its group."""
_TURN_SECONDS = 0.5
_CHUNK = 200
_REQUEST_SECONDS = 15.0

Journals = Callable[[], dict[str, str]]
"""Flows by the topic of their journal."""
Log = Callable[[Delivery], None]


@dataclass(slots=True)
class _Due:
    """An event to deliver, and the offset to commit after it."""

    event: HookEvent
    done: TopicPartition | None
    attempt: int = 1


class HookFollower:
    """Delivers the events of one hook from `start` to `stop`."""

    def __init__(
        self,
        connection: Connection,
        hook: Hook,
        journals: Journals,
        requester: Requester,
        next_number: Callable[[], int],
        log_delivery: Log,
        *,
        backoff: Backoff | None = None,
    ) -> None:
        self.hook = hook
        self._connection = connection
        self._journals = journals
        self._requester = requester
        self._next_number = next_number
        self._log = log_delivery
        self._backoff = backoff or Backoff(_FIRST_SECONDS, _LONGEST_SECONDS)
        self._thread = Background(
            f"hook {hook.name}", self._turn, restart=self._begin_again, close=self._close
        )
        self._consumer: Consumer | None = None
        self._topics: list[str] = []
        self._due: deque[_Due] = deque()
        self._read: dict[tuple[str, int], int] = {}
        """Offsets to commit, of records that no event came of."""
        self._watch = GateWatch()
        self._reports_done = 0
        """Reports below this offset were handled before this process started."""

    @property
    def failure(self) -> str:
        return self._thread.failure

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        self._thread.stop(timeout)

    def _begin_again(self) -> None:
        self._close()
        self._due.clear()
        self._read.clear()
        self._watch = GateWatch()

    def _close(self) -> None:
        if self._consumer is not None:
            consumer, self._consumer, self._topics = self._consumer, None, []
            consumer.close()

    def _turn(self) -> None:
        consumer = self._subscribed()
        if consumer is None:
            self._thread.stopping.wait(_TURN_SECONDS)
            return
        if self._due:
            self._attempt(consumer, self._due[0])
            return
        for message in consumer.consume(_CHUNK, _TURN_SECONDS):
            self._take(message)
        if EventKind.STOPPED in self.hook.on:
            self._due += [_Due(event, None) for event in self._watch.silent(now_ms())]
        if not self._due:
            self._commit_read(consumer)

    def _subscribed(self) -> Consumer | None:
        topics = sorted([*self._journals(), REPORTS_TOPIC])
        if self._consumer is None:
            settings = {
                "group.id": self.hook.group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "allow.auto.create.topics": False,
                "topic.metadata.refresh.interval.ms": 5_000,
            }
            self._consumer = self._connection.make(Consumer, settings)
        if topics != self._topics and not self._due:
            self._consumer.subscribe(topics, on_assign=self._assigned, on_revoke=self._revoked)
            self._topics = topics
        return self._consumer

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Begins each partition at its committed offset; at the hook's creation, if it has none."""
        known = consumer.committed(partitions, _REQUEST_SECONDS)
        fresh = [
            TopicPartition(each.topic, each.partition, self.hook.created_at)
            for each in known
            if each.offset < 0 and each.topic != REPORTS_TOPIC
        ]
        found = consumer.offsets_for_times(fresh, _REQUEST_SECONDS) if fresh else []
        starts = {(each.topic, each.partition): each.offset for each in [*known, *found]}
        if (REPORTS_TOPIC, 0) in starts:  # read as a whole: the watch must know every gate
            self._reports_done = max(0, starts[REPORTS_TOPIC, 0])
            starts[REPORTS_TOPIC, 0] = 0
            self._watch = GateWatch()
        consumer.assign([TopicPartition(*place, offset) for place, offset in starts.items()])

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Another member continues with them: from the last commit, so nothing is left out."""
        gone = {(each.topic, each.partition) for each in partitions}
        self._due = deque(
            due for due in self._due
            if due.done is None or (due.done.topic, due.done.partition) not in gone
        )  # fmt: skip
        self._read = {place: offset for place, offset in self._read.items() if place not in gone}

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() not in (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART):
                raise KafkaException(error)
            return
        topic, partition = message.topic() or "", message.partition() or 0
        offset = message.offset() or 0
        try:
            event = self._event(message, topic, partition, offset)
        except InvalidRecordError as invalid:
            log.warning("Offset %s of %s-%s: %s", offset, topic, partition, invalid)
            event = None
        if event is not None and event.kind in self.hook.on:
            self._due.append(_Due(event, TopicPartition(topic, partition, offset + 1)))
        elif not any(d.done and (d.done.topic, d.done.partition) == (topic, partition)
                     for d in self._due):  # fmt: skip
            self._read[topic, partition] = offset + 1

    def _event(self, message: Message, topic: str, partition: int, offset: int) -> HookEvent | None:
        if topic == REPORTS_TOPIC:
            if message.value() is None:
                return None
            report = decode_report(message.key(), message.value())
            return self._watch.take(report, now=now_ms(), is_new=offset >= self._reports_done)
        flow = self._journals().get(topic)
        record = decode_journal(message.key(), message.value())
        if flow is None or message.timestamp()[1] < self.hook.created_at:
            return None
        return event_of_journal(flow, partition, offset, record, self._requester)

    def _attempt(self, consumer: Consumer, due: _Due) -> None:
        """Delivers the first event; after a failure, waits before the next attempt."""
        now = now_ms()
        delivery = deliver(
            self.hook, due.event, attempt=due.attempt, number=self._next_number(), now=now
        )
        given_up = not delivery.delivered and now - due.event.at > GIVE_UP_MS
        self._log(replace(delivery, given_up=given_up))
        if delivery.delivered or given_up:
            self._backoff.reset()
            self._due.popleft()
            self._commit_done(consumer, due)
            return
        due.attempt += 1
        self._thread.stopping.wait(self._backoff.next())
        self._stay_in_group(consumer)

    def _stay_in_group(self, consumer: Consumer) -> None:
        """Polls without taking records: whoever does not poll for minutes loses its partitions."""
        assigned = consumer.assignment()
        consumer.pause(assigned)
        message = consumer.poll(0)
        if message is not None and message.error() is None:  # fetched before the pause
            self._take(message)
        consumer.resume(consumer.assignment())

    def _commit_done(self, consumer: Consumer, due: _Due) -> None:
        if due.done is not None:
            self._read.pop((due.done.topic, due.done.partition), None)
            consumer.commit(offsets=[due.done], asynchronous=False)

    def _commit_read(self, consumer: Consumer) -> None:
        if self._read:
            offsets = [TopicPartition(*place, offset) for place, offset in self._read.items()]
            self._read = {}
            consumer.commit(offsets=offsets, asynchronous=False)
