"""Recognises JSON values that certainly fit a schema, without Spark.

A Spark job costs tens of milliseconds of processor time, however few values it validates. Most
values are plain: their validity leaves no room for interpretation. All others are left to Spark, so
the outcome is the same with and without this module.
"""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

_LONGEST = 32 * 1024
"""Longer values may exceed a limit of Spark's parser, which no value below can."""
_LONGEST_NUMBER = 100
_DEEPEST = 50

_BITS: dict[type[DataType], int] = {ByteType: 8, ShortType: 16, IntegerType: 32, LongType: 64}

Fits = Callable[[Any], bool]


class PlainJson:
    """The values of one schema that need no further look."""

    def __init__(self, fields: StructType, reserved: str) -> None:
        """`reserved`: a name that has a meaning to Spark's parser."""
        self._fits = _fits(fields)
        self._reserved = reserved
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=_refuse,
            parse_int=_parse_int,
            parse_float=_parse_float,
        )

    def certainly_fits(self, value: bytes | None) -> bool:
        """Returns True if Spark would find the value valid. False: Spark has to look at it."""
        if value is None:
            return True  # it has no fields
        if len(value) > _LONGEST or value.count(b"{") + value.count(b"[") > _DEEPEST:
            return False
        try:
            return self._fits(self._decoder.decode(value.decode()))
        except (ValueError, RecursionError):
            return False

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs) or self._reserved in found:
            raise ValueError("a name is there twice, or reserved")
        return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _parse_int(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("too many digits")
    return int(digits)


def _parse_float(digits: str) -> float:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("too many digits")
    return float(digits)


def _fits(kind: DataType) -> Fits:
    """Tests of a value that is not null."""
    if isinstance(kind, StructType):
        return _fits_struct(kind)
    if isinstance(kind, ArrayType):
        element = _fits(kind.elementType)
        return lambda value: type(value) is list and all(map(element, value))
    if type(kind) in _BITS:
        limit = 1 << (_BITS[type(kind)] - 1)
        return lambda value: type(value) is int and -limit <= value < limit
    if isinstance(kind, (DoubleType, FloatType)):
        return _fits_number
    if isinstance(kind, BooleanType):
        return lambda value: type(value) is bool
    if type(kind) is StringType:
        return _fits_string
    return lambda value: False


def _fits_struct(kind: StructType) -> Fits:
    fields = [(field.name, field.nullable, _fits(field.dataType)) for field in kind.fields]

    def fits(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, nullable, field_fits in fields:
            found = value.get(name)
            if not (nullable if found is None else field_fits(found)):
                return False
        return True

    return fits


def _fits_number(value: Any) -> bool:
    if type(value) is float:
        return isfinite(value) and abs(value) < 1e30
    return type(value) is int and abs(value) < 1 << 63


def _fits_string(value: Any) -> bool:
    # Half of a surrogate pair is a character to Python alone.
    return type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value)
