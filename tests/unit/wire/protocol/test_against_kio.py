"""Every API in every version served, against kio: a codec that shares nothing with ours.

For the same values both must write the same bytes, and each must read what the other wrote.
"""

import datetime
import importlib
import io
import random
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer
from tests.unit.wire.protocol.samples import integer, text

from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.primitives import ZERO_UUID

CASES = [
    (api, version, kind)
    for api in APIS.values()
    for version in range(api.min_version, api.max_version + 1)
    for kind in ("request", "response")
]
IDS = [f"{api.name}_{kind}-{version}" for api, version, kind in CASES]
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)
MILLISECOND = datetime.timedelta(milliseconds=1)


def entity_class(api: Api, version: int, kind: str) -> Any:
    load = load_request_schema if kind == "request" else load_response_schema
    return load(api.key, version)


def sample(entity: Any, source: random.Random) -> Any:
    """A random instance of a kio class."""
    hints = typing.get_type_hints(entity)
    return entity(**{f.name: sample_field(f, hints[f.name], source) for f in fields(entity)})


def sample_field(field: Any, hint: Any, source: random.Random) -> Any:
    if "tag" in field.metadata and source.random() < 0.5:
        return field.default if field.default is not MISSING else ()
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        if source.random() < 0.25 and "tag" not in field.metadata:
            return None
        (hint,) = (member for member in typing.get_args(hint) if member is not type(None))
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        count = source.choice((0, 1, 2, 3) if is_dataclass(inner) else (0, 1, 2, 130))
        return tuple(sample_value(field, inner, source) for _ in range(count))
    return sample_value(field, hint, source)


def sample_value(field: Any, hint: Any, source: random.Random) -> Any:
    if is_dataclass(hint):
        return sample(hint, source)
    kind = field.metadata["kafka_type"]
    if kind in BITS:
        return hint(integer(source, BITS[kind]))
    if kind in ("bytes", "records"):
        return source.randbytes(source.choice((0, 1, 127, 128, 20_000)))
    makers: dict[str, Callable[[], object]] = {
        "uint16": lambda: hint(source.getrandbits(16)),
        "float64": lambda: hint(source.choice((0.0, -1.5, 1e300, source.random()))),
        "string": lambda: text(source),
        "bool": lambda: source.random() < 0.5,
        "uuid": lambda: UUID(int=source.getrandbits(128)),
        "error_code": lambda: source.choice(list(KioErrorCode)),
        "timedelta_i32": lambda: integer(source, 32) * MILLISECOND,
        "timedelta_i64": lambda: source.randint(-1, 10**12) * MILLISECOND,
        "datetime_i64": lambda: EPOCH + source.randint(0, 4 * 10**12) * MILLISECOND,
    }
    return makers[kind]()


def assert_same(ours: Any, theirs: Any, path: str) -> None:
    """Ours has kio's values, field by field."""
    names = {field.name for field in fields(ours)}
    for field in fields(theirs):
        # kio turns milliseconds into time spans, and drops the unit from the name.
        name = field.name if field.name in names else f"{field.name}_ms"
        here = f"{path}.{name}"
        assert_same_value(getattr(ours, name), getattr(theirs, field.name), field, here)


def assert_same_value(ours: Any, theirs: Any, field: Any, path: str) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs), path
        for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            assert_same_value(our, their, field, f"{path}[{index}]")
    elif is_dataclass(theirs):
        # A tagged struct that is not there is None here, and made of defaults there.
        if ours is None:
            assert theirs == field.default, path
        else:
            assert_same(ours, theirs, path)
    else:
        assert ours == plain(theirs, field), path


def plain(value: Any, field: Any) -> Any:
    kind = field.metadata.get("kafka_type")
    if value is None:
        return {"uuid": ZERO_UUID, "datetime_i64": -1}.get(kind)
    if isinstance(value, datetime.timedelta):
        return value // MILLISECOND
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // MILLISECOND
    return value.value if isinstance(value, Enum) else value


@pytest.mark.parametrize(("api", "version", "kind"), CASES, ids=IDS)
def test_same_bytes_and_same_values_as_kio(api: Api, version: int, kind: str) -> None:
    module = importlib.import_module(f"holdfast.wire.protocol.generated.{api.name}_{kind}")
    entity = entity_class(api, version, kind)
    write, read = entity_writer(entity), entity_reader(entity)
    for seed in range(6):
        source = random.Random(f"{seed} {api.name} {kind} {version}")
        theirs = sample(entity, source)
        buffer = io.BytesIO()
        write(buffer, theirs)
        raw = buffer.getvalue()
        ours = module.decode(version, raw)
        assert_same(ours, theirs, f"seed {seed}: {entity.__name__}")
        written = b"".join(module.encode(version, ours))
        assert written == raw, f"seed {seed}"
        assert read(written, 0) == (theirs, len(written)), f"seed {seed}"


def test_error_codes_have_kafkas_names_and_numbers() -> None:
    assert {code.name: code.value for code in ErrorCode} == {
        code.name.upper(): code.value for code in KioErrorCode
    }
