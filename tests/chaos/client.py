"""Consumers through an outage of their store, and in a group that never comes to rest.

`python -m tests.chaos client --seconds 60` runs both trials over both brokers at once. What must
hold: nothing lost, nothing dead-lettered that the outage alone refused, no commit backwards, and
none ahead of what was processed when it was made.
"""

import argparse
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.chaos.offsets_log import commits
from tests.conftest import unique_name

import holdfast

PARTITIONS = 6
PER_SECOND = 300
MEMBERS = 6
CATCH_UP_SECONDS = 180.0
POLL_INTERVAL_MS = 10_000

Trial = Callable[[BrokerProcess, float], None]


def begin_trials(
    pool: ThreadPoolExecutor, brokers: Sequence[BrokerProcess], seconds: float
) -> dict[tuple[str, str], "Future[None]"]:
    """Begin every trial on every broker at once, because they mostly wait.

    Returns the result to come by trial's name and kind of broker.
    """
    trials: tuple[Trial, ...] = (outage, storm)
    return {
        (trial.__name__, broker.kind): pool.submit(trial, broker, seconds)
        for trial in trials
        for broker in brokers
    }


def outage(kafka: BrokerProcess, seconds: float) -> None:
    """A handler whose store refuses connections for `seconds`, with a bad record among the rest.

    Longer than `max.poll.interval.ms`: a member that did not poll meanwhile would be expelled.
    """
    assert seconds > POLL_INTERVAL_MS / 1000
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
                away_until = time.monotonic() + seconds
            if time.monotonic() < away_until:
                tries += 1
                raise ConnectionRefusedError("the store is away")
            stored.append(int(record.text()))

        impatient = {
            "session.timeout.ms": POLL_INTERVAL_MS,
            "max.poll.interval.ms": POLL_INTERVAL_MS,
        }
        patience = holdfast.FailurePolicy(longest_delay=1.0)
        with client.consumer(topic, group=group, kafka=impatient, commit_count=1) as consumer:
            consumer.run(store, dead_letter=f"{topic}.dlq", policy=patience, until="end")
        assert stored == [i for i in range(200) if i != 150]
        assert tries > 1
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


def storm(kafka: BrokerProcess, seconds: float) -> None:
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
        while (elapsed := time.monotonic() - begun) < seconds:
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
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while len(seen) < sent and time.monotonic() < deadline:
            time.sleep(0.1)
        for member in members:
            member.leave()
        for member in [*gone, *members]:
            member.join(CATCH_UP_SECONDS)
            assert not member.is_alive(), "a member that does not leave"
            assert member.error is None, member.error
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
    committed = {partition: made[-1].offset for partition, made in history.items()}
    assert committed == ends, "members that left did not commit what they had processed"
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


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos client", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each trial goes on")
    seconds = parser.parse_args(argv).seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        ApacheKafka(Path(folder) / "apache") as apache,
        EmbeddedBroker(Path(folder) / "embedded") as embedded,
        ThreadPoolExecutor(4) as pool,
    ):
        for (name, kind), result in begin_trials(pool, (apache, embedded), seconds).items():
            result.result()
            print(f"{name} on {kind}: all as promised", flush=True)
    return 0
