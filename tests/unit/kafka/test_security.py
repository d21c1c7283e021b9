"""Logging in, against the broker's side of it."""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

import pytest

from holdfast.errors import AccessDeniedError, ConfigError
from holdfast.kafka.security import Security

ACCEPTED, DENIED, UNSUPPORTED = 0, 58, 33
SALT = b"some salt"
ROUNDS = 4096


@dataclass
class Broker:
    """The broker's side: what it is sent, and what it says to it. RFC 5802 from the other end."""

    mechanism: str
    name: str
    password: str
    shown: list[bytes] = field(default_factory=list)
    foreign_nonce: bool = False
    knows_password: bool = True

    def exchange(self, frame: bytes) -> bytearray:
        key, version = int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big")
        body = frame[10:]  # behind the header: number, and a client's name that is null
        if key == 17:
            assert version == 1
            size = int.from_bytes(body[:2], "big")
            known = body[2 : 2 + size].decode() == self.mechanism
            assert len(body) == 2 + size
            code = ACCEPTED if known else UNSUPPORTED
            return bytearray(bytes(4) + code.to_bytes(2, "big") + bytes(4))
        assert (key, version) == (36, 0)
        token = body[4:]
        assert int.from_bytes(body[:4], "big") == len(token)
        self.shown.append(token)
        answer = self.plain(token) if self.mechanism == "PLAIN" else self.scram(token.decode())
        if answer is None:
            text = b"Authentication failed."
            return bytearray(
                bytes(4)
                + DENIED.to_bytes(2, "big")
                + len(text).to_bytes(2, "big")
                + text
                + bytes(4)
            )
        return bytearray(bytes(4) + b"\0\0\xff\xff" + len(answer).to_bytes(4, "big") + answer)

    def plain(self, token: bytes) -> bytes | None:
        expected = b"\0" + self.name.encode() + b"\0" + self.password.encode()
        return b"" if token == expected else None

    def scram(self, text: str) -> bytes | None:
        if len(self.shown) == 1:
            assert text.startswith("n,,n=")
            said = dict(part.split("=", 1) for part in text[3:].split(","))
            assert not re.search("=(?!2C|3D)", said["n"]), "RFC 5802, 5.1"
            if said["n"].replace("=2C", ",").replace("=3D", "=") != self.name:
                return None
            nonce = "x" * 24 if self.foreign_nonce else said["r"] + "theirs"
            self.shown.append(f"r={nonce},s={base64.b64encode(SALT).decode()},i={ROUNDS}".encode())
            return self.shown[-1]
        algorithm = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[self.mechanism]
        salted = hashlib.pbkdf2_hmac(algorithm, self.password.encode(), SALT, ROUNDS)
        final, _, proof = text.rpartition(",p=")
        everything = b",".join([self.shown[0][3:], self.shown[1], final.encode()])
        stored = hashlib.new(algorithm, hmac.digest(salted, b"Client Key", algorithm)).digest()
        signature = hmac.digest(stored, everything, algorithm)
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if hashlib.new(algorithm, key).digest() != stored:
            return None
        server_key = hmac.digest(salted, b"Server Key", algorithm)
        shown = server_key if self.knows_password else bytes(len(server_key))
        return b"v=" + base64.b64encode(hmac.digest(shown, everything, algorithm))


MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


def security(mechanism: str, name: str = "ana", password: str = "pass=wörd,1") -> Security:
    return Security(
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": mechanism,
            "sasl.username": name,
            "sasl.password": password,
        }
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", ["ana", "a=n,a"])
def test_a_client_with_the_password_is_logged_in(mechanism: str, name: str) -> None:
    broker = Broker(mechanism, name, "pass=wörd,1")
    security(mechanism, name).log_in(broker.exchange)
    if mechanism != "PLAIN":
        assert b"pass" not in b"".join(broker.shown)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_client_with_a_wrong_password_gets_an_error(mechanism: str) -> None:
    broker = Broker(mechanism, "ana", "another")
    with pytest.raises(AccessDeniedError, match="Authentication failed"):
        security(mechanism).log_in(broker.exchange)
    with pytest.raises(AccessDeniedError, match="does not support the SASL mechanism"):
        security(mechanism).log_in(Broker("OAUTHBEARER", "ana", "-").exchange)


def test_a_broker_without_the_password_is_refused() -> None:
    broker = Broker("SCRAM-SHA-256", "ana", "pass=wörd,1", knows_password=False)
    with pytest.raises(AccessDeniedError, match="does not know our password"):
        security("SCRAM-SHA-256").log_in(broker.exchange)


def test_a_reply_to_another_login_is_refused() -> None:
    broker = Broker("SCRAM-SHA-256", "ana", "pass=wörd,1", foreign_nonce=True)
    with pytest.raises(AccessDeniedError, match="another login"):
        security("SCRAM-SHA-256").log_in(broker.exchange)


@pytest.mark.parametrize(
    "challenge",
    [b"", b"e=other-error", b"r=x,s=!,i=5", b"r=x,s=,i=", b"r=x,s=,i=0", b"s=,i=1", b"\xff",
     b"r=x,s=,i=99999999999"],
)  # fmt: skip
def test_a_malformed_challenge_raises_a_holdfast_error(challenge: bytes) -> None:
    class Confused(Broker):
        def scram(self, text: str) -> bytes | None:
            return challenge

    with pytest.raises(AccessDeniedError, match="invalid SCRAM message"):
        security("SCRAM-SHA-256").log_in(Confused("SCRAM-SHA-256", "ana", "-").exchange)


def test_the_example_of_rfc_7677(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "rOprNGfwEbeRWgbNEkqO")
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"

    class Example(Broker):
        def scram(self, text: str) -> bytes | None:
            if len(self.shown) == 1:
                assert text == "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
                return f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
            assert text == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
            return b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

    security("SCRAM-SHA-256", "user", "pencil").log_in(
        Example("SCRAM-SHA-256", "user", "pencil").exchange
    )


def test_ways_to_log_in_that_are_not_known_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="GSSAPI"):
        security("GSSAPI")
    with pytest.raises(ConfigError, match="cannot be read"):
        Security({"security.protocol": "ssl", "ssl.ca.location": "/nowhere"})


def test_without_a_login_nothing_is_sent() -> None:
    def fail(frame: bytes) -> bytearray:
        raise AssertionError(frame)

    Security({}).log_in(fail)
