"""Checks event values, which are JSON, against the flow's schema, which is Spark DDL."""

from collections.abc import Iterator

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructType

from holdfast.errors import GateStoppedError
from holdfast.pipeline.spark.plain_json import PlainJson

_CORRUPT = "_holdfast_corrupt"


def why_invalid(value: Column, schema: str | None) -> Column:
    """A column with a sentence about why the value violates the schema; null if it does not.

    A null value has no fields, so it passes. Without a schema everything passes.
    """
    nothing = sql.lit(None).cast("string")
    if schema is None:
        return nothing
    fields = read_schema(schema)
    read = StructType([*fields.fields]).add(_CORRUPT, "string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    parsed = sql.from_json(value.cast("string"), read, options)
    reasons = sql.when(
        parsed.isNull() | parsed[_CORRUPT].isNotNull(),
        sql.lit("The value is not JSON of the flow's schema."),
    )
    for path, column in _required(parsed, fields, ""):
        reasons = reasons.when(column.isNull(), sql.lit(f"The field {path!r} is missing."))
    return sql.when(value.isNotNull(), reasons.otherwise(nothing))


def plain_json(schema: str) -> PlainJson:
    """Recognises values that certainly fit the schema."""
    return PlainJson(read_schema(schema), _CORRUPT)


def read_schema(schema: str) -> StructType:
    """The fields of the schema. It takes a running Spark to parse it."""
    try:
        fields = StructType.fromDDL(schema)
    except PySparkException as error:
        raise GateStoppedError(
            f"The gate has stopped: the flow's schema {schema!r} cannot be parsed, so it cannot "
            "check which events are valid. Change it with 'holdfast flow set'. "
            f"({error.getCondition()})"
        ) from None
    assert isinstance(fields, StructType)
    return fields


def _required(parent: Column, kind: DataType, path: str) -> Iterator[tuple[str, Column]]:
    """The required fields, outer ones first. Fields of an optional struct are not required."""
    if not isinstance(kind, StructType):
        return
    for field in kind.fields:
        if not field.nullable:
            column = parent[field.name]
            yield f"{path}{field.name}", column
            yield from _required(column, field.dataType, f"{path}{field.name}.")
