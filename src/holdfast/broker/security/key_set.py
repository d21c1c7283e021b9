"""The public keys of the issuer of tokens, from a file or an address. Issuers change their keys."""

import asyncio
import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast.addresses import is_loopback
from holdfast.broker.security.tokens import Key, parse_keys
from holdfast.errors import ConfigError

log = logging.getLogger(__name__)

FETCH_SECONDS = 10.0
"""How long the address may take to answer."""
MOST_BYTES = 1024 * 1024
REFRESH_SECONDS = 3_600.0
"""Age at which keys are loaded again. The default of Kafka."""
RETRY_SECONDS = 5.0
"""Time between two loads because of a token with an unknown key: anyone can send one."""

_UNUSABLE = (ValueError, KeyError, TypeError, RecursionError)
"""Raised for a document that is no set of keys."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The keys come from the address of the setting, or not at all."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class KeySet:
    """The keys by id. A key that is unknown is searched in the file or at the address again."""

    def __init__(self, source: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises ConfigError if the file cannot be used. An address may be down for now."""
        self._source = source
        self._clock = clock
        self._is_address = "://" in source
        self._keys: list[Key] = []
        self._loaded_at: float | None = None
        self._loading: asyncio.Future[None] | None = None
        self._loader = ThreadPoolExecutor(1, "keys")
        if self._is_address:
            _check_address(source)
        else:
            try:
                self._keys = parse_keys(Path(source).read_bytes())
            except (OSError, *_UNUSABLE) as error:
                raise ConfigError(
                    f"The keys of oauth_jwks = {source!r} cannot be used: {error}. It must be a "
                    "file with a JWK set, or the address of one."
                ) from None

    async def candidates(self, key_id: str | None) -> list[Key]:
        """The keys that may have signed a token: those with its key id, or all if it has none.

        A login waits for the load of old keys, however long ago the last login was: the issuer may
        have revoked one of them.
        """
        age = float("inf") if self._loaded_at is None else self._clock() - self._loaded_at
        found = self._known(key_id)
        if not found or age >= REFRESH_SECONDS:
            if self._loading is None and age >= RETRY_SECONDS:
                self._load()
            if self._loading is not None:
                await asyncio.wait([self._loading])
                found = self._known(key_id)
        return found

    def close(self) -> None:
        self._loader.shutdown(wait=False, cancel_futures=True)

    def _known(self, key_id: str | None) -> list[Key]:
        return [key for key in self._keys if key_id is None or key.key_id in (None, key_id)]

    def _load(self) -> None:
        loop = asyncio.get_running_loop()
        self._loading = loop.run_in_executor(self._loader, self._read)
        self._loading.add_done_callback(self._loaded)

    def _loaded(self, _: object) -> None:
        self._loading = None
        self._loaded_at = self._clock()

    def _read(self) -> None:
        """Runs on a thread. The last keys stay if there are no new ones."""
        try:
            data = self._fetch() if self._is_address else Path(self._source).read_bytes()
            self._keys = parse_keys(data)
        except (OSError, http.client.HTTPException, *_UNUSABLE) as error:
            log.error("The keys of oauth_jwks = %s cannot be loaded: %s", self._source, error)
        else:
            log.info("Loaded %d keys of oauth_jwks", len(self._keys))

    def _fetch(self) -> bytes:
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(self._source, timeout=FETCH_SECONDS) as reply:
            data: bytes = reply.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"the answer has more than {MOST_BYTES} bytes")
        return data


def _check_address(source: str) -> None:
    parts = urlsplit(source)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and is_loopback(parts.hostname or "")
    )
    if not is_safe:
        raise ConfigError(
            f"oauth_jwks = {source!r} must begin with https://, or be a file. Whoever can change "
            "the keys on their way can log in as anyone."
        )
