"""Those who use the system while it breaks: producers, operators, and readers of what comes out.

They write down what they did and saw, and judge nothing.
"""

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as KafkaProducer
from tests.chaos.system.flows import OVERSIZED_BYTES, ChaosFlow, identity_of
from tests.chaos.system.history import Asked, History, Poll, Send, State
from tests.chaos.system.processes import REQUEST_TIMEOUT_S

import holdfast
from holdfast.client.client import Client
from holdfast.client.producer import Producer
from holdfast.client.receipt import Receipt
from holdfast.errors import HoldfastError

EVENTS_PER_SECOND = 40
"""Of each producer, in between bursts."""
BURST = 12_000
"""More than a driver takes by itself, so that a batch of them is left to tasks."""
DELIVERY_TIMEOUT_S = 120.0
"""The default of the SDK, and longer than several faults in a row: a producer that gives up a
record sends others again. What it gives up is `info`."""

LIBRDKAFKA = {"reconnect.backoff.max.ms": 300, "log_level": 0}
"""Clients that are back soon after the broker is, or hardly anything would happen."""

ids = itertools.count(1)


class Part(threading.Thread):
    """Does its turns until told to stop. An error of the broker's absence is not an end."""

    def __init__(self, name: str, bootstrap: str, history: History, seed: str) -> None:
        super().__init__(name=name, daemon=True)
        self.stopping = threading.Event()
        self._address = bootstrap
        self._history = history
        self._dice = random.Random(seed)

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                with self._going_on():
                    self._begin()
                    while not self.stopping.is_set():
                        self._turn()
            self._finish()
        except Exception as error:
            self._history.breaches.append(f"{self.name} ended: {error!r}")
            raise

    def _begin(self) -> None:
        return

    def _turn(self) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        return

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        try:
            yield
        except (HoldfastError, KafkaException, BufferError):
            self.stopping.wait(0.2)

    def _client(self) -> Client:
        return holdfast.connect(
            self._address, request_timeout=REQUEST_TIMEOUT_S, connect_timeout=2, kafka=LIBRDKAFKA
        )


class Sender(Part):
    """An idempotent producer of one flow: a few events at a time, and a burst when asked."""

    def __init__(self, flow: ChaosFlow, bootstrap: str, history: History, seed: int) -> None:
        super().__init__(f"sender {flow.name}", bootstrap, history, f"{seed} sender {flow.name}")
        self.flow = flow
        self._burst = threading.Event()
        self._oversized = threading.Event()
        self._producer: Producer | None = None
        self._large: KafkaProducer | None = None

    def burst(self) -> None:
        """Send many at once, soon."""
        self._burst.set()

    def oversized(self) -> None:
        """Send an event that is larger than any topic takes that it could go to, soon."""
        self._oversized.set()

    def _begin(self) -> None:
        if self._producer is None:
            self._producer = self._client().producer(delivery_timeout=DELIVERY_TIMEOUT_S)

    def _turn(self) -> None:
        assert self._producer is not None
        count = EVENTS_PER_SECOND // 10
        if self._burst.is_set():
            self._burst.clear()
            count = BURST
        for _ in range(count):
            self._send(self._producer, self._dice.choice(self.flow.keys))
        if self._oversized.is_set():
            self._oversized.clear()
            self._send_oversized()
        if self._dice.random() < 0.05:
            self._send(self._producer, None)
        self._producer.poll(0)
        if self._large is not None:
            self._large.poll(0)
        self.stopping.wait(0.1)

    def _send(self, producer: Producer, key: bytes | None) -> None:
        valid = self.flow.schema is None or self._dice.random() > 0.02
        send = note_send(self._history, self.name, self.flow, key, valid)
        while not self.stopping.is_set():
            try:
                producer.enqueue(
                    f"{self.flow.name}.events", self.flow.value(send.id, valid), key,
                    None, None, -1, settle(send),
                )  # fmt: skip
                return
            except BufferError:
                producer.poll(0.1)
            except KafkaException:
                self._producer = None  # it has given up for good: the next one goes on
                raise

    def _send_oversized(self) -> None:
        """By a producer of its own, which compresses: so the event comes through events."""
        if self._large is None:
            self._large = KafkaProducer(
                {
                    "bootstrap.servers": self._address,
                    "enable.idempotence": True,
                    "partitioner": "murmur2_random",
                    "compression.type": "zstd",
                    "message.max.bytes": 2 * OVERSIZED_BYTES,
                    "delivery.timeout.ms": int(1000 * DELIVERY_TIMEOUT_S),
                    **LIBRDKAFKA,
                }
            )
        key = self._dice.choice(self.flow.keys)
        send = note_send(self._history, f"{self.name}, oversized", self.flow, key, valid=True)
        send.oversized = True
        try:
            self._large.produce(
                f"{self.flow.name}.events", self.flow.oversized_value(send.id), key,
                on_delivery=settle(send),
            )  # fmt: skip
        except KafkaException:
            self._large = None  # it has given up for good: the next one goes on
            raise

    def _finish(self) -> None:
        if self._large is not None:
            self._large.flush(DELIVERY_TIMEOUT_S)
        if self._producer is not None:
            with self._going_on():
                self._producer.flush(DELIVERY_TIMEOUT_S)


class Transactor(Part):
    """A transactional producer, which takes back every third transaction."""

    def __init__(self, flow: ChaosFlow, bootstrap: str, history: History, seed: int) -> None:
        name = f"transactor {flow.name}"
        super().__init__(name, bootstrap, history, f"{seed} {name}")
        self._flow = flow
        self._producer: Producer | None = None

    def _begin(self) -> None:
        self._producer = None
        self._producer = self._client().producer(transactional_id=f"chaos-{self._flow.name}")

    def _turn(self) -> None:
        assert self._producer is not None
        sent: list[Send] = []
        commit = self._dice.random() > 0.33
        try:
            with self._producer.transaction():
                for _ in range(self._dice.randint(1, 8)):
                    key = self._dice.choice(self._flow.keys)
                    send = note_send(self._history, self.name, self._flow, key, valid=True)
                    send.state = State.ABORTED
                    sent.append(send)
                    value = self._flow.value(send.id, valid=True)
                    self._producer.send(f"{self._flow.name}.events", value, key)
                if not commit:
                    raise _TakenBackError
                for send in sent:
                    send.state = State.INFO
        except _TakenBackError:
            pass
        else:
            for send in sent:
                send.state, send.completed = State.OK, time.monotonic()
        self.stopping.wait(self._dice.uniform(0.1, 0.6))


class _TakenBackError(Exception):
    """The transaction is to be aborted."""


def note_send(
    history: History, producer: str, flow: ChaosFlow, key: bytes | None, valid: bool
) -> Send:
    send = Send(next(ids), flow.name, producer, key, valid, time.monotonic())
    history.sends.append(send)
    return send


def settle(send: Send) -> Callable[[KafkaError | None, Message], None]:
    """A delivery report that completes it. An error leaves open what became of it."""

    def settled(error: KafkaError | None, message: Message) -> None:
        if error is None:
            send.partition, send.offset = message.partition() or 0, message.offset() or 0
            send.completed = time.monotonic()
            send.state = State.OK

    return settled


class Operator(Part):
    """Holds and releases at random, as impatient people do."""

    def __init__(self, flow: ChaosFlow, bootstrap: str, history: History, seed: int) -> None:
        name = f"operator {flow.name}"
        super().__init__(name, bootstrap, history, f"{seed} {name}")
        self._flow = flow
        self._client_at_hand: Client | None = None
        self._last: tuple[Asked, dict[str, Any]] | None = None

    def _begin(self) -> None:
        if self._client_at_hand is None:
            self._client_at_hand = self._client()

    def _turn(self) -> None:
        self.stopping.wait(self._dice.uniform(0.05, 0.4))
        key = self._dice.choice(self._flow.keys)
        dice = self._dice.random()
        if dice < 0.05 and self._last is not None:
            asked, options = self._last  # the same id twice is one command
            self.ask(asked.name, asked.key, asked.id, **options)
        elif dice < 0.35:
            self.ask("hold", key)
        elif dice < 0.55:
            # The longer ones outlive a clock that is ahead for a moment; they stay below what
            # `verify` tolerates of clocks that differ for long.
            bounds = self._dice.choice([(0.5, 8.0), (30.0, 50.0)])
            self.ask("hold", key, expires_in=self._dice.uniform(*bounds))
        elif dice < 0.75:
            self.ask("release", key)
        elif dice < 0.93:
            self.ask("release", key, pace=self._dice.uniform(20, 500))
        else:
            self.ask("dead-letter", key)

    def ask(self, name: str, key: bytes, identity: str | None = None, **options: Any) -> None:
        assert self._client_at_hand is not None
        flow = self._client_at_hand.flow(self._flow.name)
        verbs: dict[str, Callable[..., Receipt]] = {
            "hold": flow.hold,
            "release": flow.release,
            "dead-letter": flow.dead_letter,
        }
        now = time.monotonic()
        asked = Asked(
            flow=self._flow.name,
            key=key,
            name=name,
            id=identity or f"c{next(ids)}",
            invoked=now,
            expires=now + options.get("expires_in", float("inf")),
        )
        self._history.commands.append(asked)
        self._last = asked, options
        receipt = verbs[name](key, command_id=asked.id, actor="chaos", **options)
        asked.completed, asked.offset = time.monotonic(), receipt.offset
        asked.state = State.OK


class Reader(Part):
    """Reads processed as it comes: read_committed, each partition from its beginning."""

    def __init__(self, flow: ChaosFlow, bootstrap: str, history: History) -> None:
        super().__init__(f"reader {flow.name}", bootstrap, history, flow.name)
        self._topic = f"{flow.name}.processed"
        self._polls = history.polls.setdefault(flow.name, [])
        self._consumer: Consumer | None = None

    def _begin(self) -> None:
        if self._consumer is None:
            self._consumer = Consumer(
                {
                    "bootstrap.servers": self._address,
                    "group.id": "chaos-reader",
                    "enable.auto.commit": False,
                    "auto.offset.reset": "error",
                    "isolation.level": "read_committed",
                    "fetch.wait.max.ms": 100,
                    **LIBRDKAFKA,
                }
            )
            self._assign(self._consumer)

    def _assign(self, consumer: Consumer) -> None:
        partitions = consumer.list_topics(self._topic, timeout=10).topics[self._topic].partitions
        consumer.assign([TopicPartition(self._topic, p, 0) for p in partitions])

    def _turn(self) -> None:
        assert self._consumer is not None
        for message in self._consumer.consume(1000, 0.1):
            error = message.error()
            now = time.monotonic()
            if error is None:
                place = message.partition() or 0, message.offset() or 0
                self._polls.append(Poll(*place, identity_of(message.value()), now))
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._history.breaches.append(f"{self.name} was sent away: {error.str()}")
                self.stopping.set()

    def _finish(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
