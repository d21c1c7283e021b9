# Written by tools/generate_codecs.py from DescribeClusterRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    skip_tags,
)


@dataclass(slots=True)
class DescribeClusterRequest:
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False


_unpack_tB = Struct(">?B").unpack_from
_unpack_tbB = Struct(">?bB").unpack_from
_unpack_tbtB = Struct(">?b?B").unpack_from
_pack_tB = Struct(">?B").pack
_pack_tbB = Struct(">?bB").pack
_pack_tbtB = Struct(">?b?B").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeClusterRequest:
    end = len(buffer)
    include_cluster_authorized_operations, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterRequest(include_cluster_authorized_operations=include_cluster_authorized_operations)


def _decode_1(buffer: memoryview, position: int) -> DescribeClusterRequest:
    end = len(buffer)
    include_cluster_authorized_operations, endpoint_type, tags = _unpack_tbB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterRequest(include_cluster_authorized_operations=include_cluster_authorized_operations, endpoint_type=endpoint_type)


def _decode_2(buffer: memoryview, position: int) -> DescribeClusterRequest:
    end = len(buffer)
    include_cluster_authorized_operations, endpoint_type, include_fenced_brokers, tags = _unpack_tbtB(buffer, position)
    position += 4
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterRequest(include_cluster_authorized_operations=include_cluster_authorized_operations, endpoint_type=endpoint_type, include_fenced_brokers=include_fenced_brokers)


def _encode_0(message: DescribeClusterRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_tB(message.include_cluster_authorized_operations, 0)
    return [out]


def _encode_1(message: DescribeClusterRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_tbB(message.include_cluster_authorized_operations, message.endpoint_type, 0)
    return [out]


def _encode_2(message: DescribeClusterRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_tbtB(message.include_cluster_authorized_operations, message.endpoint_type, message.include_fenced_brokers, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeClusterRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeClusterRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeClusterRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeClusterRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
