"""The topic `holdfast.tokens`: written, and read as a whole."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from time import time

from holdfast.access.roles import Role
from holdfast.access.tokens import TOKENS_TOPIC, Token, decode_token, encode_token, new_token
from holdfast.client.client import Client
from holdfast.client.planned_topics import make_topic
from holdfast.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    InvalidRecordError,
    NotFoundError,
)
from holdfast.flows.topics import table_topic

log = logging.getLogger(__name__)


class TokenLog:
    """The tokens of a cluster. Changes are live in every instance as soon as it has read them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self, name: str, role: Role, *, created_by: str, expires_in: timedelta | None = None
    ) -> tuple[Token, str]:
        """A new token, and its text, which cannot be had again."""
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
        """Revoke the token of that name or id, and with it every session that it has begun."""
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
        found = (token for token in self.read().values() if token.parent is None)
        return sorted(found, key=lambda token: token.name)

    def read(self) -> Mapping[str, Token]:
        """All that can be read on the topic, sessions too, by id."""
        try:
            consumer = self._client.consumer(TOKENS_TOPIC)
        except NotFoundError:
            return {}
        found: dict[str, Token] = {}
        with consumer:
            for record in consumer.records(until="end"):
                found.pop((record.key or b"").decode(errors="replace"), None)
                if record.value is None:
                    continue
                try:
                    token = decode_token(record.key, record.value)
                except InvalidRecordError as error:
                    log.warning("Offset %s of %s: %s", record.offset, TOKENS_TOPIC, error)
                else:
                    found[token.id] = token
        return found

    def append(self, token: Token) -> int:
        """Write a token as it is. -> its offset"""
        key, value = encode_token(token)
        return self._client.send(TOKENS_TOPIC, value, key).result().offset

    def remove(self, identity: str) -> int:
        """Take a token or session away. -> the offset of what says so"""
        return self._client.send(TOKENS_TOPIC, None, identity).result().offset

    def make_topic(self) -> None:
        """Make the topic, unless it is there."""
        plan = table_topic(TOKENS_TOPIC, len(self._client.cluster().brokers))
        make_topic(self._client.topics, plan)


def now_ms() -> int:
    return round(time() * 1000)
