"""A token as a record of the compacted topic `holdfast.tokens`: key its id, value JSON.

A token reads `hf_<id>_<secret>`. Only the SHA-256 of the secret is stored. A slow password hash
would add no protection, because 256 random bits cannot be guessed, and would slow down every
request.
"""

import hmac
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from holdfast.access.roles import Role
from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode, read_fields, write_fields

TOKENS_TOPIC = "holdfast.tokens"

_TEXT = re.compile(r"hf_(?P<id>[0-9a-f]{12})_(?P<secret>[A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]{0,98}[^\s\x00-\x1f\x7f-\x9f])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, without its secret. With a `parent` it is a session of that token, and acts in its
    name as long as both are valid."""

    id: str
    name: str
    role: Role
    hash: str
    """SHA-256 of the secret, in hexadecimal."""
    created_at: int
    created_by: str
    expires_at: int | None = None
    parent: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidArgumentError(
                f"{self.name!r} cannot name a token: take 1 to 100 characters that can be printed."
            )

    def expired(self, now: int) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def proves(self, secret: str) -> bool:
        """Returns True if this is its secret. Takes constant time."""
        return hmac.compare_digest(self.hash, _hash(secret))


def new_token(
    *,
    name: str,
    role: Role,
    now: int,
    created_by: str,
    expires_at: int | None = None,
    parent: str | None = None,
) -> tuple[Token, str]:
    """A new token, and its text, which is not stored."""
    identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    token = Token(
        id=identity,
        name=name,
        role=role,
        hash=_hash(secret),
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
        parent=parent,
    )
    return token, f"hf_{identity}_{secret}"


def split_token(text: str) -> tuple[str, str] | None:
    """Id and secret; None if the text is not a token."""
    match = _TEXT.fullmatch(text)
    return (match["id"], match["secret"]) if match else None


def encode_token(token: Token) -> tuple[bytes, bytes]:
    """Key and value of the token's record."""
    fields = {**write_fields(token), "id": None, "role": token.role.label}
    return token.id.encode(), encode(fields)


def decode_token(key: bytes | None, value: bytes | None) -> Token:
    """The token in a record, or InvalidRecordError."""
    document = Document(value, "token")
    try:
        token = Token(
            **read_fields(Token, document, without=["id"]),
            id=(key or b"").decode(),
            role=Role.parse(document.text("role")),
        )
    except ValueError as error:  # a name or role that there is not, a key that is no text
        if isinstance(error, InvalidRecordError):
            raise
        raise InvalidRecordError(f"This token cannot be read: {error}") from None
    document.end()
    return token


def apply_token(tokens: dict[str, Token], key: bytes | None, value: bytes | None) -> None:
    """Puts the token of a record into `tokens`, or removes it; raises InvalidRecordError."""
    tokens.pop((key or b"").decode(errors="replace"), None)
    if value is not None:
        token = decode_token(key, value)
        tokens[token.id] = token


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
