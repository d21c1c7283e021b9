"""Whether an event's value is what the flow's schema says: Spark DDL over JSON."""

from collections.abc import Iterator

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructType

from holdfast.errors import GateStoppedError

_CORRUPT = "_holdfast_corrupt"


def why_invalid(value: Column, schema: str | None) -> Column:
    """Why a value violates the schema, in words; null if it does not.

    A null value has no fields to be wrong: it passes, as does everything without a schema.
    """
    nothing = sql.lit(None).cast("string")
    if schema is None:
        return nothing
    fields = _read(schema)
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


def _read(schema: str) -> StructType:
    try:
        fields = StructType.fromDDL(schema)
    except PySparkException as error:
        raise GateStoppedError(
            f"The gate has stopped: the flow's schema {schema!r} cannot be read, so it cannot tell "
            f"which events are valid. Change it with 'holdfast flow set'. ({error.getCondition()})"
        ) from None
    assert isinstance(fields, StructType)
    return fields


def _required(parent: Column, kind: DataType, path: str) -> Iterator[tuple[str, Column]]:
    """The fields that must be there, outer ones first. Within a struct that may be missing,
    nothing is required."""
    if not isinstance(kind, StructType):
        return
    for field in kind.fields:
        if not field.nullable:
            column = parent[field.name]
            yield f"{path}{field.name}", column
            yield from _required(column, field.dataType, f"{path}{field.name}.")
