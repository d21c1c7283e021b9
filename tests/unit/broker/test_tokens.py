"""Tokens of OAUTHBEARER: which are accepted, and that no others are."""

import asyncio
import base64
import contextlib
import http.server
import json
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tokens import (
    AUDIENCE,
    ISSUER,
    Issuer,
    encoded,
    encoded_json,
    initial_message,
    key_set,
    write_key_set,
)

from holdfast.broker.security import key_set as key_sets
from holdfast.broker.security.key_set import KeySet
from holdfast.broker.security.oauth import TokenLogins, parse_message, token_logins
from holdfast.broker.security.scram import LoginFailed
from holdfast.broker.security.tokens import (
    CLOCK_SKEW_SECONDS,
    Claims,
    check_claims,
    parse_keys,
    parse_token,
    verify,
)
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError

RSA, EC = Issuer("RS256", "rsa"), Issuer("ES256", "ec")
NOW = 1_000_000.0
GOOD = {"exp": NOW + 60, "sub": "alice", "iss": ISSUER, "aud": AUDIENCE, "scope": "read write"}


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "ES256", "ES384", "ES512"])
def test_token_of_the_issuer_is_verified(algorithm: str) -> None:
    issuer = Issuer(algorithm)
    (key,) = parse_keys(key_set(issuer))
    assert verify(parse_token(issuer.token()), key)


@pytest.mark.parametrize("issuer", [RSA, EC], ids=["RS256", "ES256"])
def test_changed_token_is_not_verified(issuer: Issuer) -> None:
    (key,) = parse_keys(key_set(issuer))
    header, claims, signature = issuer.token("alice").split(".")
    other = encoded_json(issuer.claims("admin"))
    assert not verify(parse_token(f"{header}.{other}.{signature}"), key)
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[10] ^= 1
    assert not verify(parse_token(f"{header}.{claims}.{encoded(bytes(raw))}"), key)
    assert not verify(parse_token(f"{header}.{claims}.{encoded(bytes(raw[:-1]))}"), key)
    assert not verify(parse_token(f"{header}.{claims}."), key)


def test_key_of_another_is_not_enough() -> None:
    (key,) = parse_keys(key_set(RSA))
    assert not verify(parse_token(Issuer("RS256", "rsa").token()), key)
    assert not verify(parse_token(EC.token()), key)
    (key,) = parse_keys(key_set(EC))
    assert not verify(parse_token(RSA.token()), key)
    assert not verify(parse_token(Issuer("ES384", "ec").token()), key)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "", "rs256", None, 7, ["RS256"]])
def test_token_without_a_signature_by_a_private_key_is_refused(algorithm: Any) -> None:
    with pytest.raises(LoginFailed, match="signed by one of"):
        parse_token(RSA.sign(RSA.claims(), alg=algorithm))


def test_key_has_one_algorithm() -> None:
    """A key for PS256 does not verify RS256."""
    document = json.loads(key_set(RSA))
    document["keys"][0]["alg"] = "PS256"
    (key,) = parse_keys(json.dumps(document).encode())
    assert not verify(parse_token(RSA.token()), key)


@pytest.mark.parametrize(
    "other",
    [
        Issuer(bits=1024).jwk(),
        {"kty": "RSA", "kid": "incomplete"},
        {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"},
        {"kty": "OKP", "crv": "Ed25519"},
        7,
    ],
)
def test_keys_of_a_set_are_used_beside_unusable_ones(other: Any) -> None:
    keys = parse_keys(json.dumps({"keys": [other, RSA.jwk(), other]}).encode())
    assert [key.key_id for key in keys] == [RSA.key_id]


def test_critical_extension_is_refused() -> None:
    with pytest.raises(LoginFailed, match="header"):
        parse_token(RSA.sign(RSA.claims(), crit=["x"]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"exp": None}, "exp"),
        ({"exp": NOW - CLOCK_SKEW_SECONDS}, "expired"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": float("nan")}, "exp"),
        ({"nbf": NOW + CLOCK_SKEW_SECONDS + 1}, "nbf"),
        ({"iat": NOW + CLOCK_SKEW_SECONDS + 1}, "iat"),
        ({"iss": "https://other.test"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "other"}, "aud"),
        ({"aud": ["other", 7]}, "aud"),
        ({"aud": f"{AUDIENCE} other"}, "aud"),
        ({"scope": "read"}, "scope"),
        ({"scope": "rewrite read"}, "scope"),
        ({"sub": ""}, "sub"),
        ({"sub": 7}, "sub"),
        ({"sub": "a\nb"}, "sub"),
        ({"sub": "a" * 300}, "sub"),
    ],
)
def test_token_that_does_not_suffice_is_refused(change: dict[str, Any], reason: str) -> None:
    claims = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    with pytest.raises(LoginFailed, match=reason):
        check_claims(claims, Claims(ISSUER, AUDIENCE, "write read"), NOW)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"exp": NOW - CLOCK_SKEW_SECONDS + 1},
        {"nbf": NOW + CLOCK_SKEW_SECONDS},
        {"aud": ["other", AUDIENCE]},
        {"scope": ["write", "read", "more"]},
    ],
)
def test_token_that_suffices_is_accepted(change: dict[str, Any]) -> None:
    login = check_claims({**GOOD, **change}, Claims(ISSUER, AUDIENCE, "write read"), NOW)
    assert login.user == "alice"


def test_name_of_the_user_is_a_claim() -> None:
    login = check_claims({**GOOD, "email": "a@b"}, Claims(principal="email"), NOW)
    assert login == ("a@b", NOW + 60)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"n,,\x01auth=Bearer a.b.c\x01\x01", (None, "a.b.c")),
        (b"n,a=me,\x01auth=bearer  a.b.c\x01\x01", ("me", "a.b.c")),
        (b"n,a=x=2Cy=3D,\x01auth=Bearer a\x01traceId=1 2\x01\x01", ("x,y=", "a")),
        (b"", None),
        (b"\x01", None),
        (b"n,,\x01auth=Bearer a.b.c\x01", None),
        (b"n,,\x01auth=Basic a.b.c\x01\x01", None),
        (b"n,,\x01auth=Bearer \x01\x01", None),
        (b"n,,\x01x=Bearer a\x01\x01", None),
        (b"p=tls,,\x01auth=Bearer a\x01\x01", None),
        (b"n,a=\xff,\x01auth=Bearer a\x01\x01", None),
    ],
)
def test_message_of_the_client(message: bytes, expected: tuple[str | None, str] | None) -> None:
    if expected is not None:
        assert parse_message(message) == expected
        return
    with pytest.raises(LoginFailed):
        parse_message(message)


def test_random_changes_of_a_token_are_refused() -> None:
    (key,) = parse_keys(key_set(EC))
    token = EC.token("alice").encode()
    for seed in range(2_000):
        source = random.Random(seed)
        changed = bytearray(token)
        for _ in range(source.randint(1, 4)):
            changed[source.randrange(len(changed))] = source.choice(b".-_=AZaz09\0\xff {")
        message = initial_message("x").replace(b"x", bytes(changed))
        try:
            signed = parse_token(parse_message(message)[1])
        except LoginFailed:
            continue
        if verify(signed, key):  # the last characters of a text in base 64 have unused bits
            assert signed == parse_token(token.decode()), seed


async def test_rotated_key_of_a_file_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_sets, "RETRY_SECONDS", 0.0)
    path = write_key_set(tmp_path / "keys.json", RSA)
    logins = TokenLogins(KeySet(str(path)), Claims())
    assert (await logins.check(initial_message(RSA.token("alice")))).user == "alice"
    with pytest.raises(LoginFailed, match="No key"):
        await logins.check(initial_message(EC.token("alice")))
    write_key_set(path, EC)
    assert (await logins.check(initial_message(EC.token("alice")))).user == "alice"
    with pytest.raises(LoginFailed, match="No key"):
        await logins.check(initial_message(RSA.token("alice")))
    path.write_text("no keys")  # the last ones stay
    with pytest.raises(LoginFailed, match="No key"):
        await logins.check(initial_message(RSA.token("alice")))
    assert (await logins.check(initial_message(EC.token("alice")))).user == "alice"
    logins.close()


async def test_user_can_only_be_the_one_of_the_token(tmp_path: Path) -> None:
    logins = TokenLogins(KeySet(str(write_key_set(tmp_path / "keys.json", RSA))), Claims())
    assert (await logins.check(initial_message(RSA.token("alice"), "alice"))).user == "alice"
    with pytest.raises(LoginFailed, match="another user"):
        await logins.check(initial_message(RSA.token("alice"), "admin"))
    logins.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    answer: Callable[[], tuple[int, bytes]]
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        status, body = type(self).answer()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def _address(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/keys"
    finally:
        server.shutdown()
        server.server_close()


async def test_revoked_key_is_refused_after_an_hour_without_logins() -> None:
    answers = [(200, key_set(RSA, EC)), (200, key_set(EC))]

    class Handler(_Handler):
        answer = staticmethod(lambda: answers[0])

    time = [0.0]
    with _address(Handler) as address:
        logins = TokenLogins(KeySet(address, lambda: time[0]), Claims())
        message = initial_message(RSA.token("alice"))
        assert (await logins.check(message)).user == "alice"
        answers.pop(0)
        time[0] += key_sets.REFRESH_SECONDS
        both = await asyncio.gather(
            logins.check(message), logins.check(message), return_exceptions=True
        )
        assert [str(each) for each in both if isinstance(each, LoginFailed)] == [
            "No key of the issuer (oauth_jwks) has signed the token."
        ] * 2
        assert Handler.asked == 2
        assert (await logins.check(initial_message(EC.token("bob")))).user == "bob"
        logins.close()


async def test_keys_of_an_address() -> None:
    answers: list[tuple[int, bytes]] = [(500, b""), (302, b""), (200, key_set(RSA))]

    class Handler(_Handler):
        answer = staticmethod(lambda: answers[0])

    time = [0.0]
    message = initial_message(RSA.token("alice"))
    with _address(Handler) as address:
        logins = TokenLogins(KeySet(address, lambda: time[0]), Claims())
        for asked in (1, 2):  # the address is down, or names another
            with pytest.raises(LoginFailed, match="No key"):
                await logins.check(message)
            with pytest.raises(LoginFailed, match="No key"):
                await logins.check(message)  # not asked again at once
            assert Handler.asked == asked
            answers.pop(0)
            time[0] += key_sets.RETRY_SECONDS
        assert (await logins.check(message)).user == "alice"
        assert Handler.asked == 3
        time[0] += key_sets.REFRESH_SECONDS - 1
        await logins.check(message)
        assert Handler.asked == 3
        with pytest.raises(LoginFailed, match="No key"):
            await logins.check(initial_message(EC.token("alice")))
        assert Handler.asked == 4
        logins.close()


async def test_address_that_does_not_speak_http_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"SSH-2.0-other\r\n")

    with _address(Handler) as address:
        logins = TokenLogins(KeySet(address), Claims())
        with pytest.raises(LoginFailed, match="No key"):
            await logins.check(initial_message(RSA.token("alice")))
        logins.close()
    assert "The keys of oauth_jwks" in caplog.text


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{}",
        b'{"keys": []}',
        b'{"keys": [{"kty": "oct", "k": "AAAA"}]}',
        b'{"keys": [{"kty": "RSA"}]}',
        key_set(Issuer(bits=1024)),
        b"[" * 100_000,
    ],
)
def test_file_without_usable_keys_stops_the_start(tmp_path: Path, document: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(document)
    with pytest.raises(ConfigError, match="oauth_jwks"):
        KeySet(str(path))


@pytest.mark.parametrize("source", ["http://issuer.test/keys", "ftp://127.0.0.1/keys"])
def test_unprotected_address_is_refused(source: str) -> None:
    with pytest.raises(ConfigError, match="https"):
        KeySet(source)


def test_mechanism_without_keys_is_refused() -> None:
    with pytest.raises(ConfigError, match="oauth_jwks"):
        token_logins(BrokerSettings())
