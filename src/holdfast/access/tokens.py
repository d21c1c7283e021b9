"""A token as a record of the compacted topic `holdfast.tokens`: key its id, value JSON.

A token reads `hf_<id>_<secret>`. Of the secret only the SHA-256 is kept. A slow password hash would
protect nothing here: the secret is 256 random bits, which nobody guesses at any speed; and it would
cost every request what a guess costs.
"""

import hmac
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from holdfast.access.roles import Role
from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode

TOKENS_TOPIC = "holdfast.tokens"

_TEXT = re.compile(r"hf_(?P<id>[0-9a-f]{12})_(?P<secret>[A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]{0,98}[^\s\x00-\x1f\x7f-\x9f])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, without its secret. With a `parent` it is a session that the parent has begun, and
    acts in the parent's name for as long as both hold."""

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
        """Whether this is its secret; how long it takes to tell says nothing about it."""
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
    """A token, and the text that proves it, which is kept nowhere."""
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
    """Id and secret, or None if this is no token at all."""
    match = _TEXT.fullmatch(text)
    return (match["id"], match["secret"]) if match else None


def encode_token(token: Token) -> tuple[bytes, bytes]:
    """Key and value of the token's record."""
    return token.id.encode(), encode(
        {
            "name": token.name,
            "role": token.role.label,
            "hash": token.hash,
            "created_at": token.created_at,
            "created_by": token.created_by,
            "expires_at": token.expires_at,
            "parent": token.parent,
        }
    )


def decode_token(key: bytes | None, value: bytes | None) -> Token:
    """The token in a record, or InvalidRecordError."""
    document = Document(value, "token")
    try:
        token = Token(
            id=(key or b"").decode(),
            name=document.text("name"),
            role=Role.parse(document.text("role")),
            hash=document.text("hash"),
            created_at=document.integer("created_at"),
            created_by=document.text("created_by"),
            expires_at=document.optional_integer("expires_at"),
            parent=document.optional_text("parent"),
        )
    except ValueError as error:  # a name or role that there is not, a key that is no text
        if isinstance(error, InvalidRecordError):
            raise
        raise InvalidRecordError(f"This token cannot be read: {error}") from None
    document.end()
    return token


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
