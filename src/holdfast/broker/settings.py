"""The settings of a broker. Topic settings are in `topic_config`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.config import fixed

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Settings of one broker process, under `[broker]` in holdfast.toml."""

    listen: str = "127.0.0.1:9092"
    """Addresses to listen on, with commas between. `HOST:PORT` is plaintext; with a protocol in
    front it is `SSL://`, `SASL_PLAINTEXT://` or `SASL_SSL://HOST:PORT`. Beyond loopback only
    `SASL_SSL`, and `SSL` with `tls_client_ca`, are allowed unless `insecure_listen` is set."""
    insecure_listen: bool = False
    """Allow addresses beyond loopback without encryption and login: anyone who reaches one can read
    and write everything. The broker logs a warning at every start."""
    advertised: str | None = None
    """Addresses that clients connect to, if they differ from `listen`: one for each, in the same
    order."""
    data_dir: Path = Path("holdfast-data/broker")
    """Folder of all records and of the broker's state. One process at a time can use it."""
    flush: Literal["sync", "os"] = "sync"
    """`sync`: acknowledged means on disk (group-commit fdatasync). `os`: in the page cache."""
    http: str | None = None
    """Address of `/metrics` and `/healthz`. Off by default."""

    secure: bool = False
    """Encrypt, demand a login and control access. The first start makes a CA, certificates, the
    user `admin` and the settings files of clients, in the folder `secure` of `data_dir`."""
    tls_cert: Path | None = None
    """Certificate of this broker and its chain, in PEM. The broker loads it again when the file
    changes."""
    tls_key: Path | None = None
    """Private key of `tls_cert`, in PEM, without a password."""
    tls_client_ca: Path | None = None
    """Certificates in PEM that sign those of clients. Then `SSL` addresses demand a certificate
    from each client, whose subject is the client's name."""

    sasl_mechanisms: str = "SCRAM-SHA-512,SCRAM-SHA-256"
    """How clients of `SASL_` addresses may log in, with commas between. `PLAIN` sends the password
    itself, and `OAUTHBEARER` needs `oauth_jwks`, so both are off unless they are named here."""
    oauth_jwks: str | None = None
    """Keys of the issuer of tokens, for logins by `OAUTHBEARER`: a file with a JWK set, or its
    `https://` address. The broker loads it again when a token has an unknown key."""
    oauth_issuer: str | None = None
    """The issuer (`iss`) that tokens must have. By default it does not matter."""
    oauth_audience: str | None = None
    """The audience (`aud`) that tokens must have. Without it, tokens that the issuer has made for
    other services are accepted too."""
    oauth_scope: str | None = None
    """Scopes that tokens must have, with spaces between. By default they do not matter."""
    oauth_principal_claim: str = "sub"
    """The claim of a token that is the name of the user."""
    connections_max_reauth_ms: int = 0
    """How long a login is valid before the client must renew it, in milliseconds; 0 for ever. A
    login by token is never valid for longer than the token."""
    access_control: bool = False
    """Demand a permission for everything that clients do: an access control list, made with Kafka's
    tools (`kafka-acls`) or an admin client. Without it, everyone who can connect may do
    everything."""
    super_users: str = ""
    """Principals that may do everything, as `User:NAME`, with semicolons between."""

    auto_create_topics: bool = True
    """Create a missing topic when a client requests it and allows that."""
    default_partitions: int = 1
    """Partitions of topics that are created without a number of partitions."""

    log_retention_ms: int = 604_800_000
    """`retention.ms` of topics without their own, in milliseconds; -1 for ever. Clients can change
    this and the next three while the broker runs, as `log.retention.ms`."""
    log_retention_bytes: int = -1
    """`retention.bytes` of topics without their own; -1 for no limit."""
    log_segment_bytes: int = 1_073_741_824
    """`segment.bytes` of topics without their own."""
    message_max_bytes: int = 1_048_588
    """`max.message.bytes` of topics without their own: the maximum size of a record batch."""

    group_consumer_session_timeout_ms: int = 45_000
    """A member of a consumer group (KIP-848) that sends no heartbeat for this long is removed. A
    group can have another time, as `consumer.session.timeout.ms`."""
    group_consumer_min_session_timeout_ms: int = 45_000
    """Minimum of the session timeout of a consumer group."""
    group_consumer_max_session_timeout_ms: int = 60_000
    """Maximum of the session timeout of a consumer group."""
    group_consumer_heartbeat_interval_ms: int = 5_000
    """How often members of consumer groups (KIP-848) send heartbeats. A group can have another
    time, as `consumer.heartbeat.interval.ms`."""
    group_consumer_min_heartbeat_interval_ms: int = 5_000
    """Minimum of the heartbeat interval of a consumer group."""
    group_consumer_max_heartbeat_interval_ms: int = 15_000
    """Maximum of the heartbeat interval of a consumer group."""

    max_connections: int = 2_000
    """Maximum number of open connections. Above it the longest idle one is closed."""
    max_connections_per_host: int = 1_000
    """Maximum number of open connections from one address. All clients of this machine share it."""
    idle_connection_seconds: float = 600.0
    """A connection without a request for this long is closed."""
    max_request_bytes: int = 100 * MIB
    """Maximum size of a request."""
    request_memory_bytes: int = 256 * MIB
    """Limit of all unfinished requests together. Above it the broker stops reading."""
    reply_memory_bytes: int = 256 * MIB
    """Limit of all unsent replies together. Above it fetches return less at a time."""

    housekeeping_seconds: float = 30.0
    """How often the broker checks retention, compaction and expiry."""

    # Constants that tests may override, or that DescribeConfigs reports under Kafka's names.

    fetch_max_bytes: int = fixed(55 * MIB)
    """Maximum size of the records in one fetch reply."""

    group_min_session_timeout_ms: int = fixed(6_000)
    """Members that ask for a shorter timeout are refused."""
    group_max_session_timeout_ms: int = fixed(1_800_000)
    """Members that ask for a longer timeout are refused; the gate asks for half an hour."""
    group_initial_rebalance_delay_ms: int = fixed(0)
    """How long the first member of an empty group waits for others."""
    offsets_retention_minutes: int = fixed(10_080)
    """How long committed offsets are kept after the last member of a group has left."""

    transaction_max_timeout_ms: int = fixed(900_000)
    """Producers that ask for a longer timeout are refused."""
    transactional_id_expiration_ms: int = fixed(604_800_000)
    """How long a transactional id is kept without a transaction."""
    producer_id_expiration_ms: int = fixed(86_400_000)
    """How long a partition keeps the state of a producer without a batch."""
