"""What takes a minute: a store that is away, and a group that never comes to rest.

The trials run side by side, each against both brokers, because they mostly wait.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.conftest import KINDS, unique_name
from tests.integration.client.offsets_log import commits

import holdfast

MINUTE = 60.0
PARTITIONS = 6
PER_SECOND = 300
MEMBERS = 6

Trial = Callable[[BrokerProcess], None]


@pytest.fixture(scope="module")
def trials(
    apache_kafka: ApacheKafka, embedded_broker: EmbeddedBroker
) -> Iterator[dict[tuple[str, str], "Future[None]"]]:
    """All trials, begun at once: (name, kind of broker) → how it ended."""
    brokers: dict[str, BrokerProcess] = {"apache": apache_kafka, "embedded": embedded_broker}
    running: dict[tuple[str, str], Future[None]] = {}
    with ThreadPoolExecutor(4) as pool:
        for trial in (outage, storm):
            for kind, broker in brokers.items():
                running[trial.__name__, kind] = pool.submit(trial, broker)
        yield running


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_store_that_is_away_for_a_minute_dead_letters_nothing_and_loses_nothing(
    trials: dict[tuple[str, str], "Future[None]"], kind: str
) -> None:
    trials["outage", kind].result(240)


@pytest.mark.parametrize("kind", list(KINDS))
def test_members_coming_and_going_for_a_minute_lose_nothing_and_commit_nothing_undone(
    trials: dict[tuple[str, str], "Future[None]"], kind: str
) -> None:
    trials["storm", kind].result(240)


def outage(kafka: BrokerProcess) -> None:
    """A handler whose store refuses connections for a minute, with a bad record in the midst."""
    topic, group = unique_name("outage"), unique_name("outage-group")
    with holdfast.connect(kafka.bootstrap) as client:
        client.topics.create(topic)
        client.topics.create(f"{topic}.dlq")
        for i in range(200):
            client.send(topic, "corrupt" if i == 150 else str(i))
        client.close()
        stored: list[int] = []
        tries = 0
        away_until = 0.0

        def store(record: holdfast.Record) -> None:
            nonlocal tries, away_until
            if record.offset == 100 and not away_until:
                away_until = time.monotonic() + MINUTE
            if time.monotonic() < away_until:
                tries += 1
                raise ConnectionRefusedError("the store is away")
            stored.append(int(record.text()))

        # The group would lose a member that did not poll for so long.
        impatient = {"session.timeout.ms": 10_000, "max.poll.interval.ms": 10_000}
        patience = holdfast.FailurePolicy(longest_delay=5.0)
        with client.consumer(topic, group=group, kafka=impatient, commit_count=1) as consumer:
            consumer.run(store, dead_letter=f"{topic}.dlq", policy=patience, until="end")
        assert stored == [i for i in range(200) if i != 150]
        assert tries > 10
        with client.consumer(f"{topic}.dlq") as consumer:
            letters = [record.header("holdfast-source") for record in consumer.records(until="end")]
        assert letters == [b"0:150"]
        history = [commit.offset for commit in commits(client, group, topic)]
        assert history == list(range(1, 201))  # always the last processed plus one


class Member(threading.Thread):
    """One consumer of the storm. Notes what it processed, and when."""

    def __init__(
        self, client: holdfast.Client, topic: str, group: str, seen: dict[tuple[int, int], float]
    ) -> None:
        super().__init__(daemon=True)
        self._client, self._topic, self._group_id, self._seen = client, topic, group, seen
        self._consumer: holdfast.Consumer | None = None
        self._leaving = False
        self.error: BaseException | None = None

    def run(self) -> None:
        # A rebalance takes as long as the slowest member needs to hear of it.
        attentive = {"heartbeat.interval.ms": 250, "session.timeout.ms": 10_000}
        try:
            with self._client.consumer(
                self._topic, group=self._group_id, commit_interval=0.2, kafka=attentive
            ) as consumer:
                self._consumer = consumer
                if self._leaving:
                    return
                for record in consumer:
                    # The first time counts: from then on it may be committed.
                    self._seen.setdefault((record.partition, record.offset), time.time())
        except BaseException as error:
            self.error = error

    def leave(self) -> None:
        self._leaving = True
        if self._consumer is not None:
            self._consumer.stop()


def storm(kafka: BrokerProcess) -> None:
    """Every second a member joins, or another leaves, while records flow.

    One change a second, because librdkafka joins again at most once a second: with two, the next
    rebalance begins before the last has ended, on any broker, and there would be nothing to see.
    """
    topic, group = unique_name("storm"), unique_name("storm-group")
    seen: dict[tuple[int, int], float] = {}
    members: list[Member] = []
    gone: list[Member] = []
    with holdfast.connect(kafka.bootstrap) as client:
        client.topics.create(topic, partitions=PARTITIONS)

        def join() -> None:
            members.append(Member(client, topic, group, seen))
            members[-1].start()

        for _ in range(MEMBERS):
            join()
        sent = changes = 0
        begun = time.monotonic()
        while (elapsed := time.monotonic() - begun) < MINUTE:
            while sent < elapsed * PER_SECOND:
                client.send(topic, str(sent), key=f"k{sent % 97}")
                sent += 1
            if changes < int(elapsed):
                changes += 1
                if changes % 2:
                    join()
                else:
                    gone.append(members.pop(0))
                    gone[-1].leave()
            time.sleep(0.02)
        client.close()
        deadline = time.monotonic() + 60
        while len(seen) < sent and time.monotonic() < deadline:
            time.sleep(0.1)
        for member in members:
            member.leave()
        for member in [*gone, *members]:
            member.join(60)
            assert member.error is None, member.error
        assert changes >= 55
        check(client, group, topic, seen)


def check(
    client: holdfast.Client,
    group: str,
    topic: str,
    seen: dict[tuple[int, int], float],
) -> None:
    """Nothing lost; no commit backwards; none ahead of what was processed when it was made."""
    ends = {r.partition: r.end for r in client.topics.ranges(topic)}
    missing = [
        (partition, offset)
        for partition, end in ends.items()
        for offset in range(end)
        if (partition, offset) not in seen
    ]
    assert missing == [], f"lost {len(missing)}: {missing[:10]}"
    history = defaultdict(list)
    for commit in commits(client, group, topic):
        history[commit.partition].append(commit)
    assert sum(map(len, history.values())) > 5 * PARTITIONS, "the group never came to work"
    for partition, made in history.items():
        offsets = [commit.offset for commit in made]
        assert offsets == sorted(offsets), f"backwards in partition {partition}: {offsets}"
        processed_by = 0.0
        done = 0
        for commit in made:
            while done < commit.offset:
                processed_by = max(processed_by, seen.get((partition, done), float("inf")))
                done += 1
            # The broker's clock is this machine's; it tells whole milliseconds.
            assert processed_by <= commit.at_ms / 1000 + 0.002, f"ahead: {commit}"
