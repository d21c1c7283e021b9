"""Values that certainly fit a schema."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DateType,
    DoubleType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from holdfast.pipeline.spark.plain_json import PlainJson

ITEM = StructType([StructField("price", DoubleType()), StructField("count", IntegerType())])
SCHEMA = StructType(
    [
        StructField("id", StringType(), nullable=False),
        StructField("items", ArrayType(ITEM)),
        StructField("paid", BooleanType()),
    ]
)


def fits(value: bytes | None) -> bool:
    return PlainJson(SCHEMA, "_corrupt").certainly_fits(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b'{"id": "a"}',
        b' {"id": "\\u00e4", "paid": true, "other": [1, {"x": null}]}\n',
        b'{"id": "", "items": [{"price": 1, "count": -3}, {"price": 2.5e3}], "paid": null}',
    ],
)
def test_plain_values_need_no_spark(value: bytes | None) -> None:
    assert fits(value)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"id": null}',
        b'{"paid": true}',
        b"{'id': 'a'}",
        b'{"id": 1}',
        b'{"id": "a", "id": "b"}',
        b'{"id": "a", "_corrupt": 1}',
        b'{"id": "a", "x": NaN}',
        b'{"id": "a", "x": %s}' % (b"1" * 200),
        b'{"id": "\\ud800"}',
        b'{"id": "\xff"}',
        b'\xef\xbb\xbf{"id": "a"}',
        b'{"id": "a", "items": [null]}',
        b'{"id": "a", "items": [{"count": 2147483648}]}',
        b'{"id": "a", "items": [{"count": 1.0}]}',
        b'{"id": "a", "items": [{"price": "1"}]}',
        b'{"id": "a", "items": [{"price": true}]}',
        b'{"id": "a"} x',
        b'{"id": "%s"}' % (b"a" * 40_000),
        b'{"id": "a", "x": %s}' % (b"[" * 60 + b"]" * 60),
    ],
)
def test_anything_else_is_left_to_spark(value: bytes) -> None:
    assert not fits(value)


def test_values_of_other_types_are_left_to_spark() -> None:
    plain = PlainJson(StructType([StructField("day", DateType())]), "_corrupt")
    assert not plain.certainly_fits(b'{"day": "2024-01-01"}')
    assert plain.certainly_fits(b'{"other": 1}')
