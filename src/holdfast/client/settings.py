"""The settings of a client."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Arguments of `connect`, `HOLDFAST_CLIENT_*` variables, or `[client]` in holdfast.toml."""

    bootstrap: str = "localhost:9092"
    """Addresses to begin with: `host:port`, several with commas between."""
    client_id: str = "holdfast"
    """The name under which brokers count and log this client."""
    connect_timeout: float = 5.0
    """Seconds within which a broker must answer when connecting."""
    request_timeout: float = 15.0
    """Seconds that a request other than sending and reading records may take."""
    kafka: dict[str, Any] = field(default_factory=dict)
    """More settings for librdkafka, by its names, e.g. `security.protocol`."""
