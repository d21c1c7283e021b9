"""What can be set about a broker. Topic settings are in `topic_config`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Settings of one broker process, under `[broker]` in holdfast.toml."""

    listen: str = "127.0.0.1:9092"
    """Address to listen on. The protocol is served without credentials, so only loopback is taken
    unless `insecure_listen` says that the network itself is trusted."""
    insecure_listen: bool = False
    """Listen beyond loopback: whoever reaches the address may read and write everything."""
    advertised: str | None = None
    """Address that clients are told to connect to, where it differs from `listen`."""
    data_dir: Path = Path("holdfast-data/broker")
    """Records, and all that the broker remembers. One process at a time may use it."""
    flush: Literal["sync", "os"] = "sync"
    """`sync`: acknowledged means on disk (group-commit fdatasync). `os`: in the page cache."""
    http: str | None = None
    """Address of `/metrics` and `/healthz`; none unless given."""

    auto_create_topics: bool = True
    """Make a topic when a client that allows it asks for one that is not there."""
    default_partitions: int = 1
    """Of topics that are made without saying how many."""

    max_connections: int = 2_000
    """Open at once; those past it are closed as they come."""
    idle_connection_seconds: float = 600.0
    """Without a request, after which a connection is closed."""
    max_request_bytes: int = 100 * MIB
    """Largest frame taken from a client."""
    request_memory_bytes: int = 256 * MIB
    """All unfinished requests together; past it connections wait to be read."""
    reply_memory_bytes: int = 256 * MIB
    """All unsent replies together; past it fetches return less at a time."""
    fetch_max_bytes: int = 55 * MIB
    """Most records in one fetch reply."""

    group_min_session_timeout_ms: int = 6_000
    """Members that ask for a shorter one are refused."""
    group_max_session_timeout_ms: int = 1_800_000
    """Members that ask for a longer one are refused; the gate asks for half an hour."""
    group_initial_rebalance_delay_ms: int = 0
    """How long the first member of an empty group waits for others. Nobody starts a fleet here."""
    offsets_retention_minutes: int = 10_080
    """After the last member of a group has left, until its committed offsets are forgotten."""

    transaction_max_timeout_ms: int = 900_000
    """Producers that ask for a longer one are refused."""
    transactional_id_expiration_ms: int = 604_800_000
    """Without a transaction, after which a transactional id is forgotten."""
    producer_id_expiration_ms: int = 86_400_000
    """Without a batch, after which a partition forgets what it knows of a producer."""

    housekeeping_seconds: float = 30.0
    """How often retention, compaction and expiry are looked at."""
