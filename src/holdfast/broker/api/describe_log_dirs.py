"""DescribeLogDirs: the size of each partition on disk, and the free space."""

import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_log_dirs_request import DescribeLogDirsRequest
from holdfast.wire.protocol.generated.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: DescribeLogDirsRequest, context: RequestContext
) -> Work[DescribeLogDirsResponse]:
    directory = broker.settings.data_dir.absolute()
    result = DescribeLogDirsResult(log_dir=str(directory))
    try:
        usage = shutil.disk_usage(directory)
    except OSError:
        result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        return DescribeLogDirsResponse(results=[result])
    result.total_bytes, result.usable_bytes = usage.total, usage.free
    once = Once()
    for name, indexes in _requested(broker, request):
        result.topics.append(
            _describe(broker, name, [index for index in indexes if once(name, index)])
        )
        yield None
    return DescribeLogDirsResponse(results=[result])


def _requested(
    broker: "Broker", request: DescribeLogDirsRequest
) -> Iterable[tuple[str, Iterable[int]]]:
    if request.topics is None:
        for topic in broker.topics.all():
            yield topic.name, range(len(topic.partitions))
    else:
        for requested in request.topics:
            if broker.topics.get(requested.topic) is not None:
                yield requested.topic, requested.partitions


def _describe(broker: "Broker", name: str, indexes: Iterable[int]) -> DescribeLogDirsTopic:
    return DescribeLogDirsTopic(
        name,
        [
            DescribeLogDirsPartition(index, partition.log.size_bytes)
            for index in indexes
            if (partition := broker.partition(name, index)) is not None
        ],
    )
