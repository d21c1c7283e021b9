"""Encryption and login by librdkafka's settings, for our own connections."""

import base64
import hashlib
import hmac
import secrets
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import AccessDeniedError, ConfigError

Exchange = Callable[[bytes], bytearray]
"""A frame out, a frame in."""

_HANDSHAKE = 17
_AUTHENTICATE = 36
_MOST_ROUNDS = 1_000_000
"""Brokers ask for some thousands; one that asks for billions would have us hang."""
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class Security:
    """Secures a new connection and logs in."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        given = {name: str(value) for name, value in settings.items()}
        protocol = given.get("security.protocol", "plaintext").lower()
        self._context = _context(given) if protocol.endswith("ssl") else None
        self._mechanism = ""
        if protocol.startswith("sasl"):
            self._mechanism = given.get("sasl.mechanism") or given.get("sasl.mechanisms", "")
            if self._mechanism not in ("PLAIN", *_HASHES):
                raise ConfigError(
                    f"The pipeline cannot log in by {self._mechanism!r}: take PLAIN, "
                    f"{', '.join(_HASHES)}."
                )
        self._name = given.get("sasl.username", "")
        self._password = given.get("sasl.password", "")

    def secure(self, plain: socket.socket, host: str) -> socket.socket:
        return (
            plain
            if self._context is None
            else self._context.wrap_socket(plain, False, True, True, host)
        )

    def log_in(self, exchange: Exchange) -> None:
        """Raises AccessDeniedError if the broker does not know us."""
        if not self._mechanism:
            return
        name = self._mechanism.encode()
        answer = exchange(_header(_HANDSHAKE, 1) + len(name).to_bytes(2, "big") + name)
        if answer[4:6] != b"\0\0":
            raise AccessDeniedError(
                f"The broker does not support the SASL mechanism {name.decode()}. "
                "Set sasl.mechanism to one that it offers."
            )
        if self._mechanism == "PLAIN":
            _authenticate(exchange, b"\0".join((b"", self._name.encode(), self._password.encode())))
        else:
            self._scram(exchange, _HASHES[self._mechanism])

    def _scram(self, exchange: Exchange, algorithm: str) -> None:
        """RFC 5802: both sides prove that they know the password without sending it."""
        name = self._name.replace("=", "=3D").replace(",", "=2C")
        nonce = secrets.token_urlsafe(24)
        first = f"n={name},r={nonce}"
        challenge = _authenticate(exchange, f"n,,{first}".encode()).decode(errors="replace")
        theirs, salt, rounds = _challenge(challenge)
        if not theirs.startswith(nonce):
            raise AccessDeniedError("The broker's answer to our login is one to another login.")
        final = f"c=biws,r={theirs}"
        salted = hashlib.pbkdf2_hmac(algorithm, self._password.encode(), salt, rounds)

        def keyed(key: bytes, text: bytes) -> bytes:
            return hmac.digest(key, text, algorithm)

        everything = f"{first},{challenge},{final}".encode()
        key = keyed(salted, b"Client Key")
        signature = keyed(hashlib.new(algorithm, key).digest(), everything)
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
        verdict = _authenticate(exchange, f"{final},p={proof}".encode()).decode(errors="replace")
        expected = base64.b64encode(keyed(keyed(salted, b"Server Key"), everything)).decode()
        shown = verdict.removeprefix("v=").partition(",")[0]
        if not hmac.compare_digest(shown.encode(), expected.encode()):
            raise AccessDeniedError("The broker does not know our password: it is another one.")


def _challenge(text: str) -> tuple[str, bytes, int]:
    """Nonce, salt and number of rounds."""
    try:
        fields = dict(part.split("=", 1) for part in text.split(","))
        salt, rounds = base64.b64decode(fields["s"], validate=True), int(fields["i"])
        if not 0 < rounds <= _MOST_ROUNDS:
            raise ValueError(rounds)
        return fields["r"], salt, rounds
    except (KeyError, ValueError):
        raise AccessDeniedError(
            f"The broker sent an invalid SCRAM message: {text!r}. Check sasl.mechanism."
        ) from None


def _authenticate(exchange: Exchange, token: bytes) -> bytes:
    """Returns the broker's reply."""
    answer = bytes(exchange(_header(_AUTHENTICATE, 0) + len(token).to_bytes(4, "big") + token))
    error, length = (
        int.from_bytes(answer[4:6], "big"),
        int.from_bytes(answer[6:8], "big", signed=True),
    )
    after = 8 + max(0, length)
    if error:
        raise AccessDeniedError(f"Logging in failed: {answer[8:after].decode(errors='replace')}")
    size = int.from_bytes(answer[after : after + 4], "big")
    return answer[after + 4 : after + 4 + size]


def _header(key: int, version: int) -> bytes:
    """The header of a request, without a client's name."""
    return b"".join(n.to_bytes(2, "big") for n in (key, version)) + b"\0\0\0\0\xff\xff"


def _context(given: Mapping[str, str]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=given.get("ssl.ca.location"))
        if given.get("ssl.endpoint.identification.algorithm") == "none":
            context.check_hostname = False
        if "ssl.certificate.location" in given:
            context.load_cert_chain(
                given["ssl.certificate.location"],
                given.get("ssl.key.location"),
                given.get("ssl.key.password"),
            )
    except OSError as error:
        raise ConfigError(f"A certificate or key cannot be read: {error}.") from None
    return context
