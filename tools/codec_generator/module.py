"""Puts a generated module together: classes, structs, one codec for each distinct layout."""

import re

from tools.codec_generator.decoding import Decoding
from tools.codec_generator.definitions import Message
from tools.codec_generator.encoding import Encoding
from tools.codec_generator.source import Source
from tools.codec_generator.types import declaration

_PRIMITIVES = (
    "MOST_ELEMENTS",
    "MOST_REQUESTED",
    "MOST_TAGS",
    "UNDECODABLE",
    "ZERO_UUID",
    "Buffer",
    "bad_length",
    "read_long_string_length",
    "read_long_uvarint",
    "read_uvarint",
    "skip_tags",
    "uuid_of",
    "uvarint",
)


def module(message: Message) -> str:
    """The source of a message's module."""
    decoders = _layouts({v: Decoding(message, v).source for v in message.versions})
    encoders = _layouts({v: Encoding(message, v).source for v in message.versions})
    parts = [_classes(message)]
    parts.append(_structs(decoders, "unpack_from") + _structs(encoders, "pack"))
    parts += [_function("decode", message, *layout) for layout in decoders]
    parts += [_function("encode", message, *layout) for layout in encoders]
    parts.append(_entry_points(message, decoders, encoders))
    if message.kind == "coordinator-key":
        parts.append(_KEY.format(name=message.name, key=message.key))
    elif message.kind == "coordinator-value":
        parts.append(_VALUE.format(name=message.name))
    body = "\n\n".join(part for part in parts if part)
    origin = f"{message.name}.json in {message.jar}"
    first = f"# Written by tools/generate_codecs.py from {origin}: do not edit.\n"
    return f"{first}{_imports(body)}\n\n{body}"


def _layouts(by_version: dict[int, Source]) -> list[tuple[list[int], Source]]:
    """Versions whose code is the same share it."""
    found: dict[str, tuple[list[int], Source]] = {}
    for version, source in by_version.items():
        found.setdefault("\n".join(source.lines), ([], source))[0].append(version)
    return list(found.values())


def _classes(message: Message) -> str:
    classes = []
    for struct in message.structs:
        fields = [f"    {declaration(field, message.kind)}\n" for field in struct.fields]
        body = "".join(fields) or "    pass\n"
        classes.append(f"@dataclass(slots=True)\nclass {struct.name}:\n{body}")
    return "\n\n".join(classes)


def _structs(layouts: list[tuple[list[int], Source]], method: str) -> str:
    runs = {name: run for _, source in layouts for name, run in source.runs.items()}
    return "".join(f'{name} = Struct("{runs[name]}").{method}\n' for name in sorted(runs))


def _function(verb: str, message: Message, versions: list[int], source: Source) -> str:
    signature = {
        "decode": f"(buffer: memoryview, position: int) -> {message.name}:",
        "encode": f"(message: {message.name}) -> list[Buffer]:",
    }[verb]
    lines = "\n".join(source.lines)
    return f"def _{verb}_{versions[0]}{signature}\n{lines}\n"


def _table(verb: str, layouts: list[tuple[list[int], Source]]) -> str:
    entries = sorted((v, versions[0]) for versions, _ in layouts for v in versions)
    return ", ".join(f"{version}: _{verb}_{layout}" for version, layout in entries)


def _entry_points(
    message: Message,
    decoders: list[tuple[list[int], Source]],
    encoders: list[tuple[list[int], Source]],
) -> str:
    return _ENTRY_POINTS.format(
        name=message.name,
        decoders=_table("decode", decoders),
        encoders=_table("encode", encoders),
    )


def _imports(body: str) -> str:
    used = set(re.findall(r"\b\w+\b", body))
    field = ", field" if "field(default_factory" in body else ""
    lines = ["import struct"] if "struct." in body else []
    lines += [f"from dataclasses import dataclass{field}"]
    lines += ["from struct import Struct"] if "Struct" in used else []
    lines += ["from uuid import UUID"] if "UUID" in used else []
    names = "".join(f"    {name},\n" for name in _PRIMITIVES if name in used)
    lines += ["", "from holdfast.wire.protocol.errors import MalformedMessage"]
    lines += [f"from holdfast.wire.protocol.primitives import (\n{names})"]
    return "\n".join(lines) + "\n"


_ENTRY_POINTS = '''\
_DECODERS = {{{decoders}}}
_ENCODERS = {{{encoders}}}


def decode(version: int, buffer: Buffer, position: int = 0) -> {name}:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"{name} has no version {{version}}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No {name} of version {{version}}: {{error}}") from error


def encode(version: int, message: {name}) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
'''

_KEY = '''\
RECORD_TYPE = {key}
"""The two bytes that a key of this kind begins with."""


def pack(message: {name}) -> bytes:
    """The key as it is in a record: its type, then the message."""
    return RECORD_TYPE.to_bytes(2, "big") + b"".join(encode(0, message))


def unpack(buffer: Buffer) -> {name}:
    """The message of a key that `pack` made; raises MalformedMessage for any other."""
    if int.from_bytes(buffer[:2], "big") != RECORD_TYPE:
        raise MalformedMessage("Not the key of a {name}")
    return decode(0, buffer, 2)
'''

_VALUE = '''\
def pack(version: int, message: {name}) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, {name}]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
'''
