"""Records of a topic as Spark reads them, a stream or a range: one way for all of the pipeline."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from holdfast.client.connection import Connection
from holdfast.errors import ConfigError

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_GUARDED = ("security.", "sasl.", "ssl.", "enable.ssl.")
_KNOWN = {
    "security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password",
    "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
}  # fmt: skip

# Java's client takes 500 records and a megabyte at a time, which is little for millions.
_IN_BULK = {"kafka.max.poll.records": "5000", "kafka.max.partition.fetch.bytes": "4194304"}


def read_events(
    session: SparkSession,
    connection: Connection,
    topic: str,
    *,
    starts: Mapping[int, int],
    limit: int,
    reader: str,
) -> DataFrame:
    """The committed events from `starts` on, at most `limit` in a batch.

    One Kafka partition is one task, in offset order; events that are gone are an error. `reader`
    is how the readers' groups, which never commit anything, are named.
    """
    options = {
        **_reading(connection, topic, starts, reader),
        "maxOffsetsPerTrigger": str(limit),
        "includeHeaders": "true",
    }
    return session.readStream.format("kafka").options(**options).load()


def read_range(
    session: SparkSession,
    connection: Connection,
    topic: str,
    *,
    starts: Mapping[int, int],
    ends: Mapping[int, int],
    reader: str,
    headers: bool = True,
) -> DataFrame:
    """The committed records from `starts` up to, and without, `ends`, which must be readable.

    Both name every partition of the topic; records that are gone are an error.
    """
    options = {
        **_reading(connection, topic, starts, reader),
        "endingOffsets": json.dumps({topic: dict(ends)}),
        "includeHeaders": str(headers).lower(),
    }
    return session.read.format("kafka").options(**options).load()


def _reading(
    connection: Connection, topic: str, starts: Mapping[int, int], reader: str
) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": ",".join(connection.addresses),
        "kafka.isolation.level": "read_committed",
        # Without it a fetch at the log's end waits half a second, and the batch with it.
        "kafka.fetch.max.wait.ms": "20",
        "groupIdPrefix": reader,
        "subscribe": topic,
        "startingOffsets": json.dumps({topic: dict(starts)}),
        "failOnDataLoss": "true",
        **_IN_BULK,
        **security_options(connection.settings.kafka),
    }


def security_options(settings: Mapping[str, Any]) -> dict[str, str]:
    """librdkafka's settings of encryption and login, as those of Java's client in Spark.

    One that cannot be said in Java's terms is a ConfigError: nothing connects with less than was
    asked for.
    """
    given = {name: str(value) for name, value in settings.items() if name.startswith(_GUARDED)}
    for name in given.keys() - _KNOWN:
        raise ConfigError(
            f"The setting {name!r} under [client] kafka is not known to the pipeline, which reads "
            f"events with Java's client. It knows: {', '.join(sorted(_KNOWN))}."
        )
    options = {**_login(given), **_certificates(given)}
    if "security.protocol" in given:
        options["security.protocol"] = given["security.protocol"].upper()
    return {f"kafka.{name}": value for name, value in options.items()}


def _login(given: Mapping[str, str]) -> dict[str, str]:
    mechanism = given.get("sasl.mechanism") or given.get("sasl.mechanisms")
    if mechanism is None:
        return {}
    module = _LOGIN_MODULES.get(mechanism)
    if module is None:
        raise ConfigError(
            f"The pipeline cannot log in by {mechanism!r}: take {', '.join(_LOGIN_MODULES)}."
        )
    name, password = given.get("sasl.username", ""), given.get("sasl.password", "")
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": (
            f"{module} required username={_quoted(name)} password={_quoted(password)};"
        ),
    }


def _certificates(given: Mapping[str, str]) -> dict[str, str]:
    options = {}
    if "ssl.ca.location" in given:
        options["ssl.truststore.type"] = "PEM"
        options["ssl.truststore.certificates"] = _contents(given["ssl.ca.location"])
    if "ssl.certificate.location" in given:
        options["ssl.keystore.type"] = "PEM"
        options["ssl.keystore.certificate.chain"] = _contents(given["ssl.certificate.location"])
        options["ssl.keystore.key"] = _contents(given.get("ssl.key.location", ""))
    if "ssl.key.password" in given:
        options["ssl.key.password"] = given["ssl.key.password"]
    algorithm = given.get("ssl.endpoint.identification.algorithm")
    if algorithm is not None:
        options["ssl.endpoint.identification.algorithm"] = algorithm.replace("none", "")
    return options


def _contents(location: str) -> str:
    """The file itself: executors on other machines do not have it."""
    try:
        return Path(location).read_text()
    except OSError as error:
        raise ConfigError(f"The certificate or key {location!r} cannot be read: {error}.") from None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
