"""Logins: nothing is answered before one, wrong ones are slow, and none tells who exists."""

import asyncio
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.secured import PASSWORD, add_users
from tests.unit.broker.serving.raw import RawClient, Served, frame, serving

from holdfast.broker.broker import Broker
from holdfast.broker.metrics import Metrics
from holdfast.broker.security import logins
from holdfast.broker.security.endpoints import Protocol
from holdfast.broker.security.scram import LoginFailed, ScramExchange, new_credential, parse_first
from holdfast.broker.security.security import Security
from holdfast.broker.security.session import Session
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import AccessDeniedError, ConfigError, DataDirectoryError
from holdfast.kafka.security import Security as ClientSecurity
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest
from holdfast.wire.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from holdfast.wire.protocol.generated.sasl_handshake_request import SaslHandshakeRequest

METADATA = frame("metadata", 9, MetadataRequest(topics=[]))
UNACCEPTABLE = ErrorCode.UNACCEPTABLE_CREDENTIAL
ALL = "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN"


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(logins, "FIRST_DELAY_SECONDS", 0.001)
    add_users(tmp_path, "alice")
    async with serving(tmp_path, Protocol.SASL_PLAINTEXT, sasl_mechanisms=ALL) as served:
        yield served


def log_in(port: int, mechanism: str, user: str, password: str) -> socket.socket:
    """With the gate's own client, on a thread of its own. Returns the connection."""
    connection = socket.create_connection(("127.0.0.1", port), 20)

    def exchange(request: bytes) -> bytearray:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", _exactly(connection, 4))
        return _exactly(connection, size)

    settings = {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }
    ClientSecurity(settings).log_in(exchange)
    return connection


def _exactly(connection: socket.socket, size: int) -> bytearray:
    received = bytearray()
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError
        received += part
    return received


async def handshake(client: RawClient, mechanism: str) -> Any:
    return await client.call("sasl_handshake", 1, SaslHandshakeRequest(mechanism))


async def say(client: RawClient, message: bytes) -> Any:
    return await client.call("sasl_authenticate", 2, SaslAuthenticateRequest(message))


@pytest.mark.parametrize("mechanism", ALL.split(","))
async def test_right_password_logs_in_and_a_wrong_one_does_not(
    served: Served, mechanism: str
) -> None:
    connection = await asyncio.to_thread(log_in, served.port, mechanism, "alice", PASSWORD)
    await asyncio.to_thread(connection.sendall, METADATA)
    assert await asyncio.to_thread(_exactly, connection, 4)
    connection.close()
    for user, password in (("alice", "wrong"), ("mallory", PASSWORD), ("Alice", PASSWORD)):
        with pytest.raises(AccessDeniedError, match="Wrong user name or password"):
            await asyncio.to_thread(log_in, served.port, mechanism, user, password)
    assert served.broker.metrics.logins == 1
    assert served.broker.metrics.failed_logins == 3


async def test_before_the_login_only_the_login_is_answered(served: Served) -> None:
    async with await served.client() as client:
        await client.call("api_versions", 3, ApiVersionsRequest("test", "1"))
        await client.send(METADATA)
        assert await client.closed()
    async with await served.client() as client:
        await handshake(client, "PLAIN")
        await client.send(METADATA)
        assert await client.closed()


async def test_a_large_request_before_the_login_is_refused(served: Served) -> None:
    async with await served.client() as client:
        await client.send(struct.pack(">i", 40_000))
        assert await client.closed()
    assert served.listener.request_memory.taken == 0


async def test_after_a_failed_login_the_connection_is_closed(served: Served) -> None:
    async with await served.client() as client:
        await handshake(client, "PLAIN")
        answer = await say(client, b"\0alice\0wrong")
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert await client.closed()


async def test_passwords_are_never_logged(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with await served.client() as client:
        await handshake(client, "PLAIN")
        await say(client, b"\0alice\0hunter2")
    assert "'alice' from 127.0.0.1 by PLAIN failed" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    "message",
    [
        b"", b"\0", b"alice\0secret", b"\0\0secret", b"\0alice\0", b"\0alice\0x\0y",
        b"bob\0alice\0" + PASSWORD.encode(), b"\0\xff\0x", bytes(range(256)),
    ],
)  # fmt: skip
async def test_odd_messages_of_plain_are_failed_logins(served: Served, message: bytes) -> None:
    async with await served.client() as client:
        await handshake(client, "PLAIN")
        answer = await say(client, message)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert await client.closed()
    assert served.broker.metrics.handler_failures == 0


async def test_an_unknown_mechanism_is_refused_with_the_known_ones(served: Served) -> None:
    async with await served.client() as client:
        answer = await handshake(client, "GSSAPI")
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == ALL.split(",")
        answer = await say(client, b"\0alice\0" + PASSWORD.encode())
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_plain_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert "PLAIN" not in BrokerSettings().sasl_mechanisms
    with pytest.raises(ConfigError, match="GSSAPI"):
        Security(BrokerSettings(data_dir=tmp_path, sasl_mechanisms="GSSAPI"), Metrics())


async def test_an_address_without_login_refuses_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        answer = await handshake(client, "PLAIN")
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        answer = await say(client, b"")
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_failures_of_a_host_wait_longer_each_time_and_are_forgotten() -> None:
    now = 0.0
    failures = logins.FailedLogins(lambda: now)
    delays = [failures.delay("a") for _ in range(40)]
    assert delays[:4] == [0.1, 0.2, 0.4, 0.8]
    assert max(delays) == delays[-1] == logins.LONGEST_DELAY_SECONDS
    assert failures.delay("b") == 0.1
    now += logins.FORGET_SECONDS + 1
    assert failures.delay("a") == 0.1


def test_failures_are_kept_for_a_bounded_number_of_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "MOST_HOSTS", 10)
    failures = logins.FailedLogins(lambda: 0.0)
    for number in range(100):
        failures.delay(f"host-{number}")
    assert len(failures._hosts) == 10


async def test_an_expired_login_must_be_renewed_by_the_same_user(tmp_path: Path) -> None:
    add_users(tmp_path, "alice", "bob")
    now = 0.0
    settings = BrokerSettings(
        data_dir=tmp_path, sasl_mechanisms="PLAIN", connections_max_reauth_ms=10_000
    )
    session = Session(Security(settings, Metrics()), "host", True, lambda: now)

    async def renew(user: str) -> None:
        assert session.begin("PLAIN") is ErrorCode.NONE
        await session.authenticate(f"\0{user}\0{PASSWORD}".encode())

    await renew("alice")
    assert session.lifetime_ms == 10_000
    assert session.refusal(3) is None
    now = 10.5
    assert "expired" in str(session.refusal(3))
    await renew("alice")
    assert session.refusal(3) is None
    with pytest.raises(LoginFailed, match="same user"):
        await renew("bob")
    assert session.refusal(3) is not None


async def test_a_login_is_not_repeated_unless_logins_expire(tmp_path: Path) -> None:
    add_users(tmp_path, "alice")
    settings = BrokerSettings(data_dir=tmp_path, sasl_mechanisms="PLAIN")
    session = Session(Security(settings, Metrics()), "host", True)
    assert session.begin("PLAIN") is ErrorCode.NONE
    await session.authenticate(f"\0alice\0{PASSWORD}".encode())
    assert session.begin("PLAIN") is ErrorCode.ILLEGAL_SASL_STATE


# SCRAM


def exchange(first: bytes = b"n,,n=alice,r=abc") -> ScramExchange:
    return ScramExchange("SCRAM-SHA-256", parse_first(first), new_credential("SCRAM-SHA-256", "x"))


@pytest.mark.parametrize(
    "message",
    [
        b"", b"n", b"n,,", b"n,,n=alice", b"n,,r=abc,n=alice", b"p=tls-unique,,n=a,r=b",
        b"n,a=bob,n=alice,r=abc", b"n,x,n=alice,r=abc", b"n,,n=,r=abc", b"n,,n=alice,r=",
        b"n,,n=al=ice,r=abc", b"\xff\xfe", b"n,,n=alice,r=" + b"x" * 1000, b"n,,n=a,r=\x01",
    ],
)  # fmt: skip
def test_odd_first_messages_are_failed_logins(message: bytes) -> None:
    with pytest.raises(LoginFailed):
        parse_first(message)


@pytest.mark.parametrize(
    "final",
    [
        "", "c=biws", "c=biws,r={nonce}", "c=biws,r={nonce},p=", "c=biws,r={nonce},p=!!!!",
        "c=biws,r=abc,p=AAAA", "c=eSws,r={nonce},p=AAAA", "r={nonce},c=biws,p=AAAA",
        "c=biws,r={nonce},p=" + "A" * 43 + "=",
    ],
)  # fmt: skip
def test_odd_final_messages_are_failed_logins(final: str) -> None:
    begun = exchange()
    nonce = begun.challenge.split(",")[0].removeprefix("r=")
    with pytest.raises(LoginFailed):
        begun.verify(final.format(nonce=nonce).encode())


def test_names_with_commas_and_equals_signs_are_unescaped() -> None:
    assert parse_first(b"n,,n=a=2Cb=3Dc,r=abc").user == "a,b=c"


async def test_a_name_that_does_not_exist_gets_the_same_challenge_each_time(
    served: Served,
) -> None:
    challenges = set()
    for _ in range(2):
        async with await served.client() as client:
            await handshake(client, "SCRAM-SHA-256")
            answer = await say(client, b"n,,n=nobody,r=abc")
            challenges.add(bytes(answer.auth_bytes).split(b",", 1)[1])
    assert len(challenges) == 1


# users


async def alter(client: RawClient, *changes: Any) -> list[int]:
    request = AlterUserScramCredentialsRequest(
        [change for change in changes if isinstance(change, ScramCredentialDeletion)],
        [change for change in changes if isinstance(change, ScramCredentialUpsertion)],
    )
    answer = await client.call("alter_user_scram_credentials", 0, request)
    return [result.error_code for result in answer.results]


async def test_users_survive_a_restart_and_the_file_is_private(tmp_path: Path) -> None:
    salted = os.urandom(64)
    async with serving(tmp_path) as served, await served.client() as client:
        added = ScramCredentialUpsertion("carol", 2, 4096, b"salt", salted)
        assert await alter(client, added) == [ErrorCode.NONE]
        known = served.broker.security.file.entries
    file = tmp_path / "access.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert salted.hex() not in file.read_text()
    async with serving(tmp_path) as again, await again.client() as client:
        assert again.broker.security.file.entries == known
        assert await alter(client, ScramCredentialDeletion("carol", 2)) == [ErrorCode.NONE]
        assert again.broker.security.file.entries.users == {}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (ScramCredentialUpsertion("", 1, 4096, b"s", bytes(32)), UNACCEPTABLE),
        (ScramCredentialUpsertion("u", 1, 4095, b"s", bytes(32)), UNACCEPTABLE),
        (ScramCredentialUpsertion("u", 1, 2**30, b"s", bytes(32)), UNACCEPTABLE),
        (ScramCredentialUpsertion("u", 1, 4096, b"", bytes(32)), UNACCEPTABLE),
        (ScramCredentialUpsertion("u", 1, 4096, b"s", b""), UNACCEPTABLE),
        (ScramCredentialUpsertion("u", 9, 4096, b"s", b""), ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        (ScramCredentialDeletion("u", 1), ErrorCode.RESOURCE_NOT_FOUND),
    ],
)  # fmt: skip
async def test_credentials_that_cannot_be_are_refused(
    tmp_path: Path, change: Any, error: ErrorCode
) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        fine = ScramCredentialUpsertion("fine", 1, 4096, b"s", bytes(32))
        assert sorted(await alter(client, fine, change)) == sorted([0, error])
        assert set(served.broker.security.file.entries.users) == {"fine"}


async def test_a_change_that_cannot_be_saved_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        file = served.broker.security.file

        def fail(entries: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(file, "save", fail)
        added = ScramCredentialUpsertion("carol", 1, 4096, b"s", bytes(32))
        assert await alter(client, added) == [ErrorCode.KAFKA_STORAGE_ERROR]
        assert file.entries.users == {}


async def test_a_damaged_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "access.json").write_text("{}")
    with pytest.raises(DataDirectoryError, match=r"access\.json"):
        Broker(BrokerSettings(data_dir=tmp_path))
