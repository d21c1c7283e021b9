"""A request that costs its sender little and the broker much holds up nobody else."""

import itertools
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bombs import (
    BY_NAME,
    delete_records,
    dense_batch,
    explode,
    fetch,
    forged_batch,
    many_topics,
    metadata,
    offsets_for_times,
    produce,
    repeated_names,
    write_segments,
    write_small_batches,
)
from tests.brokers import EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S, create_topic
from tests.frames import decode_response
from tests.probed_broker import ProbedBroker

from holdfast.wire.protocol.errors import ErrorCode

TIMES = 10_000
SMALL_BATCHES = 200_000
SEGMENTS = 200
LATEST = 1_800_000_000_000
"""The time of the first small batch. All others are earlier."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProbedBroker]:
    directory: Path = tmp_path_factory.mktemp("bombs")
    (http,) = free_ports(1)
    with ProbedBroker(directory, {"http": f"127.0.0.1:{http}"}) as broker:
        create_topic(broker, "wide", partitions=200)
        create_topic(broker, "compacted", config={"cleanup.policy": "compact"})
        create_topic(broker, "small-batches")
        create_topic(broker, "many-segments")
        broker.stop()
        write_small_batches(broker.data_dir / "small-batches-0", SMALL_BATCHES, LATEST)
        write_segments(broker.data_dir / "many-segments-0", SEGMENTS)
        broker.start()
        yield broker


@pytest.mark.parametrize("topic", ["wide", "compacted"])
def test_batch_of_millions_of_tiny_records_delays_no_other_client(
    broker: ProbedBroker, topic: str
) -> None:
    def bomb() -> None:
        (answer,) = explode(broker.port, produce(topic, 0, forged_batch(8_000_000)))
        refused = decode_response(BY_NAME["produce"], 9, answer).responses[0].partition_responses[0]
        assert refused.error_code == ErrorCode.INVALID_RECORD

    broker.stays_responsive(bomb)


def test_offsets_by_time_in_batches_of_many_records_delay_no_other_client(
    broker: ProbedBroker,
) -> None:
    def bomb() -> None:
        frames = b"".join(produce("wide", index, dense_batch(20_000)) for index in range(20))
        answers = [
            decode_response(BY_NAME["produce"], 9, a) for a in explode(broker.port, frames, 20)
        ]
        assert [a.responses[0].partition_responses[0].error_code for a in answers] == [0] * 20
        for timestamp in (0, -3):  # the first record; the latest
            (answer,) = explode(broker.port, offsets_for_times("wide", 200, timestamp))
            found = decode_response(BY_NAME["list_offsets"], 5, answer).topics[0].partitions
            assert [partition.offset for partition in found] == [0] * 20 + [-1] * 180

    broker.stays_responsive(bomb)


def test_fetch_of_many_small_batches_delays_no_other_client(broker: ProbedBroker) -> None:
    def bomb() -> None:
        (answer,) = explode(broker.port, fetch("small-batches", 0))
        (found,) = decode_response(BY_NAME["fetch"], 11, answer).responses[0].partitions
        assert found.error_code == ErrorCode.NONE
        assert len(found.records) > 100_000

    broker.stays_responsive(bomb)


def test_offsets_by_time_after_the_latest_record_is_deleted_delay_no_other_client(
    broker: ProbedBroker,
) -> None:
    """The index says that the segment has such a record, so all of it is searched in vain."""
    (answer,) = explode(broker.port, delete_records("small-batches", 1))
    (deleted,) = decode_response(BY_NAME["delete_records"], 1, answer).topics[0].partitions
    assert deleted.low_watermark == 1

    def bomb() -> None:
        found = []
        for timestamp in (LATEST, -3):
            (answer,) = explode(broker.port, offsets_for_times("small-batches", 1, timestamp))
            found += decode_response(BY_NAME["list_offsets"], 5, answer).topics[0].partitions
        assert [partition.offset for partition in found] == [-1, 1]

    broker.stays_responsive(bomb)


def test_deletion_of_many_segments_delays_no_other_client(broker: ProbedBroker) -> None:
    def bomb() -> None:
        (answer,) = explode(broker.port, delete_records("many-segments", SEGMENTS - 1))
        (deleted,) = decode_response(BY_NAME["delete_records"], 1, answer).topics[0].partitions
        assert deleted.low_watermark == SEGMENTS - 1

    broker.stays_responsive(bomb)
    assert len(list((broker.data_dir / "many-segments-0").glob("*.log*"))) == 1


@pytest.mark.parametrize("api", list(repeated_names("wide", 1)))
def test_repeated_names_get_one_answer(broker: ProbedBroker, api: str) -> None:
    def bomb() -> None:
        (one,) = explode(broker.port, repeated_names("wide", 1)[api])
        (many,) = explode(broker.port, repeated_names("wide", TIMES)[api])
        assert len(many) == len(one)

    broker.stays_responsive(bomb)


def test_automatic_creation_of_topics_delays_no_other_client(broker: ProbedBroker) -> None:
    attempts = itertools.count()

    def bomb() -> None:
        attempt = next(attempts)
        names = [f"named-{attempt}-{n}" for n in range(1_000)]
        (answer,) = explode(broker.port, metadata(names))
        topics = decode_response(BY_NAME["metadata"], 4, answer).topics
        assert {topic.error_code for topic in topics} == {ErrorCode.NONE}

    def bomb_by_request() -> None:
        (answer,) = explode(broker.port, many_topics(300, f"bomb-{next(attempts)}"))
        topics = decode_response(BY_NAME["create_topics"], 5, answer).topics
        assert {topic.error_code for topic in topics} == {ErrorCode.NONE}

    broker.stays_responsive(bomb)
    broker.stays_responsive(bomb_by_request)


def test_longest_turn_is_shown_to_operators(broker: EmbeddedBroker) -> None:
    with urllib.request.urlopen(
        f"http://{broker.settings['http']}/metrics", timeout=DEADLINE_S
    ) as answer:
        text = answer.read().decode()
    (line,) = [row for row in text.splitlines() if row.startswith("holdfast_broker_longest_turn")]
    assert float(line.split()[1]) > 0
