"""One HTTP request, as programs make it: no redirects, no proxies, no cookies, bounded answers."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from urllib.parse import urlsplit

from holdfast.errors import (
    InvalidArgumentError,
    InvalidRecordError,
    TimedOutError,
    UnreachableError,
)

_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


def check_url(url: str) -> str:
    """Returns the URL if a request can be sent to it, or raises InvalidArgumentError.

    Other schemes could read files or speak other protocols. Credentials in a URL end up in logs.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidArgumentError(
            f"{url!r} cannot be called: write it as https://host/path or http://host:port/path."
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidArgumentError(
            f"The URL of {parts.hostname} has a user name or a password in it, which logs would "
            "show. Take them out."
        )
    return url


def send_request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes | None = None,
    timeout: float,
    most_bytes: int,
    tls: ssl.SSLContext | None = None,
) -> HttpAnswer:
    """Sends one request and reads at most `most_bytes` of its answer.

    A redirect is an answer like any other: who follows it lets one host choose another, inside
    the network. Raises UnreachableError, TimedOutError, or InvalidRecordError for a longer answer.
    """
    parts = urlsplit(check_url(url))
    deadline = monotonic() + timeout
    if parts.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(parts.netloc, timeout=timeout, context=tls)
    else:
        connection = HTTPConnection(parts.netloc, timeout=timeout)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body, dict(headers))
        response = connection.getresponse()
        pieces, size = [], 0
        while piece := response.read1(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > most_bytes:
                raise InvalidRecordError(f"{parts.netloc} answered with over {most_bytes} bytes.")
            if monotonic() > deadline:  # the socket's own time begins again with each byte
                raise TimeoutError
    except TimeoutError:
        raise TimedOutError(f"{parts.netloc} did not answer within {timeout:g} s.") from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, InvalidRecordError):
            raise
        raise UnreachableError(
            f"{parts.netloc} does not answer: {error or type(error).__name__}."
        ) from None
    finally:
        connection.close()
    names = {name.lower(): value for name, value in response.getheaders()}
    return HttpAnswer(response.status, names, b"".join(pieces))
