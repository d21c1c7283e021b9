"""Creating, revoking and listing tokens on the topic `holdfast.tokens`."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from holdfast.access.roles import Role
from holdfast.access.tokens import TOKENS_TOPIC, Token, apply_token, encode_token, new_token
from holdfast.client.client import Client
from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.planned_topics import make_table
from holdfast.clock import now_ms
from holdfast.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
)


class TokenLog:
    """The tokens of a cluster. A process applies changes as soon as it has read them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self, name: str, role: Role, *, created_by: str, expires_in: timedelta | None = None
    ) -> tuple[Token, str]:
        """A new token, and its text, which cannot be read again."""
        if expires_in is not None and expires_in <= timedelta(0):
            raise InvalidArgumentError("A token expires after a positive time.")
        self.make_topic()
        if any(token.name == name for token in self.tokens()):
            raise AlreadyExistsError(
                f"There is a token {name!r} already. Take another name, or revoke that one first."
            )
        now = now_ms()
        expires_at = None if expires_in is None else now + round(expires_in.total_seconds() * 1000)
        token, text = new_token(
            name=name, role=role, now=now, created_by=created_by, expires_at=expires_at
        )
        self.append(token)
        return token, text

    def revoke(self, name: str) -> Token:
        """Revoke the token of that name or id, with all its sessions."""
        everything = self.read()
        for token in everything.values():
            if token.parent is None and name in (token.name, token.id):
                self.remove(token.id)
                for session in everything.values():
                    if session.parent == token.id:
                        self.remove(session.id)
                return token
        raise NotFoundError(f"There is no token {name!r}.")

    def tokens(self) -> list[Token]:
        """All tokens, expired ones too, by name; without sessions."""
        tokens = (token for token in self.read().values() if token.parent is None)
        return sorted(tokens, key=lambda token: token.name)

    def read(self) -> Mapping[str, Token]:
        """All readable tokens and sessions, by id."""
        tokens: dict[str, Token] = {}
        apply = partial(apply_token, tokens)
        CompactedTopic(self._client.connection, TOKENS_TOPIC, apply).read_to_end()
        return tokens

    def append(self, token: Token) -> int:
        """Write a token. Returns its offset."""
        key, value = encode_token(token)
        return self._client.send(TOKENS_TOPIC, value, key).result().offset

    def remove(self, identity: str) -> int:
        """Remove a token or session. Returns the offset of the tombstone."""
        return self._client.send(TOKENS_TOPIC, None, identity).result().offset

    def make_topic(self) -> None:
        """Create the topic if it does not exist."""
        make_table(self._client.connection, TOKENS_TOPIC)
