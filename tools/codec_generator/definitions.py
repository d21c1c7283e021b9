"""Kafka's message definitions, read from the jars and cut down to the versions that are served."""

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NO_VERSION = range(0)


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `type` is a primitive's name or, where `struct` is set, that struct's."""

    name: str
    type: str
    is_array: bool
    struct: "Struct | None"
    versions: range
    nullable: range
    tagged: range
    tag: int
    default: Any

    def is_plain(self, version: int) -> bool:
        return version in self.versions and version not in self.tagged


@dataclass(frozen=True, slots=True)
class Struct:
    """A class of the generated module."""

    name: str
    fields: tuple[Field, ...]

    @property
    def variable(self) -> str:
        return snake(self.name)

    def plain(self, version: int) -> list[Field]:
        return [field for field in self.fields if field.is_plain(version)]

    def tagged(self, version: int) -> list[Field]:
        found = [field for field in self.fields if version in field.tagged]
        return sorted(found, key=lambda field: field.tag)


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message. `kind` is request, response, coordinator-key or coordinator-value."""

    root: Struct
    kind: str
    jar: str
    key: int
    versions: range
    flexible: range
    structs: tuple[Struct, ...]

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def module(self) -> str:
        return snake(self.name)


def read_definitions(jar: Path) -> list[dict[str, Any]]:
    """Every message definition inside a jar."""
    with zipfile.ZipFile(jar) as archive:
        names = sorted(name for name in archive.namelist() if _is_definition(name))
        return [json.loads(_strip_comments(archive.read(name).decode())) for name in names]


def message(definition: dict[str, Any], jar: str, served: range | None = None) -> Message:
    """A definition of a jar in the versions that are served: all of its own, unless named."""
    known = _versions(definition["validVersions"])
    versions = known if served is None else served
    if versions[0] not in known or versions[-1] not in known:
        raise ValueError(f"{definition['name']} has the versions {known}, not {versions}")
    reader = _Reader(versions, definition.get("commonStructs", []))
    root = reader.struct(definition["name"], definition["fields"])
    return Message(
        root=root,
        kind=definition["type"],
        jar=jar,
        key=definition["apiKey"],
        versions=versions,
        flexible=_overlap(_versions(definition["flexibleVersions"]), versions),
        structs=tuple(reader.structs),
    )


class _Reader:
    """Builds structs, inner ones first, leaving out what no served version has."""

    def __init__(self, served: range, common: list[dict[str, Any]]) -> None:
        self._served = served
        self._common = {struct["name"]: struct["fields"] for struct in common}
        self.structs: list[Struct] = []

    def struct(self, name: str, definitions: list[dict[str, Any]]) -> Struct:
        known = next((struct for struct in self.structs if struct.name == name), None)
        if known is None:
            fields = [self._field(definition) for definition in definitions]
            known = Struct(name, tuple(field for field in fields if field is not None))
            self.structs.append(known)
        return known

    def _field(self, definition: dict[str, Any]) -> Field | None:
        tagged = _overlap(_versions(definition.get("taggedVersions", "none")), self._served)
        stated = definition.get("versions")
        versions = tagged if stated is None else _overlap(_versions(stated), self._served)
        if not versions:
            return None
        is_array = definition["type"].startswith("[]")
        kind = definition["type"].removeprefix("[]")
        is_struct = kind[0].isupper()
        inner = definition.get("fields") or self._common.get(kind, [])
        return Field(
            name=snake(definition["name"]),
            type=kind,
            is_array=is_array,
            struct=self.struct(kind, inner) if is_struct else None,
            versions=versions,
            nullable=_overlap(_versions(definition.get("nullableVersions", "none")), versions),
            tagged=tagged,
            tag=definition.get("tag", -1),
            default=_default(kind, is_array, definition.get("default")),
        )


def _default(kind: str, is_array: bool, stated: Any) -> Any:
    """The value of a field that is not on the wire: [] for arrays, None for null."""
    if stated == "null" or kind == "records":
        return None
    if is_array:
        return []
    if kind in ("string", "bytes"):
        return (stated or "") if kind == "string" else b""
    if kind == "bool":
        return str(stated).lower() == "true"
    if kind == "uuid" or kind[0].isupper():
        return None
    return int(str(stated or 0), 0)


def _versions(text: str) -> range:
    """`3`, `3-7`, `3+` or `none`."""
    if text == "none":
        return NO_VERSION
    low, dash, high = text.removesuffix("+").partition("-")
    if text.endswith("+"):
        return range(int(low), 0x8000)
    return range(int(low), int(high if dash else low) + 1)


def _overlap(left: range, right: range) -> range:
    return range(max(left.start, right.start), min(left.stop, right.stop))


def _is_definition(name: str) -> bool:
    return name.startswith("common/message/") and name.endswith(".json")


def _strip_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or "", text)
