"""The settings of the web process."""

from dataclasses import dataclass
from typing import Literal

from holdfast.addresses import is_loopback, parse_address
from holdfast.errors import ConfigError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """Settings of one web process, under `[web]` in holdfast.toml."""

    listen: str = "127.0.0.1:8600"
    """Address to listen on. On addresses other than loopback a token is required, and TLS is
    recommended."""
    tls_cert: str = ""
    """File with the certificate chain, as PEM. With `tls_key` the process serves HTTPS."""
    tls_key: str = ""
    """File with the private key, as PEM."""
    hosts: str = ""
    """Host names, separated by commas, that browsers may use besides those of loopback: for a proxy
    or a tunnel in front. On other addresses every name is accepted unless some are given."""
    wait: float = 0.0
    """Seconds to wait at the start for a broker that does not answer yet."""

    max_body_bytes: int = 16 * MIB
    """Room for ten thousand keys in one request, unless they are unusually long."""
    head_seconds: float = 10.0
    """Seconds until the head of a request must be complete."""
    request_seconds: float = 60.0
    """Seconds until an answer must begin. Live streams last as long as they are read."""
    requests_per_second: float = 100.0
    """Limit per credential, or per address without credentials; far above the need of pages."""
    request_burst: int = 1000
    """Requests at once before the rate applies: many tabs reconnect after a restart."""
    max_connections: int = 2_000
    """Open connections; further ones are answered with 503."""
    log_format: Literal["text", "json"] = "text"
    """Text lines for people, or one JSON object per line."""
    access_log: bool = True
    """Log every request; otherwise only those that fail by an error of Holdfast."""

    @property
    def loopback(self) -> bool:
        """True if only this machine can reach it."""
        return is_loopback(parse_address(self.listen, "listen")[0])

    @property
    def tls(self) -> bool:
        return bool(self.tls_cert)

    @property
    def named_hosts(self) -> frozenset[str]:
        return frozenset(filter(None, (name.strip().lower() for name in self.hosts.split(","))))

    def __post_init__(self) -> None:
        parse_address(self.listen, "listen")
        if bool(self.tls_cert) is not bool(self.tls_key):
            raise ConfigError("TLS needs both tls_cert and tls_key, and one of them is missing.")
        for setting in ("head_seconds", "request_seconds", "requests_per_second", "request_burst"):
            if getattr(self, setting) <= 0:
                raise ConfigError(f"{setting} must be more than 0.")
