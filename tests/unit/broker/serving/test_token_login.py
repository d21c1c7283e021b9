"""Logins by token over a connection: the exchange of RFC 7628, and the end of a token."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.tokens import AUDIENCE, ISSUER, Issuer, initial_message, write_key_set
from tests.unit.broker.serving.raw import RawClient, Served, frame, serving

from holdfast.broker.security import logins
from holdfast.broker.security.endpoints import Protocol
from holdfast.broker.security.session import LONGEST_MESSAGE
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest
from holdfast.wire.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from holdfast.wire.protocol.generated.sasl_handshake_request import SaslHandshakeRequest

METADATA = MetadataRequest(topics=[])
KEY = Issuer("ES256")


@pytest.fixture
async def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(logins, "FIRST_DELAY_SECONDS", 0.001)
    settings: dict[str, Any] = {
        "sasl_mechanisms": "OAUTHBEARER",
        "oauth_jwks": str(write_key_set(tmp_path / "keys.json", KEY)),
        "oauth_issuer": ISSUER,
        "oauth_audience": AUDIENCE,
    }
    async with serving(tmp_path / "data", Protocol.SASL_PLAINTEXT, **settings) as served:
        yield served


async def authenticate(client: RawClient, message: bytes) -> Any:
    handshake = await client.call("sasl_handshake", 1, SaslHandshakeRequest("OAUTHBEARER"))
    assert handshake.error_code == 0
    return await client.call("sasl_authenticate", 2, SaslAuthenticateRequest(message))


async def test_client_with_a_token_is_its_user(served: Served) -> None:
    async with await served.client() as client:
        reply = await authenticate(client, initial_message(KEY.token("alice")))
        assert (reply.error_code, reply.auth_bytes) == (0, b"")
        assert 590_000 < reply.session_lifetime_ms <= 600_000
        await client.call("metadata", 9, METADATA)
    assert served.broker.metrics.logins == 1


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (KEY.token(seconds=-60), "expired"),
        (KEY.token(aud="other"), "aud"),
        (Issuer("ES256").token(), "No key"),
        ("x", "JSON Web Token"),
    ],
)
async def test_client_with_a_wrong_token_learns_why(
    served: Served, token: str, reason: str
) -> None:
    async with await served.client() as client:
        reply = await authenticate(client, initial_message(token))
        assert (reply.error_code, reply.auth_bytes) == (0, b'{"status":"invalid_token"}')
        reply = await client.call("sasl_authenticate", 2, SaslAuthenticateRequest(b"\x01"))
        assert reply.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert reason in reply.error_message
        assert token not in reply.error_message
        assert await client.closed()
    assert served.broker.metrics.failed_logins == 1


async def test_wrong_token_admits_to_nothing(served: Served) -> None:
    async with await served.client() as client:
        await authenticate(client, initial_message(KEY.token(seconds=-60)))
        await client.send(frame("metadata", 9, METADATA))
        assert await client.closed()
    async with await served.client() as client:  # not even to another try on this connection
        await authenticate(client, initial_message(KEY.token(seconds=-60)))
        message = SaslAuthenticateRequest(initial_message(KEY.token()))
        reply = await client.call("sasl_authenticate", 2, message)
        assert reply.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert await client.closed()


async def test_login_ends_with_its_token_unless_it_is_renewed(served: Served) -> None:
    async with await served.client() as client, await served.client() as other:
        for each in (client, other):
            reply = await authenticate(each, initial_message(KEY.token("alice", seconds=1)))
            assert 0 < reply.session_lifetime_ms <= 1_000
        renewed = await authenticate(client, initial_message(KEY.token("alice")))
        assert renewed.session_lifetime_ms > 500_000
        await asyncio.sleep(1.1)
        await client.call("metadata", 9, METADATA)
        await other.send(frame("metadata", 9, METADATA))
        assert await other.closed()


async def test_login_is_renewed_by_the_same_user_only(served: Served) -> None:
    async with await served.client() as client:
        await authenticate(client, initial_message(KEY.token("alice")))
        reply = await authenticate(client, initial_message(KEY.token("admin")))
        assert reply.auth_bytes == b'{"status":"invalid_token"}'
        await client.send(frame("metadata", 9, METADATA))
        assert await client.closed()


async def test_setting_shortens_the_life_of_a_login(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "sasl_mechanisms": "OAUTHBEARER",
        "oauth_jwks": str(write_key_set(tmp_path / "keys.json", KEY)),
        "connections_max_reauth_ms": 20_000,
    }
    async with (
        serving(tmp_path / "data", Protocol.SASL_PLAINTEXT, **settings) as served,
        await served.client() as client,
    ):
        reply = await authenticate(client, initial_message(KEY.token()))
        assert reply.session_lifetime_ms == 20_000


async def test_renewed_login_has_no_longer_message_than_the_first(served: Served) -> None:
    """Parsing takes over a hundred times the memory of the message."""
    filled = initial_message(KEY.token("alice"))[:-1] + b"x=" + b"y" * LONGEST_MESSAGE + b"\x01\x01"
    async with await served.client() as client:
        await authenticate(client, initial_message(KEY.token("alice")))
        reply = await authenticate(client, filled)
        assert reply.auth_bytes == b'{"status":"invalid_token"}'
        reply = await client.call("sasl_authenticate", 2, SaslAuthenticateRequest(b"\x01"))
        assert str(LONGEST_MESSAGE) in reply.error_message
