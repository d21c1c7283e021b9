"""SCRAM (RFC 5802): both sides prove that they know a password, and neither sends it.

The broker stores a salted form that proves a password but cannot be used to log in.
"""

import base64
import hashlib
import hmac
import secrets
from typing import NamedTuple

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
LEAST_ITERATIONS = 4_096
MOST_ITERATIONS = 16_384
"""As in Kafka. Clients do this work at each login, and the broker for PLAIN."""
_SALT_BYTES = 24
_LONGEST_NONCE = 256


class LoginFailed(Exception):
    """The client is not who it claims to be, or does not follow the protocol. The text names no
    secret, and does not tell which of name and password is wrong."""


class Credential(NamedTuple):
    """The stored form of a password, for one mechanism."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


def credential(mechanism: str, salted: bytes, salt: bytes, iterations: int) -> Credential:
    """The credential of a salted password (PBKDF2 of the password)."""
    algorithm = HASHES[mechanism]
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    return Credential(
        salt,
        iterations,
        hashlib.new(algorithm, client_key).digest(),
        hmac.digest(salted, b"Server Key", algorithm),
    )


def new_credential(mechanism: str, password: str) -> Credential:
    salt = secrets.token_bytes(_SALT_BYTES)
    salted = _salted(mechanism, password.encode(), salt, LEAST_ITERATIONS)
    return credential(mechanism, salted, salt, LEAST_ITERATIONS)


def proves(mechanism: str, known: Credential, password: bytes) -> bool:
    """Returns True if this is the password. Takes milliseconds, on purpose."""
    salted = _salted(mechanism, password, known.salt, known.iterations)
    found = credential(mechanism, salted, known.salt, known.iterations)
    return hmac.compare_digest(found.stored_key, known.stored_key)


def _salted(mechanism: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, iterations)


class Decoys:
    """Credentials of users that do not exist, always the same for a name. So a login as one looks
    like a login with a wrong password."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def of(self, mechanism: str, user: str) -> Credential:
        drawn = hmac.digest(self._secret, f"{mechanism} {user}".encode(), "sha512")
        size = hashlib.new(HASHES[mechanism]).digest_size
        return Credential(
            drawn[:_SALT_BYTES],
            LEAST_ITERATIONS,
            secrets.token_bytes(size),
            secrets.token_bytes(size),
        )


class ClientFirst(NamedTuple):
    """The first message of a client."""

    user: str
    nonce: str
    header: str
    bare: str


def parse_first(message: bytes) -> ClientFirst:
    """Raises LoginFailed if the message is none."""
    header, bare = _split_header(_text(message))
    fields = bare.split(",")
    if len(fields) < 2 or not fields[0].startswith("n=") or not fields[1].startswith("r="):
        raise LoginFailed("The first message of SCRAM has no name and nonce.")
    user, nonce = _unescape(fields[0][2:]), fields[1][2:]
    authorized_as = header.split(",")[1]
    if authorized_as and authorized_as != "a=" + fields[0][2:]:
        raise LoginFailed("Acting as another user than the one that logs in is not possible.")
    if not user or not 0 < len(nonce) <= _LONGEST_NONCE or not nonce.isprintable():
        raise LoginFailed("The first message of SCRAM has no name and nonce.")
    return ClientFirst(user, nonce, header, bare)


class ScramExchange:
    """The broker's side of one login: a challenge, then the proof."""

    def __init__(self, mechanism: str, first: ClientFirst, known: Credential) -> None:
        self._algorithm = HASHES[mechanism]
        self._first = first
        self._known = known
        self._nonce = first.nonce + secrets.token_urlsafe(24)
        salt = base64.b64encode(known.salt).decode()
        self.challenge = f"r={self._nonce},s={salt},i={known.iterations}"

    def verify(self, message: bytes) -> bytes:
        """Returns the broker's own proof. Raises LoginFailed if the client's is wrong."""
        text = _text(message)
        without_proof, separator, proof_text = text.rpartition(",p=")
        fields = without_proof.split(",")
        expected = base64.b64encode(self._first.header.encode()).decode()
        if not separator or len(fields) < 2 or fields[0] != f"c={expected}":
            raise LoginFailed("The final message of SCRAM does not belong to this login.")
        if not hmac.compare_digest(fields[1].encode(), f"r={self._nonce}".encode()):
            raise LoginFailed("The final message of SCRAM does not belong to this login.")
        signed = f"{self._first.bare},{self.challenge},{without_proof}".encode()
        signature = hmac.digest(self._known.stored_key, signed, self._algorithm)
        proof = _decode64(proof_text)
        if len(proof) != len(signature):
            raise LoginFailed("Wrong user name or password.")
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        found = hashlib.new(self._algorithm, client_key).digest()
        if not hmac.compare_digest(found, self._known.stored_key):
            raise LoginFailed("Wrong user name or password.")
        own = hmac.digest(self._known.server_key, signed, self._algorithm)
        return b"v=" + base64.b64encode(own)


def _split_header(text: str) -> tuple[str, str]:
    """The GS2 header with both its commas, and the rest. Channel binding is not supported."""
    parts = text.split(",", 2)
    if len(parts) != 3 or parts[0] not in ("n", "y"):
        raise LoginFailed("The first message of SCRAM is not understood.")
    if parts[1] and not parts[1].startswith("a="):
        raise LoginFailed("The first message of SCRAM is not understood.")
    return f"{parts[0]},{parts[1]},", parts[2]


def _unescape(name: str) -> str:
    """A name, in which `=2C` is a comma and `=3D` an equals sign."""
    if "=" in name.replace("=2C", "").replace("=3D", ""):
        raise LoginFailed("The name in the first message of SCRAM is not understood.")
    return name.replace("=2C", ",").replace("=3D", "=")


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise LoginFailed("The message of SCRAM is not UTF-8.") from None


def _decode64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise LoginFailed("Wrong user name or password.") from None
