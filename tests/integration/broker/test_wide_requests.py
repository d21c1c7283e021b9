"""A request about thousands of partitions holds the broker's loop for no more than 50 ms.

`ProbedBroker.stays_responsive` checks it, and that nothing is synced to disk on the loop.
"""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests import wide_requests as wide
from tests.bombs import explode
from tests.probed_broker import ProbedBroker

from holdfast.wire.protocol.errors import ErrorCode

CROWD = 60
"""Requests at once. One slice of each would hold the loop for 300 ms."""
PRODUCER_IDS = 1_100
"""More than are reserved at once."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProbedBroker]:
    with ProbedBroker(tmp_path_factory.mktemp("wide")) as broker:
        yield broker


@pytest.fixture(scope="module")
def topics(broker: ProbedBroker) -> None:
    create_topics(broker)


def create_topics(broker: ProbedBroker) -> None:
    made = wide.ask(broker.port, "create_topics", 7, wide.create_topics())
    assert {topic.error_code for topic in made.topics} == {ErrorCode.NONE}


def delete_topics(broker: ProbedBroker) -> None:
    deleted = wide.ask(broker.port, "delete_topics", 6, wide.delete_topics())
    assert {each.error_code for each in deleted.responses} == {ErrorCode.NONE}


def partition_errors(topics: Any) -> set[int]:
    return {partition.error_code for topic in topics for partition in topic.partitions}


def test_creation_and_deletion_of_hundreds_of_topics_delay_no_other_client(
    broker: ProbedBroker,
) -> None:
    def change() -> None:
        create_topics(broker)
        wide.ask(broker.port, "offset_commit", 8, wide.offset_commit())
        delete_topics(broker)

    broker.stays_responsive(change)


@pytest.mark.parametrize("name", wide.READS)
def test_request_about_thousands_of_idle_partitions_delays_no_other_client(
    broker: ProbedBroker, topics: None, name: str
) -> None:
    def read() -> None:
        assert len(explode(broker.port, wide.READS[name]())) == 1

    broker.stays_responsive(read)


def test_crowd_of_wide_requests_delays_no_other_client(broker: ProbedBroker, topics: None) -> None:
    request = wide.READS["metadata"]()

    def read() -> None:
        with ThreadPoolExecutor(CROWD) as crowd:
            answers = crowd.map(lambda _: explode(broker.port, request), range(CROWD))
            assert {len(answer) for answer in answers} == {1}

    broker.stays_responsive(read)


def test_records_in_thousands_of_partitions_delay_no_other_client(
    broker: ProbedBroker, topics: None
) -> None:
    def write_and_read() -> None:
        answer = wide.ask(broker.port, "produce", 9, wide.produce())
        written = [part for topic in answer.responses for part in topic.partition_responses]
        assert {part.error_code for part in written} == {ErrorCode.NONE}
        assert len({part.base_offset for part in written}) == 1
        for name in ("fetch", "fetch that waits", "list_offsets by time"):
            assert len(explode(broker.port, wide.READS[name]())) == 1

    def delete() -> None:
        wide.ask(broker.port, "produce", 9, wide.produce())
        deleted = wide.ask(broker.port, "delete_records", 1, wide.delete_records())
        assert partition_errors(deleted.topics) == {ErrorCode.NONE}
        assert deleted.topics[-1].partitions[-1].low_watermark >= 2

    broker.stays_responsive(write_and_read)
    broker.stays_responsive(delete)


def test_offsets_of_thousands_of_partitions_delay_no_other_client(
    broker: ProbedBroker, topics: None
) -> None:
    port = broker.port

    def commit() -> None:
        answer = wide.ask(port, "offset_commit", 8, wide.offset_commit())
        assert partition_errors(answer.topics) == {ErrorCode.NONE}
        for name in ("offset_fetch of all", "offset_fetch"):
            found = wide.ask(port, "offset_fetch", 7, wide.READS[name]())
            offsets = [part.committed_offset for topic in found.topics for part in topic.partitions]
            assert offsets == [1] * (wide.TOPICS * wide.PARTITIONS)

    def delete() -> None:
        wide.ask(port, "offset_commit", 8, wide.offset_commit())
        deleted = wide.ask(port, "offset_delete", 0, wide.offset_delete())
        assert partition_errors(deleted.topics) == {ErrorCode.NONE}
        wide.ask(port, "offset_commit", 8, wide.offset_commit())
        gone = wide.ask(
            port, "delete_groups", 2, wide.request("delete_groups", 2, groups_names=[wide.GROUP])
        )
        assert gone.results[0].error_code == ErrorCode.NONE
        found = wide.ask(port, "offset_fetch", 7, wide.READS["offset_fetch of all"]())
        assert found.topics == []

    broker.stays_responsive(commit)
    broker.stays_responsive(delete)


def test_transaction_over_thousands_of_partitions_delays_no_other_client(
    broker: ProbedBroker, topics: None
) -> None:
    port = broker.port

    def commit() -> None:
        made = wide.ask(port, "init_producer_id", 4, wide.init_producer(wide.TRANSACTION))
        producer = made.producer_id, made.producer_epoch
        added = wide.ask(port, "add_partitions_to_txn", 3, wide.add_partitions(*producer))
        errors = {
            part.partition_error_code
            for topic in added.results_by_topic_v3_and_below
            for part in topic.results_by_partition
        }
        assert errors == {ErrorCode.NONE}
        assert not wide.ask(port, "add_offsets_to_txn", 3, wide.add_offsets(*producer)).error_code
        pending = wide.ask(port, "txn_offset_commit", 3, wide.txn_offset_commit(*producer))
        assert partition_errors(pending.topics) == {ErrorCode.NONE}
        assert not wide.ask(port, "end_txn", 3, wide.end_transaction(*producer)).error_code
        assert len(explode(port, wide.write_markers())) == 1
        found = wide.ask(port, "offset_fetch", 7, wide.READS["offset_fetch"]())
        assert found.topics[-1].partitions[-1].committed_offset == 2

    def commit_in_version_2() -> None:
        made = wide.ask(port, "init_producer_id", 4, wide.init_producer(wide.TRANSACTION))
        producer = made.producer_id, made.producer_epoch
        answer = wide.ask(port, "produce", 12, wide.produce_in_transaction(*producer))
        written = [part for topic in answer.responses for part in topic.partition_responses]
        assert {part.error_code for part in written} == {ErrorCode.NONE}
        pending = wide.ask(port, "txn_offset_commit", 5, wide.txn_offset_commit(*producer, 5))
        assert partition_errors(pending.topics) == {ErrorCode.NONE}
        ended = wide.ask(port, "end_txn", 5, wide.end_transaction(*producer, 5))
        assert (ended.error_code, ended.producer_epoch) == (ErrorCode.NONE, producer[1] + 1)

    broker.stays_responsive(commit)
    broker.stays_responsive(commit_in_version_2)


def test_many_producer_ids_delay_no_other_client(broker: ProbedBroker) -> None:
    def initialise() -> None:
        frames = wide.init_producer(None) * PRODUCER_IDS
        assert len(explode(broker.port, frames, PRODUCER_IDS)) == PRODUCER_IDS

    broker.stays_responsive(initialise)


def test_change_of_hundreds_of_topics_delays_no_other_client(
    broker: ProbedBroker, topics: None
) -> None:
    counts = itertools.count(wide.PARTITIONS + 1)

    def change() -> None:
        altered = wide.ask(broker.port, "incremental_alter_configs", 1, wide.alter_configs())
        assert {each.error_code for each in altered.responses} == {ErrorCode.NONE}
        more = wide.create_partitions(next(counts))
        grown = wide.ask(broker.port, "create_partitions", 3, more)
        assert {each.error_code for each in grown.results} == {ErrorCode.NONE}

    broker.stays_responsive(change)
