"""An embedded broker with TLS, logins and access control, and the settings of its clients."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.brokers import EmbeddedBroker, free_ports
from tests.certificates import Authority

from holdfast.broker.security.access_file import AccessFile, Entries
from holdfast.broker.security.scram import HASHES, new_credential

ADMIN = "admin"
PASSWORD = "a secret, with = and ,"


def add_users(data_dir: Path, *names: str, password: str = PASSWORD) -> None:
    """Adds users to a broker that does not run."""
    data_dir.mkdir(parents=True, exist_ok=True)
    file = AccessFile(data_dir)
    added = {n: {m: new_credential(m, password) for m in HASHES} for n in names}
    file.save(Entries({**file.entries.users, **added}, file.entries.acls))


class SecuredBroker(EmbeddedBroker):
    """Listens with SASL_SSL only. `admin` is its super user."""

    kind = "secured"

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        self.authority = Authority(directory / "ca")
        pair = self.authority.issue("broker")
        (port,) = free_ports(1)
        super().__init__(
            directory,
            {
                "listen": f"SASL_SSL://127.0.0.1:{port}",
                "tls_cert": pair.cert,
                "tls_key": pair.key,
                "sasl_mechanisms": "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN",
                "access_control": True,
                "super_users": f"User:{ADMIN}",
                **(settings or {}),
            },
        )
        self.port = port

    def _prepare(self) -> None:
        if not (self.data_dir / "access.json").exists():
            add_users(self.data_dir, ADMIN, "alice", "bob")

    def client(
        self, user: str = ADMIN, mechanism: str = "SCRAM-SHA-512", password: str = PASSWORD
    ) -> dict[str, Any]:
        """librdkafka's settings."""
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.authority.ca),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }
