"""What each API demands, as a table: a request, the permissions that it needs, and the answer to
those who lack them. The same rows are asked of the embedded broker and of Apache Kafka."""

import dataclasses
import socket
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.frames import codec, decode_response, request_frame, sized
from tests.wire import batch

from holdfast.broker.security.acls import Operation as Op
from holdfast.broker.security.acls import PatternType, Permission, ResourceType
from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.protocol.errors import ErrorCode

TOPIC, MISSING = "a-known-topic", "missing-topic"
GROUP, TRANSACTION = "a-group", "a-transaction"
CLUSTER = "kafka-cluster"
BY_NAME: dict[str, Api] = {api.name: api for api in APIS.values()}
OPEN_TO_ALL = {
    "api_versions", "sasl_handshake", "sasl_authenticate", "get_telemetry_subscriptions",
    "push_telemetry",
}  # fmt: skip
REFUSALS = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}

Needed = tuple[ResourceType, str, Op]


class Row(NamedTuple):
    api: str
    version: int
    request: Any
    needs: tuple[Needed, ...]
    refusal: ErrorCode | None
    """None: without the permission the answer leaves things out instead."""
    others: tuple[Needed, ...] | None = None
    """Permissions that do not suffice. By default the same for other names."""

    def insufficient(self) -> tuple[Needed, ...]:
        if self.others is not None:
            return self.others
        return tuple((kind, f"not-{name}", operation) for kind, name, operation in self.needs)

    def __str__(self) -> str:
        return f"{self.api}-{self.version}"


def topic(operation: Op, name: str = TOPIC) -> Needed:
    return ResourceType.TOPIC, name, operation


def group(operation: Op, name: str = GROUP) -> Needed:
    return ResourceType.GROUP, name, operation


def transaction(operation: Op) -> Needed:
    return ResourceType.TRANSACTIONAL_ID, TRANSACTION, operation


def on_cluster(operation: Op) -> Needed:
    return ResourceType.CLUSTER, CLUSTER, operation


def rows() -> list[Row]:
    return list(_rows())


def _message(api: str, kind: str, /, **fields: Any) -> Any:
    return getattr(codec(BY_NAME[api], "request"), kind)(**fields)


def _row(
    api: str,
    version: int,
    needs: tuple[Needed, ...],
    refusal: ErrorCode | None,
    others: tuple[Needed, ...] | None = None,
    /,
    **fields: Any,
) -> Row:
    name = "".join(word.capitalize() for word in api.split("_")) + "Request"
    return Row(api, version, _message(api, name, **fields), needs, refusal, others)


def _rows() -> Iterator[Row]:
    yield from _record_rows()
    yield from _topic_rows()
    yield from _group_rows()
    yield from _transaction_rows()
    yield from _cluster_rows()


TOPIC_NO = ErrorCode.TOPIC_AUTHORIZATION_FAILED
GROUP_NO = ErrorCode.GROUP_AUTHORIZATION_FAILED
CLUSTER_NO = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
ID_NO = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def in_transaction() -> bytes:
    """A batch of a transaction that does not exist."""
    return batch([b"value"], producer_id=99_999, epoch=0, sequence=0, transactional=True)


def produced(transactional_id: str | None, records: bytes) -> dict[str, Any]:
    """The fields of a request that produces one batch."""
    data = _message("produce", "PartitionProduceData", index=0, records=memoryview(records))
    topics = [_message("produce", "TopicProduceData", name=TOPIC, partition_data=[data])]
    return {
        "transactional_id": transactional_id, "acks": -1, "timeout_ms": 5_000, "topic_data": topics,
    }  # fmt: skip


def _record_rows() -> Iterator[Row]:
    plain = batch([b"value"])
    for transactional_id, records, needs, refusal in (
        (None, plain, (topic(Op.WRITE),), TOPIC_NO),
        (TRANSACTION, plain, (topic(Op.WRITE),), TOPIC_NO),  # no transaction, for all its id
        (TRANSACTION, in_transaction(), (topic(Op.WRITE), transaction(Op.WRITE)), ID_NO),
    ):
        yield _row("produce", 9, needs, refusal, **produced(transactional_id, records))
    part = _message("fetch", "FetchPartition", partition=0, partition_max_bytes=1000)
    asked = [_message("fetch", "FetchTopic", topic=TOPIC, partitions=[part])]
    yield _row("fetch", 12, (topic(Op.READ),), TOPIC_NO, max_bytes=1000, topics=asked)
    yield _row(
        "fetch", 12, (on_cluster(Op.CLUSTER_ACTION),), TOPIC_NO, (topic(Op.READ),),
        replica_id=5, max_bytes=1000, topics=asked,
    )  # fmt: skip
    part = _message("list_offsets", "ListOffsetsPartition", partition_index=0, timestamp=-1)
    yield _row(
        "list_offsets", 6, (topic(Op.DESCRIBE),), TOPIC_NO, replica_id=-1,
        topics=[_message("list_offsets", "ListOffsetsTopic", name=TOPIC, partitions=[part])],
    )  # fmt: skip
    api = "offset_for_leader_epoch"
    part = _message(api, "OffsetForLeaderPartition", partition=0, leader_epoch=0)
    for need in (topic(Op.DESCRIBE), on_cluster(Op.CLUSTER_ACTION)):
        yield _row(
            api, 4, (need,), TOPIC_NO, (on_cluster(Op.DESCRIBE),), replica_id=-1,
            topics=[_message(api, "OffsetForLeaderTopic", topic=TOPIC, partitions=[part])],
        )  # fmt: skip
    part = _message("delete_records", "DeleteRecordsPartition", partition_index=0, offset=0)
    yield _row(
        "delete_records", 2, (topic(Op.DELETE),), TOPIC_NO, timeout_ms=5_000,
        topics=[_message("delete_records", "DeleteRecordsTopic", name=TOPIC, partitions=[part])],
    )  # fmt: skip
    asked = [_message("describe_producers", "TopicRequest", name=TOPIC, partition_indexes=[0])]
    yield _row("describe_producers", 0, (topic(Op.READ),), TOPIC_NO, topics=asked)


def _topic_rows() -> Iterator[Row]:
    asked = [_message("metadata", "MetadataRequestTopic", name=TOPIC)]
    for operation in (Op.DESCRIBE, Op.READ, Op.WRITE, Op.DELETE, Op.ALTER):  # all imply it
        yield _row("metadata", 9, (topic(operation),), TOPIC_NO, topics=asked)
    yield _row(
        "metadata", 9, (topic(Op.DESCRIBE, "new"), topic(Op.CREATE, "new")), TOPIC_NO,
        (topic(Op.DESCRIBE, "new"),), allow_auto_topic_creation=True,
        topics=[_message("metadata", "MetadataRequestTopic", name="new")],
    )  # fmt: skip
    new = _message(
        "create_topics", "CreatableTopic", name="newer", num_partitions=1, replication_factor=1
    )
    for needs in (topic(Op.CREATE, "newer"), on_cluster(Op.CREATE)):
        yield _row(
            "create_topics", 5, (needs,), TOPIC_NO, (topic(Op.WRITE, "newer"),),
            topics=[new], timeout_ms=5_000, validate_only=True,
        )  # fmt: skip
    yield _row(
        "delete_topics", 5, (topic(Op.DELETE, "gone"),), TOPIC_NO,
        topic_names=["gone"], timeout_ms=5_000,
    )  # fmt: skip
    more = _message("create_partitions", "CreatePartitionsTopic", name=TOPIC, count=2)
    more.assignments = None
    yield _row(
        "create_partitions", 3, (topic(Op.ALTER),), TOPIC_NO,
        topics=[more], timeout_ms=5_000, validate_only=True,
    )  # fmt: skip
    asked = [_message("describe_topic_partitions", "TopicRequest", name=TOPIC)]
    yield _row(
        "describe_topic_partitions", 0, (topic(Op.DESCRIBE),), TOPIC_NO,
        topics=asked, response_partition_limit=10,
    )  # fmt: skip


def _group_rows() -> Iterator[Row]:
    part = _message("offset_commit", "OffsetCommitRequestPartition", partition_index=0)
    part.committed_metadata = ""
    asked = [_message("offset_commit", "OffsetCommitRequestTopic", name=TOPIC, partitions=[part])]
    for others, refusal in ((None, GROUP_NO), ((group(Op.READ),), TOPIC_NO)):
        yield _row(
            "offset_commit", 8, (group(Op.READ), topic(Op.READ)), refusal, others,
            group_id=GROUP, generation_id_or_member_epoch=-1, topics=asked,
        )  # fmt: skip
    old = [_message("offset_fetch", "OffsetFetchRequestTopic", name=TOPIC, partition_indexes=[0])]
    new = [_message("offset_fetch", "OffsetFetchRequestTopics", name=TOPIC, partition_indexes=[0])]
    needs = (group(Op.DESCRIBE), topic(Op.DESCRIBE))
    for others, refusal in ((None, GROUP_NO), ((group(Op.DESCRIBE),), TOPIC_NO)):
        yield _row("offset_fetch", 7, needs, refusal, others, group_id=GROUP, topics=old)
        each = _message("offset_fetch", "OffsetFetchRequestGroup", group_id=GROUP, topics=new)
        yield _row("offset_fetch", 8, needs, refusal, others, groups=[each])
    yield _row("find_coordinator", 4, (group(Op.DESCRIBE),), GROUP_NO, coordinator_keys=[GROUP])
    yield _row(
        "find_coordinator", 3, (transaction(Op.DESCRIBE),), ID_NO, key=TRANSACTION, key_type=1
    )
    offer = _message("join_group", "JoinGroupRequestProtocol", name="range", metadata=b"")
    yield _row(
        "join_group", 5, (group(Op.READ),), GROUP_NO, group_id=GROUP, session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000, protocol_type="consumer", protocols=[offer],
    )  # fmt: skip
    for api in ("heartbeat", "sync_group"):
        yield _row(
            api, 3, (group(Op.READ),), GROUP_NO, group_id=GROUP, generation_id=1, member_id="m"
        )
    member = _message("leave_group", "MemberIdentity", member_id="m")
    yield _row("leave_group", 4, (group(Op.READ),), GROUP_NO, group_id=GROUP, members=[member])
    yield _row("describe_groups", 5, (group(Op.DESCRIBE),), GROUP_NO, groups=[GROUP])
    needs = (group(Op.READ), topic(Op.DESCRIBE))
    for others, refusal in ((None, GROUP_NO), ((group(Op.READ),), TOPIC_NO)):
        yield _row(
            "consumer_group_heartbeat", 1, needs, refusal, others, group_id=GROUP, member_id="m",
            member_epoch=5, subscribed_topic_names=[TOPIC],
        )  # fmt: skip
    yield _row("consumer_group_describe", 1, (group(Op.DESCRIBE),), GROUP_NO, group_ids=[GROUP])
    yield _row("list_groups", 4, (group(Op.DESCRIBE),), None)
    yield _row("delete_groups", 2, (group(Op.DELETE),), GROUP_NO, groups_names=[GROUP])
    yield _row("offset_delete", 0, (group(Op.DELETE),), GROUP_NO, group_id=GROUP)


def _transaction_rows() -> Iterator[Row]:
    yield _row(
        "init_producer_id", 3, (topic(Op.WRITE),), CLUSTER_NO, (topic(Op.READ),),
        transactional_id=None, transaction_timeout_ms=60_000,
        producer_id=-1, producer_epoch=-1,
    )  # fmt: skip
    yield _row(
        "init_producer_id", 3, (on_cluster(Op.IDEMPOTENT_WRITE),), CLUSTER_NO,
        (on_cluster(Op.DESCRIBE),), transactional_id=None, transaction_timeout_ms=60_000,
        producer_id=-1, producer_epoch=-1,
    )  # fmt: skip
    yield _row(
        "init_producer_id", 3, (transaction(Op.WRITE),), ID_NO, (transaction(Op.DESCRIBE),),
        transactional_id=TRANSACTION, transaction_timeout_ms=60_000,
        producer_id=-1, producer_epoch=-1,
    )  # fmt: skip
    api = "add_partitions_to_txn"
    asked = [_message(api, "AddPartitionsToTxnTopic", name=TOPIC, partitions=[0])]
    needs = (transaction(Op.WRITE), topic(Op.WRITE))
    for others, refusal in ((None, ID_NO), ((transaction(Op.WRITE),), TOPIC_NO)):
        yield _row(
            api, 3, needs, refusal, others, v3_and_below_transactional_id=TRANSACTION,
            v3_and_below_producer_id=99_999, v3_and_below_topics=asked,
        )  # fmt: skip
    one = _message(
        api, "AddPartitionsToTxnTransaction", transactional_id=TRANSACTION, producer_id=99_999,
        topics=asked,
    )  # fmt: skip
    yield _row(  # of a broker, which has asked its client
        api, 4, (on_cluster(Op.CLUSTER_ACTION),), CLUSTER_NO, needs, transactions=[one],
    )  # fmt: skip
    for others, refusal in ((None, ID_NO), ((transaction(Op.WRITE),), GROUP_NO)):
        yield _row(
            "add_offsets_to_txn", 3, (transaction(Op.WRITE), group(Op.READ)), refusal, others,
            transactional_id=TRANSACTION, producer_id=99_999, group_id=GROUP,
        )  # fmt: skip
    yield _row(
        "end_txn", 3, (transaction(Op.WRITE),), ID_NO,
        transactional_id=TRANSACTION, producer_id=99_999,
    )  # fmt: skip
    api = "txn_offset_commit"
    part = _message(api, "TxnOffsetCommitRequestPartition", partition_index=0)
    asked = [_message(api, "TxnOffsetCommitRequestTopic", name=TOPIC, partitions=[part])]
    all_three = (transaction(Op.WRITE), group(Op.READ), topic(Op.READ))
    for have, refusal in ((0, ID_NO), (1, GROUP_NO), (2, TOPIC_NO)):
        yield _row(
            api, 3, all_three, refusal, all_three[:have],
            transactional_id=TRANSACTION, group_id=GROUP,
            producer_id=99_999, topics=asked,
        )  # fmt: skip
    api = "write_txn_markers"
    asked = [_message(api, "WritableTxnMarkerTopic", name=TOPIC, partition_indexes=[0])]
    marker = _message(
        api, "WritableTxnMarker", producer_id=99_999, transaction_result=False, topics=asked
    )
    for operation in (Op.ALTER, Op.CLUSTER_ACTION):
        yield _row(
            api, 1, (on_cluster(operation),), CLUSTER_NO, (on_cluster(Op.DESCRIBE),),
            markers=[marker],
        )  # fmt: skip
    yield _row(
        "describe_transactions", 0, (transaction(Op.DESCRIBE),), ID_NO,
        transactional_ids=[TRANSACTION],
    )  # fmt: skip
    yield _row("list_transactions", 0, (transaction(Op.DESCRIBE),), None, duration_filter=-1)


def _cluster_rows() -> Iterator[Row]:
    alter, describe = (on_cluster(Op.ALTER),), (on_cluster(Op.DESCRIBE),)
    less = (on_cluster(Op.DESCRIBE_CONFIGS),)
    everything = {
        "resource_type_filter": 2, "resource_name_filter": MISSING, "pattern_type_filter": 3,
        "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
    }  # fmt: skip
    yield _row("describe_acls", 2, describe, CLUSTER_NO, less, **everything)
    yield _row(
        "delete_acls", 2, alter, CLUSTER_NO, describe,
        filters=[_message("delete_acls", "DeleteAclsFilter", **everything)],
    )  # fmt: skip
    created = _message(
        "create_acls", "AclCreation", resource_type=2, resource_name="x", resource_pattern_type=3,
        principal="User:nobody-at-all", host="*", operation=3, permission_type=3,
    )  # fmt: skip
    yield _row("create_acls", 2, alter, CLUSTER_NO, describe, creations=[created])
    for api, operation in (
        ("describe_configs", Op.DESCRIBE_CONFIGS),
        ("alter_configs", Op.ALTER_CONFIGS),
        ("incremental_alter_configs", Op.ALTER_CONFIGS),
    ):
        of = (
            "DescribeConfigsResource"
            if operation is Op.DESCRIBE_CONFIGS
            else "AlterConfigsResource"
        )
        more = {} if operation is Op.DESCRIBE_CONFIGS else {"validate_only": True}
        version = APIS[BY_NAME[api].key].max_version
        resource = _message(api, of, resource_type=2, resource_name=TOPIC)
        broker = _message(api, of, resource_type=4, resource_name="1")
        yield _row(api, version, (topic(operation),), TOPIC_NO, resources=[resource], **more)
        yield _row(
            api, version, (on_cluster(operation),), CLUSTER_NO, (topic(operation),),
            resources=[broker], **more,
        )  # fmt: skip
    yield _row("list_config_resources", 0, less, CLUSTER_NO, describe)
    yield _row("describe_log_dirs", 3, describe, CLUSTER_NO, less, topics=None)
    moved = _message("alter_replica_log_dirs", "AlterReplicaLogDirTopic", name=TOPIC)
    moved.partitions = [0]
    path = _message("alter_replica_log_dirs", "AlterReplicaLogDir", path="/none", topics=[moved])
    yield _row("alter_replica_log_dirs", 2, alter, CLUSTER_NO, describe, dirs=[path])
    asked = [_message("elect_leaders", "TopicPartitions", topic=TOPIC, partitions=[0])]
    yield _row(
        "elect_leaders", 2, alter, CLUSTER_NO, describe, topic_partitions=asked, timeout_ms=5_000
    )
    api = "alter_partition_reassignments"
    part = _message(api, "ReassignablePartition", partition_index=0, replicas=None)
    asked = [_message(api, "ReassignableTopic", name=TOPIC, partitions=[part])]
    yield _row(api, 0, alter, CLUSTER_NO, describe, topics=asked, timeout_ms=5_000)
    yield _row(
        "list_partition_reassignments", 0, describe, CLUSTER_NO, less, topics=None, timeout_ms=5_000
    )
    # Not about all users: Apache Kafka 4.1 never answers that to those who may not ask.
    asked = [_message("describe_user_scram_credentials", "UserName", name="gone")]
    yield _row("describe_user_scram_credentials", 0, describe, CLUSTER_NO, less, users=asked)
    gone = _message(
        "alter_user_scram_credentials", "ScramCredentialDeletion", name="gone", mechanism=1
    )
    yield _row("alter_user_scram_credentials", 0, alter, CLUSTER_NO, describe, deletions=[gone])
    yield _row("update_features", 1, alter, CLUSTER_NO, describe, validate_only=True)
    part = _message("describe_quorum", "PartitionData", partition_index=0)
    asked = [
        _message("describe_quorum", "TopicData", topic_name="__cluster_metadata", partitions=[part])
    ]
    yield _row("describe_quorum", 0, describe, CLUSTER_NO, less, topics=asked)
    yield _row("describe_cluster", 0, (), None)
    yield _row("describe_client_quotas", 1, less, CLUSTER_NO, describe)
    entity = _message("alter_client_quotas", "EntityData", entity_type="user", entity_name="gone")
    entry = _message("alter_client_quotas", "EntryData", entity=[entity])
    alters = (on_cluster(Op.ALTER_CONFIGS),)
    yield _row(
        "alter_client_quotas", 1, alters, CLUSTER_NO, alter, entries=[entry], validate_only=True
    )


def codes(message: Any) -> set[int]:
    """All error codes anywhere in a response. One about the settings of a created topic is none:
    the topic was created."""
    found: set[int] = set()
    for field in dataclasses.fields(message):
        value = getattr(message, field.name)
        if field.name == "topic_config_error_code":
            continue
        if field.name.endswith("error_code"):
            found.add(value)
        elif dataclasses.is_dataclass(value):
            found |= codes(value)
        elif isinstance(value, list):
            for item in value:
                if dataclasses.is_dataclass(item):
                    found |= codes(item)
    return found


class Caller:
    """One connection, logged in by PLAIN, or not at all."""

    def __init__(self, port: int, user: str | None = None, password: str = "") -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), 30)
        if user is not None:
            handshake = _message("sasl_handshake", "SaslHandshakeRequest", mechanism="PLAIN")
            assert self.ask("sasl_handshake", 1, handshake).error_code == 0
            token = b"\0".join((b"", user.encode(), password.encode()))
            login = _message("sasl_authenticate", "SaslAuthenticateRequest", auth_bytes=token)
            assert self.ask("sasl_authenticate", 1, login).error_code == 0

    def ask(self, api: str, version: int, request: Any) -> Any:
        self.connection.sendall(sized(request_frame(BY_NAME[api], version, request)))
        (size,) = struct.unpack(">i", self._exactly(4))
        return decode_response(BY_NAME[api], version, self._exactly(size))

    def grant(
        self, principal: str, *needed: Needed, permission: Permission = Permission.ALLOW
    ) -> None:
        creations = [
            _message(
                "create_acls", "AclCreation", resource_type=kind, resource_name=name,
                resource_pattern_type=PatternType.LITERAL, principal=principal, host="*",
                operation=operation, permission_type=permission,
            )
            for kind, name, operation in needed
        ]  # fmt: skip
        request = _message("create_acls", "CreateAclsRequest", creations=creations)
        assert codes(self.ask("create_acls", 2, request)) <= {0}

    def revoke(self, principal: str) -> None:
        """Removes all that a principal has."""
        wanted = _message(
            "delete_acls", "DeleteAclsFilter", resource_type_filter=1, resource_name_filter=None,
            pattern_type_filter=1, principal_filter=principal, host_filter=None, operation=1,
            permission_type=1,
        )  # fmt: skip
        request = _message("delete_acls", "DeleteAclsRequest", filters=[wanted])
        assert codes(self.ask("delete_acls", 2, request)) <= {0}

    def close(self) -> None:
        self.connection.close()

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self.connection.recv(size - len(parts))
            if not part:
                raise EOFError(f"closed after {len(parts)} of {size} bytes")
            parts += part
        return bytes(parts)
