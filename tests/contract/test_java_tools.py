"""The command line tools of Apache Kafka 4.x, as processes, unchanged."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.brokers import JVM, BrokerProcess
from tests.clients import (
    DEADLINE_S,
    committed,
    create_topic,
    offsets,
    producer,
    read,
    send,
    transactional,
    values,
)
from tests.wire import Wire, add_partitions, batch, fetch, init_producer, produce

from holdfast.jars import class_path

pytestmark = pytest.mark.apache

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
PRODUCER_PERF = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERF = "org.apache.kafka.tools.ConsumerPerformance"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"


def run(main: str, *arguments: str, text: str = "") -> str:
    """Run a tool to its end. -> what it printed"""
    done = subprocess.run(
        [*JVM, "-Xmx256m", "-cp", class_path("kafka"), main, *arguments],
        input=text, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{main} {arguments}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tool(kafka: BrokerProcess, main: str, *arguments: str, text: str = "") -> str:
    return run(main, "--bootstrap-server", kafka.bootstrap, *arguments, text=text)


def test_topics_are_created_described_altered_listed_and_deleted(
    kafka: BrokerProcess, topic: str
) -> None:
    tool(kafka, TOPICS, "--create", "--topic", topic, "--partitions", "2",
         "--replication-factor", "1", "--config", "retention.ms=3600000")  # fmt: skip
    described = tool(kafka, TOPICS, "--describe", "--topic", topic)
    assert "PartitionCount: 2" in described
    assert "retention.ms=3600000" in described
    tool(kafka, TOPICS, "--alter", "--topic", topic, "--partitions", "3")
    assert "PartitionCount: 3" in tool(kafka, TOPICS, "--describe", "--topic", topic)
    assert topic in tool(kafka, TOPICS, "--list").splitlines()
    tool(kafka, TOPICS, "--delete", "--topic", topic)
    assert topic not in tool(kafka, TOPICS, "--list").splitlines()


def test_configs_are_described_and_altered(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    entity = ("--entity-type", "topics", "--entity-name", topic)
    tool(
        kafka, CONFIGS, "--alter", *entity, "--add-config", "segment.ms=60000,retention.ms=1234567"
    )
    described = tool(kafka, CONFIGS, "--describe", *entity)
    assert "segment.ms=60000" in described
    assert "retention.ms=1234567" in described
    tool(kafka, CONFIGS, "--alter", *entity, "--delete-config", "segment.ms")
    assert "segment.ms" not in tool(kafka, CONFIGS, "--describe", *entity)
    everything = tool(kafka, CONFIGS, "--describe", "--all", *entity)
    assert "segment.ms=604800000" in everything
    (broker,) = broker_ids(kafka)
    brokers = tool(kafka, CONFIGS, "--describe", "--all", "--entity-type", "brokers",
                   "--entity-name", broker)  # fmt: skip
    assert "=" in brokers


def test_console_producer_and_consumer_pass_lines_with_keys_and_headers(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    tool(
        kafka, CONSOLE_PRODUCER, "--topic", topic, "--property", "parse.key=true",
        "--property", "parse.headers=true", "--compression-codec", "zstd",
        text="h:1\tk1\tv1\nh:2\tk2\tv2\nh:3\tk3\tv3\n",
    )  # fmt: skip
    found = read(kafka, topic)
    assert [(m.key(), m.value()) for m in found] == [(b"k1", b"v1"), (b"k2", b"v2"), (b"k3", b"v3")]
    assert found[0].headers() == [("h", b"1")]
    printed = tool(
        kafka, CONSOLE_CONSUMER, "--topic", topic, "--group", group, "--from-beginning",
        "--max-messages", "3", "--timeout-ms", "20000", "--property", "print.key=true",
        "--property", "print.offset=true", "--property", "print.headers=true",
    )  # fmt: skip
    assert printed.splitlines() == [f"Offset:{i}\th:{i + 1}\tk{i + 1}\tv{i + 1}" for i in range(3)]
    assert committed(kafka, group, topic) == 3
    from_two = tool(
        kafka, CONSOLE_CONSUMER, "--topic", topic, "--partition", "0", "--offset", "2",
        "--max-messages", "1", "--timeout-ms", "20000", "--isolation-level", "read_committed",
    )  # fmt: skip
    assert from_two.splitlines() == ["v3"]


def test_consumer_groups_are_described_reset_and_deleted(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    send(producer(kafka), topic, [b"v"] * 10)
    mine = ("--group", group)
    tool(kafka, GROUPS, *mine, "--topic", topic, "--reset-offsets", "--to-earliest", "--execute")
    tool(kafka, GROUPS, *mine, "--topic", f"{topic}:0", "--reset-offsets", "--shift-by", "4",
         "--execute")  # fmt: skip
    described = tool(kafka, GROUPS, *mine, "--describe")
    row = next(line for line in described.splitlines() if topic in line)
    assert row.split()[1:6] == [topic, "0", "4", "10", "6"]
    tool(kafka, GROUPS, *mine, "--topic", topic, "--delete-offsets")
    assert committed(kafka, group, topic) is None
    tool(kafka, GROUPS, *mine, "--topic", topic, "--reset-offsets", "--to-latest", "--execute")
    assert committed(kafka, group, topic) == 10
    assert group in tool(kafka, GROUPS, "--list").splitlines()
    assert re.search(rf"{group}.*Empty", tool(kafka, GROUPS, *mine, "--describe", "--state"))
    tool(kafka, GROUPS, *mine, "--delete")
    assert group not in tool(kafka, GROUPS, "--list").splitlines()


def test_offsets_log_dirs_and_api_versions_are_reported_and_records_deleted(
    kafka: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    create_topic(kafka, topic, partitions=2)
    send(producer(kafka), topic, [b"v"] * 7, partition=1)
    listed = tool(kafka, GET_OFFSETS, "--topic", topic)
    assert listed.split() == [f"{topic}:0:0", f"{topic}:1:7"]
    plan = f'{{"partitions":[{{"topic":"{topic}","partition":1,"offset":3}}],"version":1}}'
    file = tmp_path / "plan.json"
    file.write_text(plan)
    assert "low_watermark: 3" in tool(kafka, DELETE_RECORDS, "--offset-json-file", str(file))
    earliest = tool(kafka, GET_OFFSETS, "--topic", topic, "--time", "earliest")
    assert earliest.split() == [f"{topic}:0:0", f"{topic}:1:3"]
    assert f'"{topic}-1"' in tool(kafka, LOG_DIRS, "--describe", "--topic-list", topic)
    assert "Produce(0): 0 to" in tool(kafka, API_VERSIONS)


def test_perf_tools_produce_and_consume(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, partitions=2)
    printed = run(
        PRODUCER_PERF, "--topic", topic, "--num-records", "5000", "--record-size", "100",
        "--throughput", "-1", "--producer-props", f"bootstrap.servers={kafka.bootstrap}",
        "acks=all", "compression.type=lz4",
    )  # fmt: skip
    assert "5000 records sent" in printed
    assert len(read(kafka, topic, 0)) + len(read(kafka, topic, 1)) == 5_000
    in_transactions = run(
        PRODUCER_PERF, "--topic", topic, "--num-records", "1000", "--record-size", "100",
        "--throughput", "-1", "--transactional-id", topic, "--transaction-duration-ms", "20",
        "--producer-props", f"bootstrap.servers={kafka.bootstrap}",
    )  # fmt: skip
    assert "1000 records sent" in in_transactions
    consumed = tool(kafka, CONSUMER_PERF, "--topic", topic, "--messages", "6000",
                    "--timeout", "20000")  # fmt: skip
    assert consumed.splitlines()[-1].split(", ")[4] == "6000"


def test_transactions_are_listed_described_and_aborted(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        owner = init_producer(wire, topic, timeout_ms=600_000)
        assert add_partitions(wire, topic, owner, topic) == 0
        records = batch([b"hangs"], producer_id=owner[0], epoch=owner[1], sequence=0,
                        transactional=True)  # fmt: skip
        assert produce(wire, topic, records, transactional_id=topic).error_code == 0
        listed = row_of(tool(kafka, TRANSACTIONS, "list"), topic)
        assert str(owner[0]) in listed
        assert "Ongoing" in listed
        described = row_of(
            tool(kafka, TRANSACTIONS, "describe", "--transactional-id", topic), topic
        )
        assert "Ongoing" in described
        assert f"{topic}-0" in described
        producers = tool(
            kafka, TRANSACTIONS, "describe-producers", "--topic", topic, "--partition", "0"
        )
        assert row_of(producers, str(owner[0])).split()[0] == str(owner[0])
        tool(kafka, TRANSACTIONS, "abort", "--topic", topic, "--partition", "0",
             "--start-offset", "0")  # fmt: skip
        assert fetch(wire, topic, 0, isolation=1).last_stable_offset == 2
    send(producer(kafka), topic, [b"after"])
    assert values(read(kafka, topic)) == [b"after"]
    assert offsets(read(kafka, topic)) == [2]
    transactional(kafka, topic)  # takes the id over, so that nothing stays open


def row_of(table: str, word: str) -> str:
    return next(line for line in table.splitlines()[1:] if word in line)


def broker_ids(kafka: BrokerProcess) -> list[str]:
    return re.findall(r"id: (\d+)", tool(kafka, API_VERSIONS))
