"""More partitions than files that the process may open."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from tests.brokers import BrokerFailedError, EmbeddedBroker
from tests.clients import DEADLINE_S, create_topic, open_consumer, partition_of, producer, to_end

PARTITIONS = 400


class LimitedBroker(EmbeddedBroker):
    """May open `files` files."""

    files = 256

    def _command(self) -> Sequence[str]:
        return ["prlimit", f"--nofile={self.files}:{self.files}", *super()._command()]


@pytest.mark.parametrize("flush", ["sync", "os"])
def test_more_partitions_than_files_are_written_recovered_and_read(
    tmp_path: Path, flush: str
) -> None:
    with LimitedBroker(tmp_path, {"flush": flush}) as broker:
        create_topic(broker, "many", partitions=PARTITIONS)
        client = producer(broker)
        for _ in range(2):
            for partition in range(PARTITIONS):
                client.produce("many", b"%d" % partition, partition=partition)
            assert client.flush(DEADLINE_S) == 0
            broker.kill()
            broker.start()
        with open_consumer(broker, "g") as reader:
            reader.assign([TopicPartition("many", p, 0) for p in range(PARTITIONS)])
            found = to_end(reader, PARTITIONS)
        assert sorted(partition_of(m) for m in found) == sorted([*range(PARTITIONS)] * 2)
        assert all(m.value() == b"%d" % partition_of(m) for m in found)
        assert broker.stop() == 0
        broker.start()


def test_limit_of_open_files_that_is_too_low_is_reported_before_anything_is_opened(
    tmp_path: Path,
) -> None:
    broker = LimitedBroker(tmp_path)
    broker.files = 100
    with pytest.raises(BrokerFailedError):
        broker.start()
    assert broker.wait() == 2
    assert "This process may open 100 files" in broker.log_text()
    assert "ulimit -n" in broker.log_text()
    assert "Traceback" not in broker.log_text()
    assert not broker.data_dir.exists()
