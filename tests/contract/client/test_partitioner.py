"""The partition of a key is the one that the Java client picks."""

import subprocess

import pytest
from tests.brokers import JVM, BrokerProcess
from tests.clients import DEADLINE_S

import holdfast
from holdfast.flows.keys import partition_of
from holdfast.jars import class_path

PARTITIONS = 7
KEYS = [f"key-{i}" for i in range(700)] + [f"größe-{i * 7919}-日本" for i in range(300)]

pytestmark = pytest.mark.apache


def test_a_thousand_keys_go_where_the_java_console_producer_sends_them(
    kafka: BrokerProcess, client: holdfast.Client, topic: str
) -> None:
    java, ours = f"{topic}-java", f"{topic}-sdk"
    for name in (java, ours):
        client.topics.create(name, partitions=PARTITIONS)
    subprocess.run(
        [*JVM, "-Xmx256m", "-Dfile.encoding=UTF-8", "-cp", class_path("kafka"),
         "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", kafka.bootstrap,
         "--topic", java, "--property", "parse.key=true", "--property", "key.separator=|"],
        input="".join(f"{key}|{key}\n" for key in KEYS).encode(),
        check=True, timeout=DEADLINE_S, capture_output=True,
    )  # fmt: skip
    for key in KEYS:
        client.send(ours, key, key=key)
    client.close()
    by_java, by_us = (placed(client, name) for name in (java, ours))
    assert len(by_java) == len(KEYS) == 1000
    assert by_us == by_java
    assert {key: partition_of(key, PARTITIONS) for key in by_java} == by_java


def placed(client: holdfast.Client, topic: str) -> dict[bytes, int]:
    with client.consumer(topic) as consumer:
        records = list(consumer.records(until="end"))
    assert all(record.key == record.value for record in records)
    return {record.key or b"": record.partition for record in records}
