"""Commands to a flow, one record of `<flow>.control` each.

The record's key is the command's key, if it has one; its value is JSON:

    {"version":1,"command":"hold","id":"…","key":"customer-7","actor":"ana","at":1767225600000,
     "name":"fraud-team","reason":"disputed","expires_at":1767232800000,"expires_in":7200000}
    {"version":1,"command":"release","id":"…","key":"customer-7","actor":"ana","at":1767225600000,
     "holds":["fraud-team"],"reason":"cleared"}
    {"version":1,"command":"hold-prefix","id":"…","prefix":"tenant-7/","actor":"ana",
     "at":1767225600000,"name":"ana"}

Times are milliseconds since 1970. Commands with the same id count once.

A hold that expires after a duration has `expires_in` too. The duration begins at the later of two
times: the sender's, and the broker's of the record. By one clock that is slow, the hold could end
before it has begun; so two clocks must be wrong. Then `expires_at` is only the sender's estimate.

A release says by name which holds it ends, so that every partition ends the same ones whenever it
takes the command. Records that were written before holds had names have no such fields: their hold
has the empty name, and their release ends that hold.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.documents import Document, encode
from holdfast.flows.holds import MAX_HOLDS, MAX_PREFIX_BYTES, WHOLE_FLOW, StandingHold
from holdfast.flows.keys import key_bytes, key_to_json

MAX_REASON = 1_000
MAX_ACTOR = 200
MAX_NAME = 200
MAX_PACE = 1_000_000.0
NO_TIME = -1
"""The timestamp of a record that has none."""

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """The fields of all commands: id, actor and time."""

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
            raise InvalidArgumentError("A command needs an actor: 'actor' is empty.")
        if self.at < 0:
            raise InvalidArgumentError(f"A command's time cannot be {self.at}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold(_Command):
    """Hold all events of the key from the cut on, until a release or the expiry. A hold of the same
    name changes that one; others are not changed."""

    name = "hold"

    key: bytes
    reason: str = ""
    expires_at: int | None = None
    expires_in: int | None = None
    """Milliseconds, if the expiry was given as a duration."""
    hold_name: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        key_bytes(self.key)
        _check_text("reason", self.reason, MAX_REASON)
        _check_text("name", self.hold_name, MAX_NAME)
        _check_expiry(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixHold(_Command):
    """Hold all events of all keys that begin so, seen or not, until a release or the expiry."""

    name = "hold-prefix"

    prefix: bytes
    reason: str = ""
    expires_at: int | None = None
    expires_in: int | None = None
    hold_name: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_prefix(self.prefix)
        _check_text("reason", self.reason, MAX_REASON)
        _check_text("name", self.hold_name, MAX_NAME)
        _check_expiry(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(_Command):
    """Take no events of the flow, and let none leave held for processed, until every pause was
    ended by a `Resume`."""

    name = "pause"

    reason: str = ""
    hold_name: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_text("reason", self.reason, MAX_REASON)
        _check_text("name", self.hold_name, MAX_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending(_Command):
    """A command that ends holds, by their names."""

    holds: tuple[str, ...] = ("",)
    """The names of the holds to end."""
    every: bool = False
    """End every hold, whatever `holds` says."""
    reason: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_text("reason", self.reason, MAX_REASON)
        if not 1 <= len(self.holds) <= MAX_HOLDS:
            raise InvalidArgumentError(f"A release names 1 to {MAX_HOLDS} holds.")
        for name in self.holds:
            _check_text("holds", name, MAX_NAME)

    def ends(self, hold: StandingHold) -> bool:
        """Returns True if it ends this hold of its key."""
        return not hold.prefix and (self.every or hold.name in self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(_Ending):
    """End holds of the key. With the last of them its held events leave in order, then new ones
    pass. Holds of prefixes are not of the key alone, and stay."""

    name = "release"

    key: bytes
    pace: float | None = None
    """Events a second; as fast as possible unless given."""

    def __post_init__(self) -> None:
        _Ending.__post_init__(self)
        key_bytes(self.key)
        _check_pace(self.pace)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRelease(_Ending):
    """End holds of a prefix. Each of its keys without another hold drains."""

    name = "release-prefix"

    prefix: bytes
    pace: float | None = None
    """Events a second of each key; as fast as possible unless given."""

    def __post_init__(self) -> None:
        _Ending.__post_init__(self)
        _check_prefix(self.prefix)
        _check_pace(self.pace)

    def ends(self, hold: StandingHold) -> bool:
        """Returns True if it ends this hold of a key or of its prefix."""
        return hold.prefix == self.prefix and (self.every or hold.name in self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(_Ending):
    """End pauses of the flow. With the last of them events are taken again."""

    name = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter(_Command):
    """Send the events of the key that are held at this point to the dead letters."""

    name = "dead-letter"

    key: bytes
    reason: str = ""
    first: bool = False
    """Only the first event, which a guard has failed to handle; the others are handled."""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        key_bytes(self.key)
        _check_text("reason", self.reason, MAX_REASON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Void(_Command):
    """Let the gate skip the unreadable record at `offset` of the control log."""

    name = "void"

    offset: int
    reason: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_text("reason", self.reason, MAX_REASON)
        if self.offset < 0:
            raise InvalidArgumentError(f"There is no offset {self.offset} on a control log.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(_Command):
    """Let the gate skip unreadable events of `partition`, from `first` to `last`."""

    name = "skip"

    partition: int
    first: int
    last: int
    reason: str = ""

    def __post_init__(self) -> None:
        _Command.__post_init__(self)
        _check_text("reason", self.reason, MAX_REASON)
        if self.partition < 0:
            raise InvalidArgumentError(f"There is no partition {self.partition}.")
        if not 0 <= self.first <= self.last:
            raise InvalidArgumentError(
                f"Offsets {self.first} to {self.last} are no range: name the first and the last."
            )


KeyCommand = Hold | Release | DeadLetter
"""Commands with a key."""
ScopeHold = PrefixHold | Pause
ScopeRelease = PrefixRelease | Resume
ScopeCommand = ScopeHold | ScopeRelease
"""Commands about all keys with a prefix, or about the whole flow. Every partition answers them."""
Command = KeyCommand | ScopeCommand | Void | Skip


def key_of(command: Command) -> bytes | None:
    """The key of a command, if it has one."""
    return command.key if isinstance(command, KeyCommand) else None


def scope_of(command: ScopeCommand) -> bytes:
    """The prefix of a command, or `WHOLE_FLOW`."""
    return command.prefix if isinstance(command, PrefixHold | PrefixRelease) else WHOLE_FLOW


def encode_command(command: Command) -> tuple[bytes | None, bytes]:
    """Key and value of the command's record."""
    key = key_of(command)
    fields = {
        "command": command.name,
        "id": command.id,
        **({} if key is None else key_to_json(key)),
        "actor": command.actor,
        "at": command.at,
    }
    match command:
        case PrefixHold() | PrefixRelease():
            fields |= key_to_json(command.prefix, "prefix")
        case Void():
            fields["offset"] = command.offset
        case Skip():
            fields |= {"partition": command.partition, "first": command.first, "last": command.last}
    return key, encode(fields | _own_fields(command) | {"reason": command.reason or None})


def _own_fields(command: Command) -> dict[str, Any]:
    match command:
        case Hold() | PrefixHold():
            return {
                "name": command.hold_name or None,
                "reason": command.reason or None,
                "expires_at": command.expires_at,
                "expires_in": command.expires_in,
            }
        case Pause():
            return {"name": command.hold_name or None}
        case Release() | PrefixRelease() | Resume():
            named = None if command.every or command.holds == ("",) else list(command.holds)
            pace = None if isinstance(command, Resume) else command.pace
            return {"pace": pace, "holds": named, "all": command.every or None}
        case DeadLetter():
            return {"first": command.first or None}
    return {}


def decode_command(key: bytes | None, value: bytes | None, time: int = NO_TIME) -> Command:
    """The command in a record of the control log, or InvalidRecordError.

    `time`: the timestamp of the record. An expiry after a duration counts from it, or from the
    sender's time if that is later.
    """
    document = Document(value, "command")
    try:
        command = _command_in(document)
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This command cannot be read: {error}") from None
    document.end()
    if key != key_of(command):
        raise InvalidRecordError(
            "This command cannot be read: it names another key than its record."
        )
    if isinstance(command, Hold | PrefixHold) and command.expires_in is not None and time > NO_TIME:
        return replace(command, expires_at=max(time, command.at) + command.expires_in)
    return command


def _command_in(document: Document) -> Command:
    name = document.text("command")
    head: dict[str, Any] = {
        "id": document.text("id"),
        "actor": document.text("actor"),
        "at": document.integer("at"),
        "reason": document.optional_text("reason") or "",
    }
    match name:
        case Void.name:
            return Void(**head, offset=document.integer("offset"))
        case Skip.name:
            return Skip(
                **head,
                partition=document.integer("partition"),
                first=document.integer("first"),
                last=document.integer("last"),
            )
        case Pause.name:
            return Pause(**head, hold_name=document.optional_text("name") or "")
        case Resume.name:
            return Resume(**head, **_ending_in(document))
        case Hold.name:
            return Hold(**head, **_hold_in(document), key=_key_in(document, "key"))
        case PrefixHold.name:
            return PrefixHold(**head, **_hold_in(document), prefix=_key_in(document, "prefix"))
        case Release.name:
            key, pace = _key_in(document, "key"), document.optional_number("pace")
            return Release(**head, **_ending_in(document), key=key, pace=pace)
        case PrefixRelease.name:
            prefix, pace = _key_in(document, "prefix"), document.optional_number("pace")
            return PrefixRelease(**head, **_ending_in(document), prefix=prefix, pace=pace)
        case DeadLetter.name:
            return DeadLetter(**head, key=_key_in(document, "key"), first=document.flag("first"))
    raise InvalidArgumentError(f"there is no command {name!r}.")


def _key_in(document: Document, name: str) -> bytes:
    key = document.optional_key(name)
    if key is None:
        raise InvalidArgumentError(f"it has no {name}.")
    return key


def _hold_in(document: Document) -> dict[str, Any]:
    return {
        "expires_at": document.optional_integer("expires_at"),
        "expires_in": document.optional_integer("expires_in"),
        "hold_name": document.optional_text("name") or "",
    }


def _ending_in(document: Document) -> dict[str, Any]:
    return {"holds": document.texts("holds") or ("",), "every": document.flag("all")}


def _check_expiry(hold: "Hold | PrefixHold") -> None:
    if hold.expires_in is None:
        late = hold.expires_at is not None and hold.expires_at <= hold.at
    else:
        late = hold.expires_in <= 0 or hold.expires_at is None
    if late:
        raise InvalidArgumentError("A hold must expire in the future.")


def _check_prefix(prefix: bytes) -> None:
    if not prefix:
        raise InvalidArgumentError(
            "A prefix is not empty. To hold everything, pause the flow: 'holdfast flow pause'."
        )
    if len(key_bytes(prefix)) > MAX_PREFIX_BYTES:
        raise InvalidArgumentError(
            f"A prefix has at most {MAX_PREFIX_BYTES} bytes, not {len(prefix)}."
        )


def _check_pace(pace: float | None) -> None:
    if pace is not None and not (math.isfinite(pace) and 0 < pace <= MAX_PACE):
        raise InvalidArgumentError(
            f"A pace is above 0 and at most {MAX_PACE:,.0f} events a second, not {pace}."
        )


def _check_text(name: str, value: str, limit: int) -> None:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name!r} is text, not {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{name!r} is not valid text: {value!r}.") from None
    if len(value) > limit:
        raise InvalidArgumentError(f"{name!r} has {len(value)} characters; the limit is {limit}.")
