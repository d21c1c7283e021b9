"""AlterReplicaLogDirs: all partitions are in the data directory, the only one."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_replica_log_dirs_request import (
    AlterReplicaLogDirsRequest,
)
from holdfast.wire.protocol.generated.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: AlterReplicaLogDirsRequest, context: RequestContext
) -> Work[AlterReplicaLogDirsResponse]:
    here = str(broker.settings.data_dir.absolute())
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    once = Once()
    for directory in request.dirs:
        for topic in directory.topics:
            result = results.setdefault(topic.name, AlterReplicaLogDirTopicResult(topic.name))
            for index in topic.partitions:
                if once(topic.name, index):
                    if directory.path != here:
                        error = ErrorCode.LOG_DIR_NOT_FOUND
                    elif broker.exists(topic.name, index):
                        error = ErrorCode.NONE
                    else:
                        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    result.partitions.append(AlterReplicaLogDirPartitionResult(index, error))
                yield None
    return AlterReplicaLogDirsResponse(results=list(results.values()))
