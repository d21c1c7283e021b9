"""Request and response headers. The API and its version decide which of their forms is used."""

from struct import Struct
from typing import NamedTuple

from holdfast.broker.protocol.apis import API_VERSIONS_KEY, APIS
from holdfast.broker.protocol.errors import MalformedMessage
from holdfast.broker.protocol.primitives import UNDECODABLE, Buffer, bad_length, skip_tags

_FIXED = Struct(">hhih")
_CORRELATION = Struct(">i")


class RequestHeader(NamedTuple):
    """Who asks for what. `body` is the position at which the request itself begins."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body: int


def decode_request_header(buffer: Buffer, position: int = 0) -> RequestHeader:
    """The header at `position`; raises MalformedMessage for anything that is none.

    The header of an API that is not in APIS is read in its oldest form. A version beyond the
    served range is read by the rule for its API: ApiVersions is answered even then.
    """
    view = memoryview(buffer)
    try:
        key, version, correlation_id, length = _FIXED.unpack_from(view, position)
        position += 10
        client_id = None
        if length >= 0:
            stop = position + length
            if stop > len(view):
                raise bad_length("client_id", length)
            client_id = str(view[position:stop], "utf-8")
            position = stop
        api = APIS.get(key)
        if api is not None and version >= api.first_flexible:
            position = skip_tags(view, position + 1, view[position])
    except UNDECODABLE as error:
        raise MalformedMessage(f"No request header: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id, position)


def encode_request_header(
    key: int, version: int, correlation_id: int, client_id: str | None
) -> bytes:
    """The header in front of a request of API `key` in `version`."""
    raw = b"" if client_id is None else client_id.encode()
    length = -1 if client_id is None else len(raw)
    tags = b"\0" if version >= APIS[key].first_flexible else b""
    return _FIXED.pack(key, version, correlation_id, length) + raw + tags


def encode_response_header(key: int, version: int, correlation_id: int) -> bytes:
    """The header in front of the response to a request of API `key` in `version`."""
    header = _CORRELATION.pack(correlation_id)
    if key == API_VERSIONS_KEY or version < APIS[key].first_flexible:
        return header
    return header + b"\0"


def decode_response_header(
    key: int, version: int, buffer: Buffer, position: int = 0
) -> tuple[int, int]:
    """The correlation id, and the position at which the response itself begins."""
    view = memoryview(buffer)
    try:
        (correlation_id,) = _CORRELATION.unpack_from(view, position)
        position += 4
        if APIS[key].response_header_version(version):
            position = skip_tags(view, position + 1, view[position])
    except UNDECODABLE as error:
        raise MalformedMessage(f"No response header: {error}") from error
    return correlation_id, position
