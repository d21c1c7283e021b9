"""How fields look in Python: their annotations and defaults."""

from tools.codec_generator.definitions import Field, Struct

_PYTHON = {"string": "str", "bytes": "bytes", "bool": "bool", "uuid": "UUID", "float64": "float"}


def annotation(field: Field, kind: str) -> str:
    """The type of a field. None is null or, for a tagged struct, absent."""
    inner = field.type if field.struct else _PYTHON.get(field.type, "int")
    if field.type == "records":
        # A request's records are a slice of its frame; a response's come from anywhere.
        inner = "memoryview" if kind == "request" else "Buffer"
    if field.is_array:
        inner = f"list[{inner}]"
    may_be_none = field.nullable or (field.default is None and field.type != "uuid")
    return f"{inner} | None" if may_be_none else inner


def literal(field: Field) -> str:
    """The default as an expression; an array's is a fresh list."""
    if field.type == "uuid" and not field.is_array:
        return "ZERO_UUID"
    return repr(field.default)


def empty(field: Field) -> str:
    """The value for None in a version that has no null for the field."""
    if field.is_array:
        return "[]"
    return '""' if field.type == "string" else 'b""'


def declaration(field: Field, kind: str) -> str:
    """The line of a field in its dataclass."""
    default = "field(default_factory=list)" if field.default == [] else literal(field)
    return f"{field.name}: {annotation(field, kind)} = {default}"


def is_set(field: Field, value: str) -> str:
    """Code that is true if a tagged field differs from its default, and must be written."""
    if field.default is None and field.type != "uuid":
        return f"{value} is not None"
    if field.default == []:
        return f"len({value}) > 0"
    return f"{value} != {literal(field)}"


def variable(field: Field, owner: Struct, root: Struct) -> str:
    """The local that holds a field while its struct is decoded."""
    return field.name if owner is root else f"{owner.variable}_{field.name}"
