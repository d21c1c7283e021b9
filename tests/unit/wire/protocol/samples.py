"""Random messages of every kind and version, the same for the same seed."""

import importlib
import random
from types import ModuleType
from typing import Any
from uuid import UUID

from tools.codec_generator.definitions import Field, Message, Struct

INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
LETTERS = "abcXYZ09._-äß漢字🦀 \n\0"


def codec(message: Message) -> ModuleType:
    """The generated module of a message."""
    return importlib.import_module(f"holdfast.wire.protocol.generated.{message.module}")


class Sampler:
    """Fills in every field that a version has; the others keep their defaults."""

    def __init__(self, message: Message, version: int, seed: object) -> None:
        self._message = message
        self._version = version
        self._module = codec(message)
        self._random = random.Random(f"{seed} {message.name} {version}")

    def message(self) -> Any:
        return self._struct(self._message.root)

    def _struct(self, struct: Struct) -> Any:
        present = [field for field in struct.fields if self._version in field.versions]
        values = {field.name: self._field(field) for field in present}
        return getattr(self._module, struct.name)(**values)

    def _field(self, field: Field) -> Any:
        absent = field.struct is not None and self._version in field.tagged and not field.is_array
        if (absent or self._version in field.nullable) and self._random.random() < 0.25:
            return None
        if field.is_array:
            return [self._value(field) for _ in range(self._count(field))]
        return self._value(field)

    def _count(self, field: Field) -> int:
        # Beyond 127 the length of a compact array takes a second byte.
        longest = (0, 1, 2, 3) if field.struct is not None else (0, 1, 2, 130)
        return self._random.choice(longest)

    def _value(self, field: Field) -> Any:
        if field.struct is not None:
            return self._struct(field.struct)
        if field.type in INTEGERS:
            return integer(self._random, INTEGERS[field.type])
        if field.type == "uint16":
            return self._random.choice((0, 1, 32_768, 65_535))
        if field.type == "float64":
            return self._random.choice(
                (0.0, -1.5, 1e300, float("inf"), 1e9 * self._random.random())
            )
        if field.type == "bool":
            return self._random.random() < 0.5
        if field.type == "string":
            return text(self._random)
        if field.type == "uuid":
            return UUID(int=self._random.getrandbits(128))
        raw = self._random.randbytes(self._random.choice((0, 1, 20, 127, 128, 20_000)))
        return memoryview(raw) if field.type == "records" else raw


def integer(source: random.Random, bits: int) -> int:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return source.choice((low, -1, 0, 1, high, source.randint(low, high)))


def text(source: random.Random) -> str:
    return "".join(source.choices(LETTERS, k=source.choice((0, 1, 5, 30, 200))))
