"""Requests to Holdfast's REST API, blocking (`Api`) and in asyncio (`AsyncApi`).

Every request of this package can be repeated: reads, and requests that carry a run id or an
Idempotency-Key. So both clients repeat a request that met a limit, a restart or a lost connection.
"""

import asyncio
import base64
import re
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

Json = dict[str, Any]

_PREFIX = "/api/v1"
_VIA = {"X-Holdfast-Via": "airflow"}
_TIMEOUT = httpx.Timeout(65.0, connect=10.0)  # the server replies within 60 s
_SILENT_STREAM_SECONDS = 60.0
"""The server writes to a stream every 15 s at least."""
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
PATIENCE_SECONDS = 60.0
"""How long a request is repeated, unless the caller says otherwise."""
_TRANSIENT = {429, 500, 503, 504}
_TOKEN = re.compile(r"[!-~]+")
_PLAIN_KEY = re.compile(r"(?!\.|b64\.)[A-Za-z0-9_.~-]{1,201}")

_ADVICE = {
    401: "Create a token with `holdfast token create airflow --role operator` and put it into the "
    "field Token of the Airflow connection.",
    403: "Create a token with a higher role, such as `holdfast token create airflow --role "
    "operator`, and put it into the field Token of the Airflow connection.",
    421: "Start Holdfast with `holdfast web --hosts NAME` for the name in the connection.",
}


class HoldfastError(Exception):
    """A request failed. `transient` is True if the same request may succeed later."""

    def __init__(self, message: str, *, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    @property
    def transient(self) -> bool:
        return self.status in _TRANSIENT or self.status == 0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address, token and TLS settings of a Holdfast."""

    address: str
    token: str = ""
    verify: bool = True
    ca_file: str = ""

    def page(self, path: str) -> str:
        """The address of a page of the dashboard."""
        return f"{self.address}/{path.lstrip('/')}"

    def options(self) -> Json:
        """The arguments of httpx's clients."""
        headers = dict(_VIA)
        if token := self.token.strip():  # pasted, or from a file that ends with a line break
            if not _TOKEN.fullmatch(token):  # the error of a header would show it
                raise HoldfastError(
                    "The token of the Airflow connection has blanks, line breaks or other "
                    "characters that no token has. Write it into the field Token from scratch.",
                    status=400,
                )
            self._check_encryption()
            headers["Authorization"] = f"Bearer {token}"
        return {
            "base_url": self.address + _PREFIX,
            "headers": headers,
            "timeout": _TIMEOUT,
            "verify": self._verify(),
        }

    def _check_encryption(self) -> None:
        """Refuse to send a token in clear text to another machine."""
        parts = urlsplit(self.address)
        if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
            raise HoldfastError(
                f"The token of the Airflow connection would be sent to {parts.netloc} without "
                "encryption. Write an address with https into the field Address.",
                status=400,
            )

    def _verify(self) -> ssl.SSLContext | bool:
        if not self.address.startswith("https:"):
            return True  # not used; a context would take 20 ms
        if not self.verify:
            return False
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise HoldfastError(
                f"The CA file {self.ca_file!r} of the Airflow connection cannot be read: {error}.",
                status=400,
            ) from None


def address_of(host: str | None, port: int | None) -> str:
    """The base address from the fields of a connection. Without a scheme it is https, and http on
    loopback.

    >>> address_of("https://holdfast.example.com/", None), address_of("localhost", 8600)
    ('https://holdfast.example.com', 'http://localhost:8600')
    """
    if not host:
        raise HoldfastError(
            "The Airflow connection has no address. Write one such as https://holdfast:8600 into "
            "the field Address.",
            status=400,
        )
    try:
        if "://" not in host:
            name = urlsplit(f"//{host}").hostname
            host = f"{'http' if _is_loopback(name or '') else 'https'}://{host}"
        parts = urlsplit(host)
        if port and parts.port is None:
            host = parts._replace(netloc=f"{parts.netloc}:{port}").geturl()
    except ValueError as error:
        raise HoldfastError(
            f"The address {host!r} of the Airflow connection is wrong: {error}.", status=400
        ) from None
    return host.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def segment(name: str) -> str:
    """A flow or run as a segment of a path."""
    return quote(name, safe="")


def key_segment(key: str) -> str:
    """A key as a segment of a path.

    >>> key_segment("customer-7"), key_segment("a/b")
    ('customer-7', 'b64.YS9i')
    """
    if _PLAIN_KEY.fullmatch(key):
        return key
    return "b64." + base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


class _Attempts:
    """Decides after each failed attempt of a request if, and when, there is another."""

    def __init__(self, endpoint: Endpoint, patience: float) -> None:
        self._endpoint = endpoint
        self._deadline = time.monotonic() + patience
        self._pause = _FIRST_PAUSE_SECONDS

    def pause_after(self, outcome: httpx.Response | httpx.TransportError) -> float:
        """The seconds to wait, or raises HoldfastError if the request is not to be repeated."""
        error = self._error(outcome)
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE_SECONDS)
        if isinstance(outcome, httpx.Response):
            pause = max(pause, _retry_after(outcome))
        if not error.transient or time.monotonic() + pause > self._deadline:
            raise error from None
        return pause

    def _error(self, outcome: httpx.Response | httpx.TransportError) -> HoldfastError:
        address = self._endpoint.address
        if isinstance(outcome, httpx.TransportError):
            return HoldfastError(
                f"Holdfast at {address} cannot be reached: {outcome or type(outcome).__name__}. "
                "Check the address in the Airflow connection, and that `holdfast web` runs there."
            )
        code, detail = _problem(outcome)
        advice = _ADVICE.get(outcome.status_code, "")
        message = f"Holdfast at {address} replied {outcome.status_code} ({code}): {detail} {advice}"
        return HoldfastError(message.rstrip(), status=outcome.status_code, code=code)


def _problem(response: httpx.Response) -> tuple[str, str]:
    try:
        body = response.json()
        return str(body["code"]), str(body["detail"])
    except (ValueError, KeyError, TypeError):
        return "not-holdfast", "The reply is not Holdfast's. Check the address in the connection."


def _retry_after(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("Retry-After", 0))
    except ValueError:
        return 0.0


def _body(response: httpx.Response) -> Json:
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise HoldfastError(
            f"{response.request.url} does not reply as Holdfast does. Check the address in the "
            "Airflow connection.",
            status=502,
        )
    return body


class Api:
    """The API for blocking code."""

    def __init__(self, endpoint: Endpoint, *, patience: float = PATIENCE_SECONDS) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._client = httpx.Client(**endpoint.options())

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Json:
        return self.request("GET", path, params=params)

    def post(
        self,
        path: str,
        body: Json | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        return self.request("POST", path, json=body, params=params, headers=headers)

    def request(self, method: str, path: str, **options: Any) -> Json:
        """The reply's JSON, or HoldfastError."""
        attempts = _Attempts(self._endpoint, self._patience)
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._client.request(method, path, **options)
                if outcome.is_success:
                    return _body(outcome)
            except httpx.TransportError as error:
                outcome = error
            time.sleep(attempts.pause_after(outcome))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> "Api":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncApi:
    """The API for asyncio."""

    def __init__(self, endpoint: Endpoint, *, patience: float = PATIENCE_SECONDS) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._client = httpx.AsyncClient(**endpoint.options())

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Json:
        return await self.request("GET", path, params=params)

    async def post(self, path: str, body: Json | None = None) -> Json:
        return await self.request("POST", path, json=body)

    async def request(self, method: str, path: str, **options: Any) -> Json:
        """The reply's JSON, or HoldfastError."""
        attempts = _Attempts(self._endpoint, self._patience)
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._client.request(method, path, **options)
                if outcome.is_success:
                    return _body(outcome)
            except httpx.TransportError as error:
                outcome = error
            await asyncio.sleep(attempts.pause_after(outcome))

    @asynccontextmanager
    async def lines(
        self, path: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a live stream, until it ends. A refused request is a HoldfastError."""
        timeout = httpx.Timeout(_SILENT_STREAM_SECONDS, connect=10.0)
        async with self._client.stream(
            "GET", path, params=params, headers=headers, timeout=timeout
        ) as response:
            if not response.is_success:
                await response.aread()
                _Attempts(self._endpoint, 0.0).pause_after(response)
            yield response.aiter_lines()

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> "AsyncApi":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
