"""A handler that posts each event to a URL: for handlers in any language."""

from collections.abc import Callable
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from holdfast.errors import ConfigError, UnavailableError
from holdfast.guard.event import Event

EVENT_ID = "X-Holdfast-Event-Id"
ATTEMPT = "X-Holdfast-Attempt"
KEY = "X-Holdfast-Key"
_SECONDS = 30.0
_LONGEST_BODY = 500


def post_to(url: str, timeout: float = _SECONDS) -> Callable[[Event], None]:
    """A handler: a response of 2xx means done, all else has failed."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(f"{url!r} is not a URL to post to: write http://host:port/path.")

    def post(event: Event) -> None:
        headers = {EVENT_ID: event.id, ATTEMPT: str(event.attempt)}
        if event.key is not None:
            headers[KEY] = event.key.decode("latin-1")
        headers["Content-Type"] = "application/octet-stream"
        request = Request(url, event.value or b"", headers, method="POST")  # noqa: S310
        try:
            with urlopen(request, timeout=timeout) as response:  # noqa: S310
                response.read(_LONGEST_BODY)
        except HTTPError as error:
            body = error.read(_LONGEST_BODY).decode(errors="replace")
            raise UnavailableError(f"{url} answered {error.code}: {body}") from None

    return post
