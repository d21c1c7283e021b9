"""Unchanged clients that log in by token (OAUTHBEARER), on both brokers."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kafka
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from kafka.net.sasl.oauth import AbstractTokenProvider
from tests.brokers import JVM, ApacheKafka, BrokerProcess, EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S, wait_until
from tests.tokens import AUDIENCE, ISSUER, Issuer, write_key_set

from holdfast.jars import class_path

KEY, STRANGER = Issuer("RS256"), Issuer("RS256")
JAAS = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
VALIDATOR = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
BROKER_SIDE = "org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator"
ALLOWED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls"


class TokenKafka(ApacheKafka):
    """Apache Kafka with a file of keys."""

    def __init__(self, directory: Path, port: int, keys: Path) -> None:
        super().__init__(directory)
        (controller,) = free_ports(1)
        here = f"PLAINTEXT://127.0.0.1:{self.port},SASL_PLAINTEXT://127.0.0.1:{port}"
        of_login = "listener.name.sasl_plaintext.oauthbearer.sasl"
        self._keys = keys.as_uri()
        self.settings = {
            "listeners": f"{here},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": here,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
            "SASL_PLAINTEXT:SASL_PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            f"{of_login}.jaas.config": JAAS,
            f"{of_login}.server.callback.handler.class": VALIDATOR,
            # Without this one, Apache Kafka 4.1 verifies no signature here.
            "sasl.oauthbearer.jwt.validator.class": BROKER_SIDE,
            "sasl.oauthbearer.jwks.endpoint.url": self._keys,
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "sasl.oauthbearer.expected.issuer": ISSUER,
        }  # fmt: skip

    def _command(self) -> list[str]:
        command = list(super()._command())
        return [*command[:1], f"{ALLOWED}={self._keys}", *command[1:]]


@pytest.fixture(
    scope="module", params=[pytest.param("apache", marks=pytest.mark.apache), "embedded"]
)
def login_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tokens")
    keys = write_key_set(folder / "keys.json", KEY)
    port, plain = free_ports(2)
    broker: BrokerProcess
    if request.param == "apache":
        broker = TokenKafka(folder, port, keys)
    else:
        settings = {
            "listen": f"127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{port}",
            "sasl_mechanisms": "OAUTHBEARER",
            "oauth_jwks": keys,
            "oauth_issuer": ISSUER,
            "oauth_audience": AUDIENCE,
        }
        broker = EmbeddedBroker(folder, settings)
    with broker:
        yield f"127.0.0.1:{port}"


def settings(address: str, *tokens: str, seconds: float = 600) -> dict[str, Any]:
    """librdkafka's settings. It takes one token after the other."""
    left = list(tokens)

    def token(_: str) -> tuple[str, float]:
        return (left.pop(0) if len(left) > 1 else left[0]), time.time() + seconds

    return {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": token,
        "log_level": 0,
    }


def test_librdkafka(login_address: str, topic: str) -> None:
    producer = Producer(settings(login_address, KEY.token("alice")))
    errors: list[KafkaError | None] = []
    producer.produce(topic, b"value", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(DEADLINE_S) == 0
    assert errors == [None]


@pytest.mark.parametrize(
    "token",
    [STRANGER.token("alice"), KEY.token("alice", seconds=-120), KEY.token("alice", aud="other")],
    ids=["stranger", "expired", "audience"],
)
def test_wrong_token_is_refused(login_address: str, token: str) -> None:
    with pytest.raises(KafkaException):
        AdminClient(settings(login_address, token)).list_topics(timeout=4)


def test_client_renews_its_login_before_the_token_ends(login_address: str, topic: str) -> None:
    seconds = 30.0  # librdkafka renews after four fifths: beside load it may need seconds for that
    begin = time.monotonic()
    first, second = KEY.token("alice", seconds=seconds), KEY.token("alice")
    errors: list[KafkaError] = []
    config = settings(login_address, first, second, seconds=seconds)
    producer = Producer({**config, "error_cb": errors.append, "retries": 0})
    delivered: list[KafkaError | None] = []

    def sent_after_the_first_token() -> bool | None:
        producer.produce(topic, b"value", on_delivery=lambda error, _: delivered.append(error))
        assert producer.flush(DEADLINE_S) == 0
        return time.monotonic() > begin + seconds + 1 or None

    wait_until(sent_after_the_first_token, "the end of the first token")
    assert set(delivered) == {None}
    assert not [error for error in errors if error.code() == KafkaError._AUTHENTICATION]


class _Tokens(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
    def token(self) -> str:
        return KEY.token("alice")


def test_kafka_python(login_address: str, topic: str) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=login_address,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=_Tokens(),
    )
    sent = producer.send(topic, b"value").get(DEADLINE_S)
    producer.close()
    assert sent.offset == 0


def test_java(login_address: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(KEY.token("alice", scope="any"))
    config = tmp_path / "client.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.jaas.config={JAAS}\nsasl.oauthbearer.token.endpoint.url={token.as_uri()}\n"
        "sasl.login.callback.handler.class="
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n"
    )
    done = subprocess.run(
        [*JVM, f"{ALLOWED}={token.as_uri()}", "-cp", class_path("kafka"),
         "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", login_address,
         "--command-config", str(config), "--list"],
        capture_output=True, text=True, check=False, timeout=2 * DEADLINE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
