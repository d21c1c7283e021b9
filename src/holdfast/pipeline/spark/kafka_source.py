"""Ranges of a topic as a Spark table, for all of the pipeline.

Security settings are given once, in librdkafka's terms. One that has no form for Java is refused:
Spark must not connect with less security than configured.
"""

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
_SECURITY = ("security.", "sasl.", "ssl.", "enable.ssl.")
_TRANSLATED = {
    "security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password",
    "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
}  # fmt: skip

# By default Java's client reads 500 records or a megabyte at a time: slow for millions of records.
_IN_BULK = {"kafka.max.poll.records": "5000", "kafka.max.partition.fetch.bytes": "4194304"}


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
    """The committed records from `starts` (inclusive) to `ends` (exclusive).

    Both contain every partition of the topic; deleted or unreadable records are an error.
    """
    options = {
        **reading_options(connection, topic, starts, reader),
        "endingOffsets": json.dumps({topic: dict(ends)}),
        "includeHeaders": str(headers).lower(),
    }
    return session.read.format("kafka").options(**options).load()


def reading_options(
    connection: Connection, topic: str, starts: Mapping[int, int], reader: str
) -> dict[str, str]:
    """Options of Spark's Kafka source to read committed records from `starts` on. `reader` is the
    prefix of the readers' groups, which never commit."""
    return {
        "kafka.bootstrap.servers": ",".join(connection.brokers),
        "kafka.isolation.level": "read_committed",
        # By default a fetch at the log's end waits half a second, and delays the batch.
        "kafka.fetch.max.wait.ms": "20",
        "groupIdPrefix": reader,
        "subscribe": topic,
        "startingOffsets": json.dumps({topic: dict(starts)}),
        "failOnDataLoss": "true",
        **_IN_BULK,
        **security_options(connection.settings.kafka),
    }


def security_options(settings: Mapping[str, Any]) -> dict[str, str]:
    """librdkafka's settings for encryption and login, translated for Java's client in Spark.

    A setting that cannot be translated raises ConfigError: the pipeline never connects with less
    security than configured.
    """
    security = {name: str(value) for name, value in settings.items() if name.startswith(_SECURITY)}
    for name in security.keys() - _TRANSLATED:
        raise ConfigError(
            f"The pipeline does not support the setting {name!r} under [client] kafka, because it "
            f"reads events with Java's client. It supports: {', '.join(sorted(_TRANSLATED))}."
        )
    options = {**_login(security), **_certificates(security)}
    if "security.protocol" in security:
        options["security.protocol"] = security["security.protocol"].upper()
    return {f"kafka.{name}": value for name, value in options.items()}


def _login(security: Mapping[str, str]) -> dict[str, str]:
    mechanism = security.get("sasl.mechanism") or security.get("sasl.mechanisms")
    if mechanism is None:
        return {}
    module = _LOGIN_MODULES.get(mechanism)
    if module is None:
        raise ConfigError(
            f"The pipeline does not support the SASL mechanism {mechanism!r}. Use one of "
            f"{', '.join(_LOGIN_MODULES)}."
        )
    name, password = security.get("sasl.username", ""), security.get("sasl.password", "")
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": (
            f"{module} required username={_quoted(name)} password={_quoted(password)};"
        ),
    }


def _certificates(security: Mapping[str, str]) -> dict[str, str]:
    options = {}
    if "ssl.ca.location" in security:
        options["ssl.truststore.type"] = "PEM"
        options["ssl.truststore.certificates"] = _contents(security["ssl.ca.location"])
    if "ssl.certificate.location" in security:
        options["ssl.keystore.type"] = "PEM"
        options["ssl.keystore.certificate.chain"] = _contents(security["ssl.certificate.location"])
        options["ssl.keystore.key"] = _contents(security.get("ssl.key.location", ""))
    if "ssl.key.password" in security:
        options["ssl.key.password"] = security["ssl.key.password"]
    algorithm = security.get("ssl.endpoint.identification.algorithm")
    if algorithm is not None:
        options["ssl.endpoint.identification.algorithm"] = algorithm.replace("none", "")
    return options


def _contents(location: str) -> str:
    """The content of the file: executors on other machines do not have the file."""
    try:
        return Path(location).read_text()
    except OSError as error:
        raise ConfigError(f"The certificate or key {location!r} cannot be read: {error}.") from None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
