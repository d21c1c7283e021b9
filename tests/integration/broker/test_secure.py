"""`holdfast broker --secure`: one command, and nothing is served without a login."""

import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import BrokerFailedError, EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S

from holdfast import Client, connect
from holdfast.broker.security.access_file import AccessFile
from holdfast.broker.security.scram import HASHES
from holdfast.errors import HoldfastError


class Secure(EmbeddedBroker):
    @property
    def folder(self) -> Path:
        return self.data_dir / "secure"

    @property
    def config(self) -> Path:
        return self.folder / "holdfast.toml"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Secure]:
    with Secure(tmp_path, {"secure": True}) as broker:
        yield broker


def connected(broker: Secure) -> Client:
    return connect(config_file=broker.config, connect_timeout=DEADLINE_S)


def holdfast(broker: Secure, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast.cli", *arguments, "--config", str(broker.config)]
    return subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env={**os.environ, "HOLDFAST_CLIENT_CONNECT_TIMEOUT": "60"},
    )


def test_clients_with_the_settings_file_connect_and_others_do_not(broker: Secure) -> None:
    with connected(broker) as client:
        client.send("t", {"id": 1}).result()
    with pytest.raises(HoldfastError):
        connect(broker.bootstrap, connect_timeout=2)
    with socket.create_connection(("127.0.0.1", broker.port), 10) as plain:
        plain.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")
        assert plain.recv(100)[:1] in (b"", b"\x15"), "an answer in plaintext"


def test_files_are_private_and_kept_through_restarts(broker: Secure) -> None:
    assert broker.folder.stat().st_mode & 0o777 == 0o700
    for name in ("ca.key", "broker.key", "holdfast.toml", "client.properties"):
        assert (broker.folder / name).stat().st_mode & 0o777 == 0o600, name
    before = {path.name: path.read_bytes() for path in broker.folder.iterdir()}
    broker.restart()
    assert {path.name: path.read_bytes() for path in broker.folder.iterdir()} == before
    with connected(broker) as client:
        client.send("t", b"v").result()


def test_users_are_added_listed_and_removed(broker: Secure) -> None:
    added = holdfast(broker, "user", "add", "anna", given="a long password\n")
    assert added.returncode == 0, added.stderr
    assert "anna" in holdfast(broker, "user", "ls").stdout
    assert "a long password" not in broker.log_text()
    kafka = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(broker.folder / "ca.pem"),
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "anna",
        "sasl.password": "a long password",
    }
    with connect(f"localhost:{broker.port}", kafka=kafka, connect_timeout=DEADLINE_S) as client:
        assert client.topics.list() == []  # nothing is permitted yet
    removed = holdfast(broker, "user", "rm", "anna", "--yes")
    assert removed.returncode == 0, removed.stderr
    assert "anna" not in holdfast(broker, "user", "ls").stdout


def test_beyond_loopback_nothing_but_secure_is_allowed(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with pytest.raises(BrokerFailedError, match="holdfast broker --secure"):
        EmbeddedBroker(tmp_path / "open", {"listen": f"0.0.0.0:{port}"}).start()
    everywhere = {"listen": f"0.0.0.0:{port}", "advertised": f"localhost:{port}"}
    with Secure(tmp_path, {"secure": True, **everywhere}) as broker:
        with connected(broker) as client:
            client.send("t", b"v").result()
        assert "INSECURE" not in broker.log_text()
    open_to_all = {"listen": f"0.0.0.0:{port}", "insecure_listen": True}
    with EmbeddedBroker(tmp_path / "insecure", open_to_all) as insecure:
        assert "INSECURE" in insecure.log_text()


@pytest.mark.parametrize("seed", range(2))
def test_users_and_lists_survive_kill_9_whole(tmp_path: Path, seed: int) -> None:
    """A user has all credentials and lists of a request or none, and what was acknowledged is
    there."""
    with Secure(tmp_path, {"secure": True}) as broker:
        writer = subprocess.Popen(
            [sys.executable, "-c", _ADD_USERS, str(broker.config)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(5 + 7 * seed)]
        broker.kill()
        lines += writer.stdout.readlines()
        writer.wait(DEADLINE_S)
        acknowledged = {line.strip() for line in lines if line.strip()}
        assert len(acknowledged) >= 5
        entries = AccessFile(broker.data_dir).entries
        lists = Counter(acl.principal for acl in entries.acls)
        assert all(set(found) == set(HASHES) for found in entries.users.values())
        assert set(lists.values()) == {2}
        assert acknowledged <= set(entries.users)
        assert {f"User:{name}" for name in acknowledged} <= set(lists)
        assert len(entries.users) <= len(acknowledged) + 2  # the admin, and one without an answer
        broker.start()
        with connected(broker) as client:
            client.send("t", b"v").result()


_ADD_USERS = """
import os, sys
from pathlib import Path
from confluent_kafka.admin import *
from holdfast import connect
from holdfast.client.users import Users
client = connect(config_file=Path(sys.argv[1]), connect_timeout=60, request_timeout=10)
try:
    for number in range(1000):
        name = f"user-{number}"
        Users(client.connection).add(name, "a password")
        lists = [
            AclBinding(ResourceType.TOPIC, "t", ResourcePatternType.LITERAL, f"User:{name}", "*",
                       operation, AclPermissionType.ALLOW)
            for operation in (AclOperation.READ, AclOperation.WRITE)
        ]
        for future in client.connection.admin.create_acls(lists).values():
            future.result(10)
        print(name, flush=True)
except Exception:
    os._exit(0)
"""
