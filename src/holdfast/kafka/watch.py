"""The ends of many logs, watched by one waiting request per broker.

At rest the cost does not depend on the number of logs: a fetch over all of them waits at the broker
until one of them has grown. The reply has the end of each log. Its records are dropped.
"""

import logging
import select
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic, thread_time

from confluent_kafka import KafkaError

from holdfast.backoff import Backoff
from holdfast.client.settings import ClientSettings
from holdfast.errors import (
    EventsLostError,
    HoldfastError,
    TimedOutError,
    TransientError,
    UnavailableError,
)
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.connection import BrokerConnection
from holdfast.kafka.fetch import FETCH, READ_COMMITTED, READ_UNCOMMITTED
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from holdfast.wire.protocol.generated.fetch_response import PartitionData

log = logging.getLogger(__name__)

_WAIT_MS = 2_000
_NEW_WAIT_MS = 50
"""While logs are being added: a request that waits does not know of them."""
_NEW_SECONDS = 3.0
_LOOK_AGAIN_SECONDS = 10.0
"""Until topics are looked up again: they may have more partitions."""
_ASIDE_SECONDS = 0.5
"""Until a log that cannot be read is asked for again. It must not delay the others."""
_AVOIDED = 4.0
"""A broker that could not be reached is avoided for this many times as long as the attempt took:
the one thread that watches must not spend its time on it."""
_SHORTEST_PAUSE_SECONDS = 0.003
_LONGEST_PAUSE_SECONDS = 0.05
_DUTY = 12.0
"""After a reply with news the pause is this many times as long as the work on it."""
_BUSY_SECONDS = 1.0
_LONGEST_BACKOFF_SECONDS = 1.0

TopicPartition = tuple[str, int]
Moved = Callable[[Mapping[int, int]], None]
"""Called with the new end of each partition that has grown."""
Failed = Callable[[HoldfastError], None]
"""Called with the reason why a log is not watched now. EventsLostError: it has no records at the
offset from which it is watched."""


@dataclass(slots=True)
class _Log:
    """A topic that is watched."""

    ends: dict[int, int] = field(default_factory=dict)
    """The last known end of each partition."""
    listeners: dict[int, tuple[Moved, Failed]] = field(default_factory=dict)
    aside: dict[int, float] = field(default_factory=dict)
    """Partitions that are not asked for, and until when."""
    moved_at: float = 0.0

    def moved(self, ends: Mapping[int, int]) -> None:
        for moved, _ in list(self.listeners.values()):
            moved(ends)

    def failed(self, error: HoldfastError) -> None:
        for _, failed in list(self.listeners.values()):
            try:
                failed(error)
            except Exception:  # one listener must not end the thread that wakes all flows
                log.exception("A listener could not take the failure %r", str(error))


class KnownEnds:
    """The ends of one topic's partitions, as a listener of the watch has heard them. For any
    thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ends: dict[int, int] = {}

    def begin(self, starts: Mapping[int, int]) -> None:
        """Forget all ends but these."""
        with self._lock:
            self._ends = dict(starts)

    def advance(self, ends: Mapping[int, int]) -> None:
        """The watch may deliver an older end after a newer one."""
        with self._lock:
            self._ends.update({p: max(end, self._ends.get(p, end)) for p, end in ends.items()})

    def current(self) -> dict[int, int]:
        with self._lock:
            return dict(self._ends)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A listener of one topic, until it is cancelled."""

    watch: "LogWatch"
    topic: str
    number: int

    def cancel(self) -> None:
        self.watch.remove(self)


class LogWatch:
    """Watches logs of one cluster on a thread of its own, which `add` starts. The callbacks run on
    that thread, so they must not wait."""

    def __init__(self, settings: ClientSettings, *, committed: bool) -> None:
        """`committed`: ends are last stable offsets, and else high watermarks."""
        self._cluster = ClusterClient(settings)
        self._committed = committed
        self._lock = Lock()
        self._logs: dict[str, _Log] = {}
        self._added = 0
        self._added_at = 0.0
        self._waiting: dict[BrokerConnection, tuple[str, float]] = {}
        """Connections on which a request waits, with their addresses, and until when."""
        self._avoided: dict[str, float] = {}
        """Addresses that are not connected to, and until when."""
        self._look_again_at = 0.0
        self._stopping = Event()
        self._bell, self._rung = socket.socketpair()
        """A byte into the one ends the wait at the other."""
        self._thread: Thread | None = None

    def add(
        self, topic: str, starts: Mapping[int, int], moved: Moved, failed: Failed
    ) -> Subscription:
        """Watch a topic from these offsets on. Ends that are known already are told at once."""
        with self._lock:
            watched = self._logs.setdefault(topic, _Log())
            known = {p: end for p, end in watched.ends.items() if end > starts.get(p, end)}
            for partition, start in starts.items():
                watched.ends[partition] = max(start, watched.ends.get(partition, start))
            self._added += 1
            watched.listeners[self._added] = moved, failed
            subscription = Subscription(self, topic, self._added)
            self._added_at = monotonic()
            if self._thread is None:
                self._thread = Thread(target=self._run, name="log watch", daemon=True)
                self._thread.start()
        if known:
            moved(known)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            watched = self._logs.get(subscription.topic)
            if watched is not None:
                watched.listeners.pop(subscription.number, None)
                if not watched.listeners:
                    del self._logs[subscription.topic]

    def busy(self) -> int:
        """The number of logs that have grown within the last second."""
        since = monotonic() - _BUSY_SECONDS
        with self._lock:
            return sum(each.moved_at > since for each in self._logs.values())

    def stop(self) -> None:
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._bell.send(b"!")
        if self._thread is not None:
            self._thread.join()
        self._bell.close()
        self._rung.close()

    def _run(self) -> None:
        backoff = Backoff(_ASIDE_SECONDS / 10, _LONGEST_BACKOFF_SECONDS)
        while not self._stopping.is_set():
            try:
                self._turn()
                backoff.reset()
            except Exception as error:
                self._begin_again(error)
                self._stopping.wait(backoff.next())
        self._forget_connections()

    def _begin_again(self, error: Exception) -> None:
        if not isinstance(error, TransientError):
            log.exception("Watching logs has failed")
        self._forget_connections()
        reason = error if isinstance(error, HoldfastError) else UnavailableError(str(error))
        with self._lock:
            logs = list(self._logs.values())
        for each in logs:
            each.failed(reason)

    def _forget_connections(self) -> None:
        self._waiting.clear()
        try:
            self._cluster.forget()
        except Exception:
            log.exception("Connections could not be closed")

    def _turn(self) -> None:
        if monotonic() > self._look_again_at:
            self._look_again()
        self._send()
        if not self._waiting:
            self._stopping.wait(_NEW_WAIT_MS / 1000)
            return
        ready = self._wait_for_replies()
        if self._stopping.is_set():
            return
        worked, news = thread_time(), False
        for connection in ready:
            address, _ = self._waiting.pop(connection)
            try:
                news |= self._take(connection)
            except HoldfastError as error:
                self._lose(address, error)
        for connection, (address, until) in list(self._waiting.items()):
            if monotonic() > until:
                del self._waiting[connection]
                self._lose(address, TimedOutError(f"The broker at {address} does not answer."))
        if news:
            pause = _DUTY * (thread_time() - worked)
            pause = min(max(pause, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
            self._stopping.wait(pause)

    def _wait_for_replies(self) -> list[BrokerConnection]:
        """The connections on which something arrives, within the time of a request. (`select` knows
        no file descriptors above 1,023.)"""
        poll = select.poll()
        poll.register(self._rung, select.POLLIN)
        for connection in self._waiting:
            poll.register(connection, select.POLLIN)
        found = {descriptor for descriptor, _ in poll.poll(_WAIT_MS)}
        return [each for each in self._waiting if each.fileno() in found]

    def _look_again(self) -> None:
        """Watch new partitions from their beginning on."""
        self._look_again_at = monotonic() + _LOOK_AGAIN_SECONDS
        with self._lock:
            logs = dict(self._logs)
        if not logs:
            return
        self._cluster.look_up(*logs)
        counts = self._cluster.counts()
        for topic, watched in logs.items():
            with self._lock:
                for partition in range(max(watched.ends, default=0) + 1, counts[topic]):
                    watched.ends[partition] = 0

    def _send(self) -> None:
        """Send a request to each leader that has none."""
        now, ends = monotonic(), self._watched()
        with self._lock:
            wait_ms = _WAIT_MS
            if now - self._added_at < _NEW_SECONDS:
                wait_ms = _NEW_WAIT_MS
            elif any(each.aside for each in self._logs.values()):
                wait_ms = round(1000 * _ASIDE_SECONDS)
        leaders = self._cluster.by_leader(ends)
        self._set_aside(ends.keys() - {each for led in leaders.values() for each in led})
        waiting = {address for address, _ in self._waiting.values()}
        for address in leaders.keys() - waiting:
            if self._avoided.get(address, 0.0) > now:
                away = UnavailableError(f"The broker at {address} cannot be reached.")
                self._set_aside(leaders[address], away)
                continue
            began = monotonic()
            try:
                self._send_to(address, {each: ends[each] for each in leaders[address]}, wait_ms)
            except HoldfastError as error:
                ended = monotonic()
                self._avoided[address] = ended + _AVOIDED * (ended - began)
                self._lose(address, error)

    def _watched(self) -> dict[TopicPartition, int]:
        """The known end of each partition that is not set aside."""
        now = monotonic()
        with self._lock:
            return {
                (topic, partition): end
                for topic, each in self._logs.items()
                for partition, end in each.ends.items()
                if each.aside.get(partition, 0.0) <= now
            }

    def _send_to(self, address: str, ends: Mapping[TopicPartition, int], wait_ms: int) -> None:
        """Send one request that waits for news of all these partitions."""
        topics: dict[str, list[FetchPartition]] = {}
        for (topic, partition), offset in ends.items():
            topics.setdefault(topic, []).append(
                FetchPartition(
                    partition=partition,
                    # So that a broker that leads no more refuses: its ends would lag behind.
                    current_leader_epoch=self._epoch(topic, partition),
                    fetch_offset=offset,
                    partition_max_bytes=1,
                )
            )
        request = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=1,
            isolation_level=READ_COMMITTED if self._committed else READ_UNCOMMITTED,
            topics=[FetchTopic(topic=name, partitions=each) for name, each in topics.items()],
        )
        connection = self._cluster.connection_to(address)
        connection.send(FETCH, request)
        until = monotonic() + wait_ms / 1000 + self._cluster.seconds
        self._waiting[connection] = address, until

    def _epoch(self, topic: str, partition: int) -> int:
        epoch = self._cluster.known_epoch(topic, partition)
        return -1 if epoch is None else epoch

    def _lose(self, address: str, error: HoldfastError) -> None:
        """A broker does not answer: others may lead its partitions soon. Those of other brokers are
        watched on."""
        led = self._cluster.by_leader(self._watched()).get(address, [])
        self._cluster.lose(address)
        self._set_aside(led, error)

    def _set_aside(
        self, partitions: Iterable[TopicPartition], error: HoldfastError | None = None
    ) -> None:
        until = monotonic() + _ASIDE_SECONDS
        by_topic: dict[str, list[int]] = {}
        for topic, partition in partitions:
            by_topic.setdefault(topic, []).append(partition)
        for topic, numbers in by_topic.items():
            with self._lock:
                watched = self._logs.get(topic)
            if watched is not None:
                watched.aside.update(dict.fromkeys(numbers, until))
                leaderless = f"Partition {min(numbers)} of {topic} has no leader now."
                watched.failed(error or UnavailableError(leaderless))

    def _take(self, connection: BrokerConnection) -> bool:
        """Tell what a reply says. Returns True if a log has grown."""
        reply = connection.receive()
        if reply.error_code:
            raise UnavailableError(f"Watching logs failed ({KafkaError(reply.error_code).name()}).")
        news = False
        for topic in reply.responses:
            with self._lock:
                watched = self._logs.get(topic.topic)
            if watched is not None:
                news |= self._take_topic(topic.topic, watched, topic.partitions)
        return news

    def _take_topic(self, topic: str, watched: _Log, found: list[PartitionData]) -> bool:
        moved: dict[int, int] = {}
        refused: PartitionData | None = None
        for data in found:
            p = data.partition_index
            watched.aside.pop(p, None)
            if p not in watched.ends:
                continue
            end = data.last_stable_offset if self._committed else data.high_watermark
            if end > watched.ends[p]:
                moved[p] = watched.ends[p] = end
            elif data.error_code:
                watched.aside[p] = monotonic() + _ASIDE_SECONDS
                refused = refused or data
        if refused is not None:
            self._refuse(topic, watched, refused)
        if moved:
            watched.moved_at = monotonic()
            watched.moved(moved)
        return bool(moved)

    def _refuse(self, topic: str, watched: _Log, data: PartitionData) -> None:
        name = f"Partition {data.partition_index} of {topic}"
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # A listener that begins again names the offset from which it is watched then.
            with self._lock:
                offset = watched.ends.pop(data.partition_index)
                watched.aside.pop(data.partition_index, None)
            watched.failed(EventsLostError(f"{name} has no events at offset {offset} any more."))
            return
        self._cluster.unlearn(topic)
        why = KafkaError(data.error_code).name()
        watched.failed(UnavailableError(f"{name} cannot be watched ({why})."))


class Watches:
    """The log watches of a process: of events, which a gate takes once they are committed, and
    of commands, which it takes at once."""

    def __init__(self, settings: ClientSettings) -> None:
        self.events = LogWatch(settings, committed=True)
        self.control = LogWatch(settings, committed=False)

    def stop(self) -> None:
        self.events.stop()
        self.control.stop()
