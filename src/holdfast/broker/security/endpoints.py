"""The addresses that the broker listens on, from its settings."""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from holdfast.addresses import is_loopback, parse_address
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError


class Protocol(Enum):
    """Kafka's security protocols."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self in (Protocol.SSL, Protocol.SASL_SSL)

    @property
    def has_login(self) -> bool:
        return self in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)


class Endpoint(NamedTuple):
    """An address to listen on, and the one that clients of it connect to."""

    protocol: Protocol
    host: str
    port: int
    advertised: tuple[str, int] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """The address that clients are told."""
        return self.advertised or (self.host, self.port)

    def __str__(self) -> str:
        address = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        return address if self.protocol is Protocol.PLAINTEXT else self._url(address)

    def _url(self, address: str) -> str:
        return f"{self.protocol.value}://{address}"


def endpoints(settings: BrokerSettings) -> list[Endpoint]:
    """The endpoints of `listen`. Raises ConfigError if one cannot be served safely."""
    found = [_endpoint(text) for text in _items(settings.listen)]
    if not found:
        raise ConfigError("listen is empty: give at least one address as HOST:PORT.")
    if settings.advertised:
        advertised = [parse_address(a, "advertised") for a in _items(settings.advertised)]
        if len(advertised) != len(found):
            raise ConfigError(
                f"advertised has {len(advertised)} addresses, and listen has {len(found)}. Give "
                "one for each, in the same order."
            )
        found = [e._replace(advertised=a) for e, a in zip(found, advertised, strict=True)]
    for endpoint in found:
        _check(endpoint, settings)
    return found


def exposed(settings: BrokerSettings) -> list[str]:
    """Addresses beyond loopback that anyone can use without proving who they are."""
    open_to_all = [
        str(endpoint)
        for endpoint in map(_endpoint, _items(settings.listen))
        if not is_loopback(endpoint.host) and not _is_protected(endpoint, settings)
    ]
    if settings.http is not None and not is_loopback(parse_address(settings.http, "http")[0]):
        open_to_all.append(settings.http)
    return open_to_all


def _is_protected(endpoint: Endpoint, settings: BrokerSettings) -> bool:
    if endpoint.protocol is Protocol.SSL:
        return settings.tls_client_ca is not None
    return endpoint.protocol is Protocol.SASL_SSL


def _items(text: str) -> Iterator[str]:
    return (item.strip() for item in text.split(",") if item.strip())


def _endpoint(text: str) -> Endpoint:
    name, separator, address = text.rpartition("://")
    try:
        protocol = Protocol(name) if separator else Protocol.PLAINTEXT
    except ValueError:
        known = ", ".join(protocol.value for protocol in Protocol)
        raise ConfigError(f"listen = {text!r} has an unknown protocol. Known: {known}.") from None
    return Endpoint(protocol, *parse_address(address, "listen"))


def _check(endpoint: Endpoint, settings: BrokerSettings) -> None:
    if endpoint.protocol.has_tls and (settings.tls_cert is None or settings.tls_key is None):
        raise ConfigError(
            f"listen = '{endpoint}' needs a certificate and its key: set tls_cert and tls_key to "
            "PEM files, or run `holdfast broker --secure`, which makes them."
        )
