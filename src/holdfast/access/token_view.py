"""The tokens as they are now, in memory, followed by a thread of its own."""

from collections.abc import Mapping

from holdfast.access.tokens import TOKENS_TOPIC, Token, apply_token
from holdfast.client.compacted_topic import FollowedTopic
from holdfast.client.connection import Connection
from holdfast.errors import InvalidRecordError, TimedOutError


class TokenView(FollowedTopic):
    """Follows `holdfast.tokens` from `start` to `stop`. Reading it needs no lock.

    The last known tokens stay while the broker is away: a token that is revoked in this time is
    valid until the broker is back.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, TOKENS_TOPIC, self._add)
        self._tokens: dict[str, Token] = {}
        self._unreadable: set[bytes | None] = set()
        self.ever_any = False
        """True if there was a token at any time since all tokens were known first."""

    @property
    def tokens(self) -> Mapping[str, Token]:
        """Tokens and sessions, by id."""
        return self._tokens

    def poll(self, timeout: float) -> None:
        super().poll(timeout)
        if self.complete:  # here, because it must be up to date before `known` is
            self.ever_any |= bool(self._unreadable) or any(
                token.parent is None for token in self._tokens.values()
            )

    def wait_for(self, offset: int, timeout: float = 10.0) -> None:
        """Return once the record at that offset is applied."""
        if not self.wait_until(lambda: self.next_offset > offset, timeout):
            raise TimedOutError(f"Offset {offset} of {TOKENS_TOPIC} was not read in time.")

    def _add(self, key: bytes | None, value: bytes | None) -> None:
        self._unreadable.discard(key)
        try:
            apply_token(self._tokens, key, value)
        except InvalidRecordError:
            self._unreadable.add(key)  # still somebody's token: access is not open to all
            raise
