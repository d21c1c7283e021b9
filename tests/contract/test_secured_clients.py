"""Unchanged clients over TLS and SCRAM: what they send is what they read."""

import asyncio
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramMechanism,
)
from tests.brokers import JVM
from tests.clients import DEADLINE_S
from tests.secured import ADMIN, PASSWORD, SecuredBroker

from holdfast.jars import class_path

VALUES = [f"value {number}".encode() for number in range(50)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
def test_librdkafka(broker: SecuredBroker, topic: str, group: str, mechanism: str) -> None:
    settings = broker.client(mechanism=mechanism)
    producer = Producer({**settings, "enable.idempotence": True})
    for value in VALUES:
        producer.produce(topic, value)
    assert producer.flush(DEADLINE_S) == 0
    consumer = Consumer({**settings, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    read = consumer.consume(len(VALUES), DEADLINE_S)
    consumer.close()
    assert [message.value() for message in read] == VALUES


def test_kafka_python(broker: SecuredBroker, topic: str, group: str) -> None:
    settings = {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(broker.authority.ca),
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_plain_username": ADMIN,
        "sasl_plain_password": PASSWORD,
    }
    producer = kafka.KafkaProducer(**settings)
    for value in VALUES:
        producer.send(topic, value)
    producer.flush(DEADLINE_S)
    producer.close()
    consumer = kafka.KafkaConsumer(
        topic, group_id=group, auto_offset_reset="earliest",
        consumer_timeout_ms=DEADLINE_S * 1000, **settings,
    )  # fmt: skip
    read = [next(consumer).value for _ in VALUES]
    consumer.close()
    assert read == VALUES


def test_aiokafka(broker: SecuredBroker, topic: str, group: str) -> None:
    settings = {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_SSL",
        "ssl_context": ssl.create_default_context(cafile=str(broker.authority.ca)),
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": ADMIN,
        "sasl_plain_password": PASSWORD,
    }

    async def run() -> list[bytes | None]:
        async with aiokafka.AIOKafkaProducer(**settings) as producer:
            for value in VALUES:
                await producer.send_and_wait(topic, value)
        async with aiokafka.AIOKafkaConsumer(
            topic, group_id=group, auto_offset_reset="earliest", **settings
        ) as consumer:
            async with asyncio.timeout(DEADLINE_S):
                return [(await consumer.getone()).value for _ in VALUES]

    assert asyncio.run(run()) == VALUES


@pytest.mark.apache
def test_java_tools(broker: SecuredBroker, tmp_path: Path) -> None:
    login = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{ADMIN}" password="{PASSWORD}";'
    )
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\nssl.truststore.type=PEM\nsasl.mechanism=SCRAM-SHA-512\n"
        f"ssl.truststore.location={broker.authority.ca}\nsasl.jaas.config={login}\n"
    )

    def tool(name: str, *arguments: str) -> str:
        command = [*JVM, "-cp", class_path("kafka"), name, "--bootstrap-server", broker.bootstrap]
        done = subprocess.run(
            [*command, "--command-config", str(file), *arguments],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tool("org.apache.kafka.tools.TopicCommand", "--create", "--topic", "from-java")
    acls = "org.apache.kafka.tools.AclCommand"
    tool(acls, "--add", "--allow-principal", "User:bob", "--consumer", "--topic", "from-java",
         "--group", "*")  # fmt: skip
    assert "principal=User:bob" in tool(acls, "--list")
    configs = "kafka.admin.ConfigCommand"
    tool(configs, "--alter", "--entity-type", "users", "--entity-name", "dora",
         "--add-config", "SCRAM-SHA-256=[password=a-secret-of-dora]")  # fmt: skip
    # The tool's --describe of users asks for client quotas as well, which this broker has not.
    admin = AdminClient(broker.client())  # it must live until the answer is here
    described = admin.describe_user_scram_credentials(["dora"])
    assert isinstance(described, dict)
    (credential,) = described["dora"].result(DEADLINE_S).scram_credential_infos
    assert credential.mechanism is ScramMechanism.SCRAM_SHA_256
    admin = AdminClient(broker.client("dora", "SCRAM-SHA-256", "a-secret-of-dora"))
    assert admin.list_topics(timeout=DEADLINE_S).brokers


def test_a_user_reads_what_a_prefix_permits_and_nothing_else(
    broker: SecuredBroker, group: str
) -> None:
    producer = Producer(broker.client())
    for name in ("team.events", "secret.events"):
        producer.produce(name, b"v")
    assert producer.flush(DEADLINE_S) == 0
    allow = AclPermissionType.ALLOW
    prefixed = ResourcePatternType.PREFIXED
    admin = AdminClient(broker.client())  # it must live until the answers are here
    granted = admin.create_acls(
        [
            AclBinding(kind, name, prefixed, "User:alice", "*", AclOperation.READ, allow)
            for kind, name in ((ResourceType.TOPIC, "team."), (ResourceType.GROUP, group))
        ]
    )
    for future in granted.values():
        future.result(DEADLINE_S)
    settings = {
        **broker.client("alice"),
        "group.id": group,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings)
    consumer.subscribe(["team.events"])
    (message,) = consumer.consume(1, DEADLINE_S)
    assert message.value() == b"v"
    consumer.close()
    consumer = Consumer(settings)
    consumer.subscribe(["secret.events"])
    (message,) = consumer.consume(1, DEADLINE_S)
    error = message.error()
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    consumer.close()
    with pytest.raises(KafkaException, match="authorization failed"):
        _send(broker, "alice", "team.events")


def _send(broker: SecuredBroker, user: str, topic: str) -> None:
    errors = []
    producer = Producer({**broker.client(user), "message.timeout.ms": 10_000})
    producer.produce(topic, b"v", on_delivery=lambda error, _: errors.append(error))
    producer.flush(DEADLINE_S)
    if errors[0] is not None:
        raise KafkaException(errors[0])
