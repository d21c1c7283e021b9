"""Addresses to listen on: several protocols, and nothing open to the network by accident."""

from pathlib import Path

import pytest

from holdfast.broker.security.endpoints import Endpoint, Protocol, endpoints, exposed
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError


def test_each_address_has_its_protocol_and_advertised_address() -> None:
    settings = BrokerSettings(
        listen="127.0.0.1:9092, SASL_SSL://[::]:9093",
        advertised="localhost:9092,kafka.example:443",
        tls_cert=Path("cert.pem"),
        tls_key=Path("key.pem"),
    )
    assert endpoints(settings) == [
        Endpoint(Protocol.PLAINTEXT, "127.0.0.1", 9092, ("localhost", 9092)),
        Endpoint(Protocol.SASL_SSL, "::", 9093, ("kafka.example", 443)),
    ]
    assert [str(endpoint) for endpoint in endpoints(settings)] == [
        "127.0.0.1:9092",
        "SASL_SSL://[::]:9093",
    ]


@pytest.mark.parametrize(
    ("listen", "advertised", "reason"),
    [
        ("TLS://127.0.0.1:1", None, "unknown protocol"),
        (" , ", None, "empty"),
        ("127.0.0.1:1,127.0.0.1:2", "a:1", "one for each"),
        ("SSL://127.0.0.1:1", None, "needs a certificate"),
        ("127.0.0.1", None, "host:port"),
    ],
)
def test_addresses_that_cannot_be_served_are_refused(
    listen: str, advertised: str | None, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        endpoints(BrokerSettings(listen=listen, advertised=advertised))


@pytest.mark.parametrize(
    ("listen", "client_ca", "is_exposed"),
    [
        ("127.0.0.1:1", None, False),
        ("SASL_PLAINTEXT://localhost:1", None, False),
        ("0.0.0.0:1", None, True),
        ("SASL_PLAINTEXT://0.0.0.0:1", None, True),
        ("SSL://0.0.0.0:1", None, True),
        ("SSL://0.0.0.0:1", Path("ca.pem"), False),
        ("SASL_SSL://0.0.0.0:1", None, False),
        ("SASL_SSL://0.0.0.0:1,10.0.0.1:2", None, True),
    ],
)
def test_beyond_loopback_encryption_and_login_are_demanded(
    listen: str, client_ca: Path | None, is_exposed: bool
) -> None:
    assert bool(exposed(BrokerSettings(listen=listen, tls_client_ca=client_ca))) == is_exposed


def test_metrics_beyond_loopback_are_exposed() -> None:
    assert exposed(BrokerSettings(http="0.0.0.0:9600")) == ["0.0.0.0:9600"]
