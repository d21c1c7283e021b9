"""A hook as a record of the compacted topic `holdfast.hooks`: key its id, value JSON.

The secret signs requests, so it is stored as it is, unlike that of a token. Whoever can read the
topic can forge requests to the hook's receiver, but cannot act on flows.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode, read_fields, write_fields
from holdfast.http_call import check_url

HOOKS_TOPIC = "holdfast.hooks"
MAX_HOOKS = 50
"""Each hook has a thread and a group member in every web process."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class EventKind(StrEnum):
    """What a hook can report."""

    HELD = "held"
    """A key became held, by a person or a program."""
    EXPIRED = "expired"
    """The last hold of a key has expired."""
    DRAINED = "drained"
    """The last held event of a key has left: the key is ACTIVE again."""
    PARKED = "parked"
    """A guard holds a key, because its event has failed."""
    STOPPED = "stopped"
    """A gate was stopped, has failed, or reports no more."""
    TEST = "test"
    """A person tries the hook."""


REPORTED = tuple(kind for kind in EventKind if kind is not EventKind.TEST)


class BodyFormat(StrEnum):
    """The form of the request's body."""

    JSON = "json"
    SLACK = "slack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A URL, and the kinds of events that are sent to it."""

    id: str
    name: str
    url: str
    on: tuple[str, ...]
    format: BodyFormat
    secret: str
    created_at: int
    created_by: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidArgumentError(
                f"{self.name!r} cannot name a hook: take 1 to 100 letters, digits and . _ -"
            )
        check_url(self.url)
        for kind in self.on:
            if kind not in REPORTED:
                raise InvalidArgumentError(
                    f"{kind!r} is not reported: choose of {', '.join(REPORTED)}."
                )
        if not self.on:
            raise InvalidArgumentError(f"Choose at least one of {', '.join(REPORTED)}.")

    @property
    def origin(self) -> str:
        """The URL without its path, which may be a secret: that of Slack is."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…"

    @property
    def group(self) -> str:
        """The consumer group whose offsets say what was delivered."""
        return f"holdfast.hook.{self.id}"


def new_hook(
    url: str,
    on: Sequence[str],
    *,
    now: int,
    created_by: str,
    name: str = "",
    body_format: BodyFormat = BodyFormat.JSON,
) -> Hook:
    """A hook with a new id and secret; its name is the URL's host unless given."""
    return Hook(
        id=secrets.token_hex(6),
        name=name or urlsplit(check_url(url)).hostname or "",
        url=url,
        on=tuple(dict.fromkeys(on)),
        format=body_format,
        secret=f"hfs_{secrets.token_urlsafe(32)}",
        created_at=now,
        created_by=created_by,
    )


def encode_hook(hook: Hook) -> tuple[bytes, bytes]:
    """Key and value of the hook's record."""
    return hook.id.encode(), encode({**write_fields(hook), "id": None})


def apply_hook(hooks: dict[str, Hook], key: bytes | None, value: bytes | None) -> None:
    """Puts the hook of a record into `hooks`, or removes it; raises InvalidRecordError."""
    hooks.pop((key or b"").decode(errors="replace"), None)
    if value is None:
        return
    document = Document(value, "hook")
    try:
        hook = Hook(**read_fields(Hook, document, without=["id"]), id=(key or b"").decode())
    except ValueError as error:
        if isinstance(error, InvalidRecordError):
            raise
        raise InvalidRecordError(f"This hook cannot be read: {error}") from None
    document.end()
    hooks[hook.id] = hook
