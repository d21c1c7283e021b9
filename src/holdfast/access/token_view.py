"""The tokens as they are now, in memory, followed by a thread of its own."""

import logging
from collections.abc import Mapping
from threading import Condition, Event, Thread

from holdfast.access.tokens import TOKENS_TOPIC, Token, decode_token
from holdfast.client.connection import Connection
from holdfast.client.table import Table
from holdfast.errors import InvalidRecordError, TimedOutError

log = logging.getLogger(__name__)

_TURN_S = 0.2
_AGAIN_S = 1.0


class TokenView:
    """Follows `holdfast.tokens` from `start` to `close`. Reading it blocks nobody.

    What was read stays while the broker is away: a token that is revoked meanwhile holds until it
    is back.
    """

    def __init__(self, connection: Connection) -> None:
        self._tokens: dict[str, Token] = {}
        self._unreadable: set[bytes | None] = set()
        self._table = Table(connection, TOKENS_TOPIC, self._take)
        self._stopping = Event()
        self._progress = Condition()
        self._thread = Thread(target=self._follow, name="tokens", daemon=True)
        self.complete = False
        """Whether all tokens are known. Until then nobody can be told from anybody."""
        self.ever_any = False
        """Whether there was a token at any time since all were known first."""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    @property
    def tokens(self) -> Mapping[str, Token]:
        """By id; sessions too."""
        return self._tokens

    def wait_until_complete(self, timeout: float) -> bool:
        with self._progress:
            return self._progress.wait_for(lambda: self.complete, timeout)

    def wait_for(self, offset: int, timeout: float = 10.0) -> None:
        """Return once the record at that offset is taken in."""
        with self._progress:
            if not self._progress.wait_for(lambda: self._table.next_offset > offset, timeout):
                raise TimedOutError(f"Offset {offset} of {TOKENS_TOPIC} was not read in time.")

    def _follow(self) -> None:
        while not self._stopping.is_set():
            try:
                self._turn()
            except Exception:  # whatever it is: a view that stands still would miss revocations
                log.exception("The tokens cannot be followed just now; tried again")
                self._stopping.wait(_AGAIN_S)
        self._table.close()

    def _turn(self) -> None:
        self._table.poll(_TURN_S)
        with self._progress:
            if self._table.complete:
                self.ever_any |= bool(self._unreadable) or any(
                    token.parent is None for token in self._tokens.values()
                )
                self.complete = True  # after the line above: else it would seem open for a bit
            self._progress.notify_all()
        if self._table.complete and self._table.next_offset == 0:
            self._stopping.wait(_TURN_S)  # there is no topic yet, and asking costs a request

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        self._tokens.pop((key or b"").decode(errors="replace"), None)
        self._unreadable.discard(key)
        if value is None:
            return
        try:
            token = decode_token(key, value)
        except InvalidRecordError:
            self._unreadable.add(key)  # somebody's token all the same: nothing is open to all
            raise
        self._tokens[token.id] = token
