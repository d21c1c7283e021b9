"""The consumer, over both brokers: at-least-once by construction."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from tests.clients import DEADLINE_S

import holdfast
from holdfast.errors import DeadLetterError, InvalidArgumentError, NotFoundError

# Recent, because the brokers of these tests drop what is a week old within a second.
BASE_MS = round(time.time()) * 1000 - 3_600_000
BASE = datetime.fromtimestamp(BASE_MS / 1000, UTC)


def fill(client: holdfast.Client, topic: str, count: int, partitions: int = 1) -> None:
    client.topics.create(topic, partitions=partitions)
    for i in range(count):
        client.send(topic, str(i), partition=i % partitions, timestamp=BASE_MS + i * 1000)
    client.close()


def committed(client: holdfast.Client, group: str) -> dict[int, int | None]:
    return {lag.partition: lag.committed for lag in client.groups.describe(group).lag}


def test_records_come_in_offset_order_of_their_partition(
    client: holdfast.Client, topic: str
) -> None:
    fill(client, topic, 3_000, partitions=3)
    seen: dict[int, list[int]] = {}
    with client.consumer(topic) as consumer:
        for record in consumer.records(until="end"):
            seen.setdefault(record.partition, []).append(record.offset)
    assert seen == {p: list(range(1_000)) for p in range(3)}


def test_record_is_committed_when_the_next_one_is_read(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 10)
    with client.consumer(topic, group=group, commit_count=1) as consumer:
        for record in consumer:
            expected = None if record.offset == 0 else record.offset
            if expected is not None:
                assert committed(client, group) == {0: expected}
            if record.offset == 4:
                break
    assert committed(client, group) == {0: 4}


def test_record_at_which_the_loop_was_left_is_read_again(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 6)
    with client.consumer(topic, group=group) as consumer:
        first = []
        for record in consumer:
            first.append(record.offset)
            if record.offset == 2:
                break
        assert first == [0, 1, 2]
        assert [r.offset for r in consumer.records(limit=2)] == [2, 3]
    assert committed(client, group) == {0: 4}
    with client.consumer(topic, group=group) as consumer:
        assert [r.offset for r in consumer.records(until="end")] == [4, 5]


def test_commit_in_the_loop_counts_the_record_in_hand(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 5)
    with client.consumer(topic, group=group) as consumer:
        for record in consumer:
            if record.offset == 2:
                consumer.commit()
                break
    assert committed(client, group) == {0: 3}


def test_without_auto_commit_only_commit_commits(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 5)
    with client.consumer(topic, group=group, auto_commit=False) as consumer:
        list(consumer.records(limit=2))
        consumer.commit()
        list(consumer.records(limit=2))
    assert committed(client, group) == {0: 2}


def test_commits_are_batched_by_count_and_by_time(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 30)
    with client.consumer(topic, group=group, commit_count=10, commit_interval=3600) as consumer:
        for record in consumer.records(limit=25):
            if record.offset == 24:
                assert committed(client, group) == {0: 20}
    timed = f"{group}-timed"
    with client.consumer(topic, group=timed, commit_interval=0.0) as consumer:
        for record in consumer.records(until="end"):
            if record.offset == 29:
                assert committed(client, timed)[0] in range(1, 30)
    assert committed(client, timed) == {0: 30}


@pytest.mark.parametrize(
    ("until", "count"),
    [
        ("end", 20),
        (4, 8),
        ({0: 3, 1: 5}, 8),
        (BASE + timedelta(seconds=10), 10),
        ("start", 0),
    ],
)
def test_a_bounded_read_stops(
    client: holdfast.Client, topic: str, until: object, count: int
) -> None:
    fill(client, topic, 20, partitions=2)
    with client.consumer(topic) as consumer:
        assert len(list(consumer.records(until=until))) == count  # type: ignore[arg-type]
        assert len(list(consumer.records(until="end"))) == 20 - count


def test_a_bounded_read_of_a_group_stops(client: holdfast.Client, topic: str, group: str) -> None:
    fill(client, topic, 20, partitions=2)
    with client.consumer(topic, group=group) as consumer:
        assert len(list(consumer.records(until=5))) == 10
        assert len(list(consumer.records(until="end"))) == 10
    with client.consumer(topic, group=group) as consumer:
        assert list(consumer.records(until="end")) == []


def test_an_empty_topic_ends_a_bounded_read(client: holdfast.Client, topic: str) -> None:
    client.topics.create(topic, partitions=2)
    with client.consumer(topic) as consumer:
        assert list(consumer.records(until="end")) == []


def test_bounded_read_skips_markers_and_aborted_records(
    client: holdfast.Client, topic: str
) -> None:
    """The last offsets are an aborted record and a marker: no record will ever come from them."""
    client.topics.create(topic)
    with client.producer(transactional_id=topic) as producer:
        with producer.transaction():
            producer.send(topic, "there")
        abort(producer, topic)
    with client.consumer(topic) as consumer:
        assert [r.text() for r in consumer.records(until="end")] == ["there"]


def test_seek_by_offset_time_duration_and_ends(client: holdfast.Client, topic: str) -> None:
    fill(client, topic, 10)
    now = client.send(topic, "now").result()
    with client.consumer(topic) as consumer:
        places: list[tuple[Literal["start"] | int | datetime | timedelta, int]] = [
            (7, 7),
            ("start", 0),
            (BASE + timedelta(seconds=3), 3),
            (BASE + timedelta(seconds=3) + timedelta(milliseconds=1), 4),
            (timedelta(minutes=30), now.offset),
        ]
        for where, first in places:
            consumer.seek(where)
            assert next(consumer.records(limit=1)).offset == first
        consumer.seek("end")
        assert list(consumer.records(until="end")) == []
        with pytest.raises(NotFoundError, match="no offset 99"):
            consumer.seek(99)
        with pytest.raises(InvalidArgumentError, match="not a position"):
            consumer.seek("middle")  # type: ignore[arg-type]


def test_seek_in_one_partition_leaves_the_others_where_they_are(
    client: holdfast.Client, topic: str
) -> None:
    fill(client, topic, 20, partitions=2)
    seen: list[tuple[int, int]] = []
    with client.consumer(topic) as consumer:
        for record in consumer.records(limit=7):
            seen.append((record.partition, record.offset))
            if len(seen) == 3:
                consumer.seek("end", partition=1)
        assert all(partition == 0 for partition, _ in seen[3:])
        rest = [(r.partition, r.offset) for r in consumer.records(until="end")]
    read = [offset for partition, offset in seen + rest if partition == 0]
    assert read == list(range(10))


def test_seek_in_a_group_drops_the_read_ahead(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 50)
    with client.consumer(topic, group=group) as consumer:
        consumer.seek(20)
        assert [r.offset for r in consumer.records(limit=3)] == [20, 21, 22]
        consumer.seek(5, partition=0)
        assert [r.offset for r in consumer.records(limit=3)] == [5, 6, 7]
    assert committed(client, group) == {0: 8}


def test_missing_topic_is_an_error_at_once(client: holdfast.Client, group: str) -> None:
    with pytest.raises(NotFoundError, match="There is no topic 'nope-"):
        client.consumer(f"nope-{group}", group=group)
    assert f"nope-{group}" not in [t.name for t in client.topics.list()]


def test_two_members_share_the_partitions_and_a_third_takes_some_over(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 60, partitions=6)
    seen: list[tuple[int, int]] = []

    def work(stop: threading.Event, got: set[tuple[str, int]]) -> None:
        with client.consumer(topic, group=group, commit_count=1) as consumer:

            def handle(record: holdfast.Record) -> None:
                seen.append((record.partition, record.offset))

            def watch() -> None:
                while not stop.wait(0.05):
                    got.clear()
                    got.update(consumer.assignment)
                consumer.stop()

            watcher = threading.Thread(target=watch)
            watcher.start()
            consumer.run(handle)
            watcher.join()

    stops = [threading.Event() for _ in range(3)]
    holdings: list[set[tuple[str, int]]] = [set() for _ in range(3)]
    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(stops, holdings, strict=True)
    ]
    try:
        threads[0].start()
        wait_for(lambda: len(holdings[0]) == 6)
        threads[1].start()
        wait_for(lambda: sorted(map(len, holdings)) == [0, 3, 3])
        threads[2].start()
        wait_for(lambda: sorted(map(len, holdings)) == [2, 2, 2])
        assert len(set.union(*holdings)) == 6
    finally:
        for stop in stops:
            stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join(DEADLINE_S)
    assert sorted(set(seen)) == [(p, o) for p in range(6) for o in range(10)]
    assert committed(client, group) == dict.fromkeys(range(6), 10)


def test_revoked_partition_commits_its_processed_records_only(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 40, partitions=2)
    never = {"commit_interval": 3600.0, "commit_count": 10**9}
    stop, handled, newcomer = threading.Event(), [0], set[tuple[str, int]]()

    def work() -> None:
        with client.consumer(topic, group=group, **never) as consumer:  # type: ignore[arg-type]

            def handle(record: holdfast.Record) -> None:
                handled[0] += 1

            def stop_later() -> None:
                stop.wait(DEADLINE_S)
                consumer.stop()

            threading.Thread(target=stop_later).start()
            consumer.run(handle)

    def join() -> None:
        with client.consumer(topic, group=group, **never) as consumer:  # type: ignore[arg-type]

            def watch() -> None:
                while not stop.wait(0.05):
                    newcomer.update(consumer.assignment)
                consumer.stop()

            threading.Thread(target=watch).start()
            list(consumer)

    first, second = threading.Thread(target=work), threading.Thread(target=join)
    first.start()
    try:
        wait_for(lambda: handled[0] == 40)
        assert client.groups.describe(group).total_lag is None
        assert set(committed(client, group).values()) == {None}
        second.start()
        wait_for(lambda: len(newcomer) == 1)
        (given_up,) = newcomer
        assert committed(client, group) == {given_up[1]: 20, 1 - given_up[1]: None}
    finally:
        stop.set()
        first.join(DEADLINE_S)
        second.join(DEADLINE_S)


def test_run_handles_in_order_and_commits_after_the_handler_returned(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 20)
    offsets: list[int] = []

    def handle(record: holdfast.Record) -> None:
        if record.offset:
            assert committed(client, group) == {0: record.offset}
        offsets.append(record.offset)

    with client.consumer(topic, group=group, commit_count=1) as consumer:
        consumer.run(handle, until="end")
    assert offsets == list(range(20))
    assert committed(client, group) == {0: 20}


def test_stop_ends_a_run_after_the_record_in_hand(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 50)
    with client.consumer(topic, group=group) as consumer:

        def handle(record: holdfast.Record) -> None:
            if record.offset == 7:
                consumer.stop()

        consumer.run(handle)
    assert committed(client, group) == {0: 8}


def test_stop_during_an_outage_leaves_the_record_uncommitted(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 10)
    failing = threading.Event()

    def handle(record: holdfast.Record) -> None:
        if record.offset == 3:
            failing.set()
            raise ConnectionError("the store is away")

    with client.consumer(topic, group=group) as consumer:

        def stop_later() -> None:
            failing.wait(DEADLINE_S)
            consumer.stop()

        thread = threading.Thread(target=stop_later)
        thread.start()
        consumer.run(handle, dead_letter=f"{topic}.dlq")
        thread.join()
    assert committed(client, group) == {0: 3}
    assert f"{topic}.dlq" not in [t.name for t in client.topics.list()]


def test_corrupt_json_is_dead_lettered_with_its_headers(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic, partitions=2)
    client.topics.create(f"{topic}.dlq", partitions=2)
    own = [("trace", "abc"), ("n", None), ("trace", b"\xff")]
    client.send(topic, {"id": 1}, partition=1)
    client.send(topic, '{"id":', key="k", headers=own, partition=1, timestamp=BASE_MS)
    client.send(topic, {"id": 3}, partition=1)
    client.close()
    handled: list[int] = []
    with client.consumer(topic, group=group) as consumer:
        consumer.run(
            lambda record: handled.append(record.json()["id"]),
            dead_letter=f"{topic}.dlq",
            until="end",
        )
    assert handled == [1, 3]
    assert committed(client, group)[1] == 3
    with client.consumer(f"{topic}.dlq") as consumer:
        (letter,) = consumer.records(until="end")
    assert (letter.key, letter.value) == (b"k", b'{"id":')
    assert letter.timestamp_ms == BASE_MS
    assert letter.headers[:3] == [("trace", b"abc"), ("n", None), ("trace", b"\xff")]
    told = dict(letter.headers[3:])
    assert told["holdfast-source"] == b"1:1"
    assert told["holdfast-source-topic"] == topic.encode()
    assert told["holdfast-error"] == b"holdfast.errors.InvalidRecordError"
    assert b"not JSON" in (told["holdfast-error-message"] or b"")
    assert told["holdfast-attempt"] == b"1"
    assert datetime.fromisoformat((told["holdfast-failed-at"] or b"").decode()).tzinfo == UTC


def test_if_the_dead_letter_cannot_be_written_nothing_is_committed(
    client: holdfast.Client, topic: str, group: str
) -> None:
    client.topics.create(topic)
    client.topics.create(f"{topic}.dlq", config={"max.message.bytes": "300"})
    for value in ("1", "x" * 1_000, "3"):
        client.send(topic, value)
    client.close()
    with client.consumer(topic, group=group, commit_count=1) as consumer:
        with pytest.raises(DeadLetterError, match="cannot be written"):
            consumer.run(lambda record: int(record.text()), dead_letter=f"{topic}.dlq", until="end")
    assert committed(client, group) == {0: 1}
    with client.consumer(topic, group=group) as consumer:
        assert next(iter(consumer)).offset == 1


def test_a_terminal_error_without_dead_letters_ends_the_run_before_the_record(
    client: holdfast.Client, topic: str, group: str
) -> None:
    fill(client, topic, 5)

    def handle(record: holdfast.Record) -> None:
        if record.offset == 3:
            raise ValueError("bad")

    with client.consumer(topic, group=group) as consumer:
        with pytest.raises(ValueError, match="bad"):
            consumer.run(handle)
        with pytest.raises(ValueError, match="bad"):  # it was not passed over
            consumer.run(handle)
    assert committed(client, group) == {0: 3}


def test_a_slow_loop_stays_in_its_group(client: holdfast.Client, topic: str, group: str) -> None:
    """Each record takes a third of what may pass between two polls: the batch takes longer."""
    fill(client, topic, 6)
    impatient = {"session.timeout.ms": 6_000, "max.poll.interval.ms": 6_000}
    offsets = []
    with client.consumer(topic, group=group, kafka=impatient) as consumer:
        for record in consumer.records(limit=6):
            offsets.append(record.offset)
            time.sleep(2)  # the work
    assert offsets == list(range(6))
    assert committed(client, group) == {0: 6}


def abort(producer: holdfast.Producer, topic: str) -> None:
    """A transaction whose record reached the broker and was then taken back."""
    try:
        with producer.transaction():
            producer.send(topic, "not there").result()
            raise KeyError
    except KeyError:
        pass


def wait_for(condition: object, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)
