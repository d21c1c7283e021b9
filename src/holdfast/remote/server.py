"""One server of the REST API: requests, and problems as errors."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from holdfast import errors
from holdfast.addresses import is_loopback
from holdfast.flows.holds import ChooseHoldError

_SECONDS = 60.0
"""Longer than any answer takes: the API waits at most 30 s for an effect."""
_TOKEN = re.compile(r"[!-~]*")
_KINDS: Mapping[str, type[errors.HoldfastError]] = {
    "not-signed-in": errors.NotSignedInError,
    "role-too-low": errors.RoleTooLowError,
    "choose-a-hold": ChooseHoldError,
    "not-found": errors.NotFoundError,
    "already-exists": errors.AlreadyExistsError,
    "timed-out": errors.TimedOutError,
    "unavailable": errors.UnavailableError,
    "invalid-argument": errors.InvalidArgumentError,
    "invalid-request": errors.InvalidArgumentError,
    "idempotency-key-reused": errors.InvalidArgumentError,
}


@dataclass(frozen=True, slots=True)
class Server:
    """The API at `url`, with a token if the server asks for one."""

    url: str
    token: str = field(default="", repr=False)
    via: str = ""
    """The program that asks for the person, such as `mcp`: the audit names it."""

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):  # the error of a header would show it
            raise errors.ConfigError(
                "The token has blanks, line breaks or other characters that no token has. Set "
                "HOLDFAST_TOKEN, or write the file of the context, from scratch."
            )
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise errors.ConfigError(
                f"{self.url!r} is not the address of a server: write it as in "
                "https://holdfast.example.com."
            )
        if self.token and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise errors.ConfigError(
                f"{self.url} is not encrypted, so everyone on the way could read the token. Use "
                "https."
            )

    def get(self, path: str, **query: Any) -> Any:
        return self._ask("GET", path, query, None, {})

    def post(
        self, path: str, body: Any, *, idempotency_key: str | None = None, **query: Any
    ) -> Any:
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._ask("POST", path, query, body, headers)

    def patch(self, path: str, body: Any) -> Any:
        return self._ask("PATCH", path, {}, body, {})

    def _ask(
        self, method: str, path: str, query: Mapping[str, Any], body: Any, more: Mapping[str, str]
    ) -> Any:
        given = {name: value for name, value in query.items() if value not in (None, "")}
        headers = {"Accept": "application/json", **more}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.via:
            headers["X-Holdfast-Via"] = self.via
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            query_text = urlencode(given)
        except UnicodeEncodeError:
            raise errors.InvalidArgumentError("A filter is not valid text.") from None
        parts = urlsplit(self.url)
        target = f"{parts.path.rstrip('/')}/api/v1/{path}"
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = connect(parts.netloc, timeout=_SECONDS)
        try:
            connection.request(
                method,
                f"{target}?{query_text}" if given else target,
                None if body is None else json.dumps(body),
                headers,
            )
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException) as error:
            raise errors.UnreachableError(
                f"The server at {self.url} does not answer: {error}. Is the address right, and "
                "does `holdfast web` run there?"
            ) from None
        finally:
            connection.close()
        return self._read(answer.status, text)

    def _read(self, status: int, text: bytes) -> Any:
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict) or (status >= 400 and "code" not in document):
            raise errors.UnreachableError(
                f"{self.url} answered {status}, but not as the API of Holdfast does. Is the "
                "address right?"
            )
        if status < 400:
            return document
        detail = str(document.get("detail", ""))
        if status == 401:
            detail += " Set HOLDFAST_TOKEN, or name a file with `holdfast context add`."
        raise _KINDS.get(document["code"], errors.ConflictError)(detail)
