"""Encryption and login, said once for librdkafka, reach Java's client as well."""

from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.pipeline.spark.kafka_source import security_options


def test_no_security_settings_give_no_options() -> None:
    assert security_options({"linger.ms": 5, "client.rack": "a"}) == {}


def test_a_login_is_translated_and_its_password_quoted() -> None:
    options = security_options(
        {
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "ana",
            "sasl.password": 'a"b\\c',
        }
    )
    assert options == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            'username="ana" password="a\\"b\\\\c";'
        ),
    }


def test_certificates_are_passed_as_text(tmp_path: Path) -> None:
    for name in ("ca", "certificate", "key"):
        (tmp_path / name).write_text(f"PEM of the {name}")
    options = security_options(
        {
            "security.protocol": "SSL",
            "ssl.ca.location": str(tmp_path / "ca"),
            "ssl.certificate.location": str(tmp_path / "certificate"),
            "ssl.key.location": str(tmp_path / "key"),
            "ssl.key.password": "secret",
            "ssl.endpoint.identification.algorithm": "none",
        }
    )
    assert options == {
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": "PEM of the ca",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "PEM of the certificate",
        "kafka.ssl.keystore.key": "PEM of the key",
        "kafka.ssl.key.password": "secret",
        "kafka.ssl.endpoint.identification.algorithm": "",
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"sasl.mechanism": "OAUTHBEARER"},
        {"sasl.kerberos.principal": "x"},
        {"ssl.ca.location": "nowhere.pem"},
        {"enable.ssl.certificate.verification": False},
    ],
)
def test_an_untranslatable_security_setting_is_refused(settings: dict[str, object]) -> None:
    (value,) = settings.values()
    (name,) = settings
    with pytest.raises(ConfigError, match=f"{value}|{name}"):
        security_options(settings)
