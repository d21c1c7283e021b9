"""Frames built with our own codecs: a request with its header, and where a reply's body begins."""

import importlib
import struct
from types import ModuleType
from typing import Any

from holdfast.wire.protocol.apis import Api
from holdfast.wire.protocol.primitives import skip_tagged_fields

API_VERSIONS = 18


def codec(api: Api, kind: str) -> ModuleType:
    """The generated module of an API's request or response."""
    return importlib.import_module(f"holdfast.wire.protocol.generated.{api.name}_{kind}")


def request_header(api: Api, version: int, correlation_id: int, client_id: str | None) -> bytes:
    raw = b"" if client_id is None else client_id.encode()
    length = -1 if client_id is None else len(raw)
    tags = b"\0" if version >= api.first_flexible else b""
    return struct.pack(">hhih", api.key, version, correlation_id, length) + raw + tags


def request_frame(
    api: Api, version: int, message: Any, *, correlation_id: int = 1, client_id: str | None = "test"
) -> bytes:
    """A request as it goes over the wire, without the size in front."""
    body = b"".join(codec(api, "request").encode(version, message))
    return request_header(api, version, correlation_id, client_id) + body


def sized(frame: bytes) -> bytes:
    return struct.pack(">i", len(frame)) + frame


def request_body(api: Api, version: int, frame: bytes) -> int:
    """Where the body of a request begins."""
    position = 10 + max(struct.unpack_from(">h", frame, 8)[0], 0)
    if version >= api.first_flexible:
        return skip_tagged_fields(memoryview(frame), int(position))
    return int(position)


def response_body(api: Api, version: int, frame: bytes) -> int:
    """Where the body of a response begins."""
    if version >= api.first_flexible and api.key != API_VERSIONS:
        return skip_tagged_fields(memoryview(frame), 4)
    return 4


def decode_response(api: Api, version: int, frame: bytes) -> Any:
    return codec(api, "response").decode(version, frame, response_body(api, version, frame))
