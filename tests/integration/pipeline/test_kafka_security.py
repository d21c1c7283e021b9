"""Reading and writing in bulk where a broker wants encryption, or to know who asks."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from tests.brokers import ApacheKafka, free_ports
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import eventually

from holdfast.client.settings import ClientSettings
from holdfast.errors import AccessDeniedError, TransientError, UnreachableError
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import read_range
from holdfast.kafka.producer import TransactionalProducer
from holdfast.wire.records.record import Record

pytestmark = pytest.mark.apache

NAME, PASSWORD = "ana", "pass,word=1"  # of a broker that lives for seconds
PROTOCOLS = ["SASL_PLAINTEXT", "SASL_SSL", "SSL"]
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


class GuardedKafka(ApacheKafka):
    """Apache Kafka that listens in every way; the plain one is there to prepare it."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.ports = dict(zip(PROTOCOLS, free_ports(len(PROTOCOLS)), strict=True))
        self.certificate = directory / "certificate.pem"

    def _all_settings(self) -> dict[str, str]:
        settings = super()._all_settings()
        more = "".join(f",{name}://127.0.0.1:{port}" for name, port in self.ports.items())
        names = ["CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in ("PLAINTEXT", *PROTOCOLS))]
        logins = {
            f"listener.name.{name.lower()}.{mechanism.lower()}.sasl.jaas.config": (
                f'{PLAIN_MODULE} required user_{NAME}="{PASSWORD}";'
                if mechanism == "PLAIN"
                else f"{SCRAM_MODULE} required;"
            )
            for name in PROTOCOLS[:2]
            for mechanism in MECHANISMS
        }
        return {
            **settings,
            "listeners": settings["listeners"] + more,
            "advertised.listeners": settings["advertised.listeners"] + more,
            "listener.security.protocol.map": ",".join(names),
            "sasl.enabled.mechanisms": ",".join(MECHANISMS),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._make_certificate()),
            **logins,
        }

    def _make_certificate(self) -> Path:
        """One that this broker has signed itself. -> it, with its key"""
        key, both = self.directory / "key.pem", self.directory / "both.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", str(key), "-out", str(self.certificate)],
            check=True, capture_output=True,
        )  # fmt: skip
        both.write_text(key.read_text() + self.certificate.read_text())
        return both


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKafka]:
    with GuardedKafka(tmp_path_factory.mktemp("guarded")) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        ways = [ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512]
        known = [
            UserScramCredentialUpsertion(NAME, ScramCredentialInfo(way, 4096), PASSWORD.encode())
            for way in ways
        ]
        for each in known:  # one change of a user at a time
            admin.alter_user_scram_credentials([each])[NAME].result(DEADLINE_S)
        admin.create_topics([NewTopic("t", 1, 1)])["t"].result(DEADLINE_S)
        writer = Producer({"bootstrap.servers": broker.bootstrap})
        writer.produce("t", b"first", b"k")
        assert writer.flush(DEADLINE_S) == 0
        yield broker


def settings_of(broker: GuardedKafka, protocol: str, **more: Any) -> ClientSettings:
    given = {name.replace("_", "."): value for name, value in more.items()}
    return ClientSettings(
        bootstrap=f"127.0.0.1:{broker.ports[protocol]}",
        request_timeout=DEADLINE_S,
        kafka={
            "security.protocol": protocol,
            "sasl.username": NAME,
            "sasl.password": PASSWORD,
            "ssl.ca.location": str(broker.certificate),
            **given,
        },
    )


WAYS = [
    ("SASL_PLAINTEXT", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ("SASL_SSL", "SCRAM-SHA-512"),
    ("SASL_SSL", "PLAIN"),
    ("SSL", ""),
]


@pytest.mark.parametrize(("protocol", "mechanism"), WAYS)
def test_a_range_is_read_and_a_transaction_committed(
    guarded: GuardedKafka, protocol: str, mechanism: str
) -> None:
    named = {"sasl_mechanism": mechanism} if mechanism else {}
    settings = settings_of(guarded, protocol, **named)
    group = f"g-{protocol}-{mechanism}"
    # librdkafka takes the same settings.
    consumer = Consumer(
        {"bootstrap.servers": settings.bootstrap, "group.id": group, **settings.kafka}
    )
    start = consumer.get_watermark_offsets(TopicPartition("t", 0), timeout=DEADLINE_S)[1]
    transactions = TransactionalProducer(settings, group, 100_000)
    transactions.begin()
    # Several batches: more than one call to an encrypted connection takes.
    records = [Record(-1, 5 + i, b"k", b"%d" % i * 50_000, ()) for i in range(10)]
    transactions.send_records("t", 0, records)
    place = TopicPartition("t", 0, 7, "m")
    transactions.commit([place], consumer.consumer_group_metadata())
    transactions.close()
    cluster = ClusterClient(settings)

    def read() -> list[tuple[bytes, bytes]]:
        try:
            portions = list(read_range(cluster, "t", 0, start, start + 11))
        except TransientError:  # the last stable offset is behind for a moment
            cluster.forget()
            return []
        return [(r["key"], r["value"]) for rows in portions for r in rows.to_pylist()]

    assert eventually(read, "the records") == [(r.key, r.value) for r in records]
    assert next(read_range(cluster, "t", 0, 0, 1)).column("value").to_pylist() == [b"first"]
    cluster.forget()
    (found,) = consumer.committed([place], timeout=DEADLINE_S)
    assert (found.offset, found.metadata) == (7, "m")
    consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_wrong_password_is_reported_as_such(guarded: GuardedKafka, mechanism: str) -> None:
    settings = settings_of(
        guarded, "SASL_PLAINTEXT", sasl_mechanism=mechanism, sasl_password="another"
    )  # fmt: skip
    with pytest.raises(AccessDeniedError, match="Logging in failed"):
        ClusterClient(settings).leader("t", 0)


def test_certificate_of_an_unknown_authority_is_refused(guarded: GuardedKafka) -> None:
    settings = settings_of(guarded, "SSL")
    del settings.kafka["ssl.ca.location"]
    with pytest.raises(UnreachableError, match="certificate"):
        ClusterClient(settings).leader("t", 0)
