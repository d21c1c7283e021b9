"""Commands: what is asked of a flow, one record of `<flow>.control` each.

The record's key is the key that the command is about (none for `void`); its value is JSON:

    {"version":1,"command":"hold","id":"…","key":"customer-7","actor":"ana","at":1767225600000,
     "reason":"disputed","expires_at":1767312000000}

Times are milliseconds since 1970. The same id twice is one command.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.keys import key_bytes, key_to_json

MAX_REASON = 1_000
MAX_ACTOR = 200
MAX_PACE = 1_000_000.0

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """What all commands carry: an id of its own, who asked, and when."""

    name: ClassVar[str]

    id: str
    actor: str
    at: int

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise InvalidArgumentError(
                f"{self.id!r} cannot be a command id: take 1 to 64 letters, digits or _ . : -"
            )
        _check_text("actor", self.actor, MAX_ACTOR)
        if not self.actor:
            raise InvalidArgumentError("A command says who asked: 'actor' is empty.")
        if self.at < 0:
            raise InvalidArgumentError(f"A command's time cannot be {self.at}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold(_Command):
    """Keep back every event of the key from the cut on, until a release or the expiry."""

    name = "hold"

    key: bytes
    reason: str = ""
    expires_at: int | None = None

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        key_bytes(self.key)
        _check_text("reason", self.reason, MAX_REASON)
        if self.expires_at is not None and self.expires_at <= self.at:
            raise InvalidArgumentError("A hold must expire after it was asked for.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(_Command):
    """Let the key's held events out in order, then let new ones pass."""

    name = "release"

    key: bytes
    pace: float | None = None
    """Events a second; as fast as possible unless given."""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        key_bytes(self.key)
        if self.pace is not None and not (math.isfinite(self.pace) and 0 < self.pace <= MAX_PACE):
            raise InvalidArgumentError(
                f"A pace is above 0 and at most {MAX_PACE:,.0f} events a second, not {self.pace}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter(_Command):
    """Send what is held of the key at this point to the dead letters, whatever follows."""

    name = "dead-letter"

    key: bytes
    reason: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        key_bytes(self.key)
        _check_text("reason", self.reason, MAX_REASON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Void(_Command):
    """Let the gate pass the unreadable record at `offset` of the control log."""

    name = "void"

    offset: int
    reason: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_text("reason", self.reason, MAX_REASON)
        if self.offset < 0:
            raise InvalidArgumentError(f"There is no offset {self.offset} on a control log.")


Command = Hold | Release | DeadLetter | Void


def encode_command(command: Command) -> tuple[bytes | None, bytes]:
    """Key and value of the command's record."""
    head = {"command": command.name, "id": command.id}
    tail = {"actor": command.actor, "at": command.at}
    own: dict[str, Any]
    match command:
        case Hold():
            own = {"reason": command.reason or None, "expires_at": command.expires_at}
        case Release():
            own = {"pace": command.pace}
        case DeadLetter():
            own = {"reason": command.reason or None}
        case Void():
            own = {"offset": command.offset, "reason": command.reason or None}
            return None, encode({**head, **tail, **own})
    return command.key, encode({**head, **key_to_json(command.key), **tail, **own})


def decode_command(key: bytes | None, value: bytes | None) -> Command:
    """The command in a record of the control log, or InvalidRecordError."""
    document = Document(value, "command")
    try:
        command = _command_in(document)
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This command cannot be read: {error}") from None
    document.end()
    if key != (None if isinstance(command, Void) else command.key):
        raise InvalidRecordError(
            "This command cannot be read: it names another key than its record."
        )
    return command


def _command_in(document: Document) -> Command:
    name = document.text("command")
    identity, actor, at = document.text("id"), document.text("actor"), document.integer("at")
    if name == Void.name:
        return Void(
            id=identity, actor=actor, at=at,
            offset=document.integer("offset"),
            reason=document.optional_text("reason") or "",
        )  # fmt: skip
    key = document.optional_key()
    if key is None:
        raise InvalidArgumentError("it names no key.")
    match name:
        case Hold.name:
            return Hold(
                id=identity, actor=actor, at=at, key=key,
                reason=document.optional_text("reason") or "",
                expires_at=document.optional_integer("expires_at"),
            )  # fmt: skip
        case Release.name:
            pace = document.optional_number("pace")
            return Release(id=identity, actor=actor, at=at, key=key, pace=pace)
        case DeadLetter.name:
            return DeadLetter(
                id=identity, actor=actor, at=at, key=key,
                reason=document.optional_text("reason") or "",
            )  # fmt: skip
    raise InvalidArgumentError(f"there is no command {name!r}.")


def _check_text(name: str, value: str, limit: int) -> None:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name!r} is text, not {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{name!r} is not valid text: {value!r}.") from None
    if len(value) > limit:
        raise InvalidArgumentError(f"{name!r} has {len(value)} characters; the limit is {limit}.")
