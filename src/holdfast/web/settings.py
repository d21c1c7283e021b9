"""What can be set about the web process."""

from dataclasses import dataclass
from typing import Literal

from holdfast.addresses import is_loopback, parse_address
from holdfast.errors import ConfigError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """Settings of one web process, under `[web]` in holdfast.toml."""

    listen: str = "127.0.0.1:8600"
    """Address to listen on. Beyond loopback it takes tokens, and, in earnest, TLS."""
    tls_cert: str = ""
    """File of the certificate chain, as PEM; with `tls_key` the process speaks HTTPS."""
    tls_key: str = ""
    """File of its private key, as PEM."""
    hosts: str = ""
    """Names, with commas between, by which browsers may call it, besides those of loopback: for a
    proxy or a tunnel in front. Beyond loopback every name is taken unless some are given."""
    wait: float = 0.0
    """Seconds to wait at the start for a broker that does not answer yet."""

    max_body_bytes: int = 16 * MIB
    """Room for ten thousand keys in one request, unless they are unusually long."""
    head_seconds: float = 10.0
    """Until the head of a request is there."""
    request_seconds: float = 60.0
    """Until an answer begins. Live streams go on for as long as they are read."""
    requests_per_second: float = 100.0
    """Of one credential, or one address without; far above what pages need."""
    request_burst: int = 1000
    """Requests at once before that rate counts: many tabs that come back after a restart."""
    max_connections: int = 2_000
    """Open at once; those past it are answered with 503."""
    log_format: Literal["text", "json"] = "text"
    """Lines for people, or an object a line."""
    access_log: bool = True
    """A line for each request; without it only for those that fail by our own fault."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
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
