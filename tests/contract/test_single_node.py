"""Admin requests about clusters, of which a single node has an answer but nothing to do."""

from typing import Any

import pytest
from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDirsRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
    ListPartitionReassignmentsRequest,
    UpdateFeaturesRequest,
)
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from tests.brokers import BrokerProcess
from tests.clients import create_topic, wait_until
from tests.wire import Wire, batch, batches, fetch, find_coordinator, load_group, produce

UNKNOWN_TOPIC_OR_PARTITION = 3
UNSUPPORTED_VERSION = 35
INVALID_REPLICA_ASSIGNMENT = 39
INVALID_REQUEST = 42
LOG_DIR_NOT_FOUND = 57
GROUP_ID_NOT_FOUND = 69
ELECTION_NOT_NEEDED = 84
NO_REASSIGNMENT_IN_PROGRESS = 85
INVALID_UPDATE_VERSION = 95
MISMATCHED_ENDPOINT_TYPE = 114

LATEST, EARLIEST, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -4, -5
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
MISSING = "there-is-no-such-topic"


def test_partitions_need_no_election(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    named = ElectLeadersRequest.TopicPartitions

    def elect(wire: Wire, version: int, kind: int, wanted: list[Any] | None) -> Any:
        reply = wire.ask(
            ElectLeadersRequest(
                version=version, election_type=kind, topic_partitions=wanted, timeout_ms=5_000
            )
        )
        codes = {
            (result.topic, partition.partition_id): partition.error_code
            for result in reply.replica_election_results
            for partition in result.partition_result
        }
        return getattr(reply, "error_code", 0), codes

    with Wire(kafka) as wire:
        for version in (0, 1, 2):
            wanted = [
                named(version=version, topic=topic, partitions=[0, 9]),
                named(version=version, topic=MISSING, partitions=[0]),
            ]
            expected = {
                (topic, 0): ELECTION_NOT_NEEDED,
                (topic, 9): UNKNOWN_TOPIC_OR_PARTITION,
                (MISSING, 0): UNKNOWN_TOPIC_OR_PARTITION,
            }
            assert elect(wire, version, 0, wanted) == (0, expected)
            if version > 0:
                assert elect(wire, version, 1, wanted) == (0, expected)
                unknown = dict.fromkeys(expected, INVALID_REQUEST)
                assert elect(wire, version, 2, wanted) == (INVALID_REQUEST, unknown)
        assert elect(wire, 2, 0, None) == (0, {})


def test_partitions_stay_on_the_only_broker(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    named = AlterPartitionReassignmentsRequest.ReassignableTopic

    def reassign(wire: Wire, node: int, replicas: list[int] | None) -> list[int]:
        partition = named.ReassignablePartition
        wanted = [(topic, 0), (topic, 9), (MISSING, 0)]
        reply = wire.ask(
            AlterPartitionReassignmentsRequest(
                version=1, timeout_ms=5_000, allow_replication_factor_change=True,
                topics=[
                    named(version=1, name=name, partitions=[
                        partition(version=1, partition_index=index, replicas=replicas)
                    ])
                    for name, index in wanted
                ],
            )
        )  # fmt: skip
        assert reply.error_code == 0
        return [each.error_code for result in reply.responses for each in result.partitions]

    with Wire(kafka) as wire:
        node = describe_cluster(wire, 1).controller_id
        missing = [UNKNOWN_TOPIC_OR_PARTITION] * 2
        assert reassign(wire, node, [node]) == [0, *missing]
        assert reassign(wire, node, None) == [NO_REASSIGNMENT_IN_PROGRESS, *missing]
        for refused in ([], [node + 1], [node, node], [node, node + 1]):
            assert reassign(wire, node, refused) == [INVALID_REPLICA_ASSIGNMENT, *missing]
        listed = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
        for topics in (None, [listed(version=0, name=topic, partition_indexes=[0, 9])]):
            reply = wire.ask(
                ListPartitionReassignmentsRequest(version=0, timeout_ms=5_000, topics=topics)
            )
            assert (reply.error_code, list(reply.topics)) == (0, [])


@pytest.mark.parametrize("version", [1, 2])
def test_replicas_stay_in_the_only_directory(
    kafka: BrokerProcess, topic: str, version: int
) -> None:
    create_topic(kafka, topic)
    directory = AlterReplicaLogDirsRequest.AlterReplicaLogDir
    named = directory.AlterReplicaLogDirTopic

    def move(wire: Wire, path: str) -> dict[tuple[str, int], int]:
        reply = wire.ask(
            AlterReplicaLogDirsRequest(
                version=version,
                dirs=[
                    directory(version=version, path=path, topics=[
                        named(version=version, name=topic, partitions=[0, 9]),
                        named(version=version, name=MISSING, partitions=[0]),
                    ])
                ],
            )
        )  # fmt: skip
        return {
            (result.topic_name, partition.partition_index): partition.error_code
            for result in reply.results
            for partition in result.partitions
        }

    places = [(topic, 0), (topic, 9), (MISSING, 0)]
    with Wire(kafka) as wire:
        (here,) = wire.ask(DescribeLogDirsRequest(version=1, topics=None)).results
        codes = [0, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_OR_PARTITION]
        assert move(wire, here.log_dir) == dict(zip(places, codes, strict=True))
        assert move(wire, "/there/is/no/such/directory") == dict.fromkeys(places, LOG_DIR_NOT_FOUND)


def test_broker_is_its_own_quorum(kafka: BrokerProcess, topic: str) -> None:
    named = DescribeQuorumRequest.TopicData

    def describe(wire: Wire, version: int, name: str, index: int) -> Any:
        partition = named.PartitionData(version=version, partition_index=index)
        reply = wire.ask(
            DescribeQuorumRequest(
                version=version,
                topics=[named(version=version, topic_name=name, partitions=[partition])],
            )
        )
        assert reply.error_code == 0
        return reply

    with Wire(kafka) as wire:
        node = describe_cluster(wire, 1).controller_id
        for version in (0, 1, 2):
            reply = describe(wire, version, "__cluster_metadata", 0)
            (quorum,) = reply.topics[0].partitions
            assert (quorum.error_code, quorum.leader_id) == (0, node)
            assert [voter.replica_id for voter in quorum.current_voters] == [node]
            assert list(quorum.observers) == []
            if version > 1:
                assert [each.node_id for each in reply.nodes] == [node]
            for name, index in ((topic, 0), ("__cluster_metadata", 1)):
                (other,) = describe(wire, version, name, index).topics[0].partitions
                assert other.error_code == UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", [0, 1, 2])
def test_feature_keeps_its_level(kafka: BrokerProcess, version: int) -> None:
    named = UpdateFeaturesRequest.FeatureUpdateKey

    def update(wire: Wire, feature: str, level: int, kind: int = 1) -> int:
        reply = wire.ask(
            UpdateFeaturesRequest(
                version=version, timeout_ms=5_000, validate_only=True,
                feature_updates=[named(
                    version=version, feature=feature, max_version_level=level,
                    allow_downgrade=False, upgrade_type=kind,
                )],
            )
        )  # fmt: skip
        return int(reply.error_code)

    with Wire(kafka) as wire:
        assert update(wire, "transaction.version", 2) == 0
        for feature, level in (("transaction.version", 99), ("transaction.version", 1), ("x", 1)):
            assert update(wire, feature, level) == INVALID_UPDATE_VERSION
        if version > 0:
            assert update(wire, "transaction.version", 2, kind=9) == INVALID_UPDATE_VERSION


def test_resources_with_settings_are_listed(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)

    def listed(wire: Wire, types: list[int]) -> tuple[int, set[tuple[int, str]]]:
        reply = wire.ask(ListConfigResourcesRequest(version=1, resource_types=types))
        found = {(each.resource_type, each.resource_name) for each in reply.config_resources}
        return reply.error_code, found

    with Wire(kafka) as wire:
        node = (BROKER, str(describe_cluster(wire, 1).controller_id))
        code, everything = listed(wire, [])
        assert code == 0
        assert {(TOPIC, topic), node} <= everything
        code, topics = listed(wire, [TOPIC])
        assert (TOPIC, topic) in topics
        assert {kind for kind, _ in topics} == {TOPIC}
        assert listed(wire, [BROKER]) == (0, {node})
        code, others = listed(wire, [CLIENT_METRICS, GROUP])
        assert code == 0
        # Groups of other tests on this broker may have settings.
        assert {kind for kind, _ in others} <= {GROUP}
        assert (GROUP, topic) not in others
        assert listed(wire, [TOPIC, 99]) == (UNSUPPORTED_VERSION, set())
        metrics = wire.ask(ListConfigResourcesRequest(version=0))
        assert (metrics.error_code, list(metrics.config_resources)) == (0, [])


def test_offsets_of_tiered_storage_are_those_of_a_log_without(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    named = ListOffsetsRequest.ListOffsetsTopic

    def offset(wire: Wire, version: int, at: int) -> tuple[int, int, int, int]:
        partition = named.ListOffsetsPartition(
            version=version, partition_index=0, current_leader_epoch=-1, timestamp=at
        )
        reply = wire.ask(
            ListOffsetsRequest(
                version=version, replica_id=-1, isolation_level=0, timeout_ms=1_000,
                topics=[named(version=version, name=topic, partitions=[partition])],
            )
        )  # fmt: skip
        (found,) = reply.topics[0].partitions
        return found.error_code, found.offset, found.timestamp, found.leader_epoch

    refused = (UNSUPPORTED_VERSION, -1, -1, -1)
    with Wire(kafka) as wire:
        assert produce(wire, topic, batch([b"a", b"b"])).error_code == 0
        for version in (7, 8, 9, 10):
            assert offset(wire, version, LATEST) == (0, 2, -1, 0)
            assert offset(wire, version, EARLIEST) == (0, 0, -1, 0)
            local = offset(wire, version, EARLIEST_LOCAL)
            assert local == ((0, 0, -1, 0) if version >= 8 else refused)
            tiered = offset(wire, version, LATEST_TIERED)
            assert tiered == ((0, -1, -1, -1) if version >= 9 else refused)
            assert offset(wire, version, -6) == refused


def test_new_versions_of_requests_are_answered(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        load_group(wire, group)
        find_coordinator(wire, group, 1)
        for version in (1, 2):
            cluster = describe_cluster(wire, version)
            assert (cluster.error_code, len(cluster.brokers)) == (0, 1)
            assert not getattr(cluster.brokers[0], "is_fenced", False)
            assert describe_cluster(wire, version, 2).error_code == MISMATCHED_ENDPOINT_TYPE
        for kind, error in ((0, 0), (1, 0), (9, INVALID_REQUEST)):
            asked = FindCoordinatorRequest(version=6, key_type=kind, coordinator_keys=[group])
            (found,) = wire.ask(asked).coordinators
            assert (found.key, found.error_code) == (group, error)
        for version, error in ((5, 0), (6, GROUP_ID_NOT_FOUND)):
            unknown = DescribeGroupsRequest(
                version=version, groups=[MISSING], include_authorized_operations=False
            )
            (described,) = wire.ask(unknown).groups
            assert (described.error_code, described.group_state) == (error, "Dead")
        assert produce(wire, topic, batch([b"v"])).error_code == 0
        assert len(batches(fetch(wire, topic, 0, version=12).records)) == 1


def describe_cluster(wire: Wire, version: int, endpoint: int = 1) -> Any:
    return wire.ask(
        DescribeClusterRequest(
            version=version, include_cluster_authorized_operations=False, endpoint_type=endpoint,
            include_fenced_brokers=True,
        )
    )  # fmt: skip


def test_default_of_the_broker_reaches_its_topics(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)

    def change(wire: Wire, value: str | None) -> int:
        named = IncrementalAlterConfigsRequest.AlterConfigsResource
        setting = named.AlterableConfig(
            version=1, name="message.max.bytes", config_operation=0 if value else 1, value=value
        )
        resource = named(version=1, resource_type=BROKER, resource_name="", configs=[setting])
        request = IncrementalAlterConfigsRequest(
            version=1, resources=[resource], validate_only=False
        )
        return int(wire.ask(request).responses[0].error_code)

    def sent(wire: Wire) -> int:
        return int(produce(wire, topic, batch([b"v" * 50_000])).error_code)

    message_too_large = 10
    with Wire(kafka) as wire:
        assert sent(wire) == 0
        assert change(wire, "no number") == INVALID_REQUEST
        assert change(wire, "40000") == 0
        wait_until(lambda: sent(wire) == message_too_large or None, "the limit")
        assert change(wire, None) == 0
        wait_until(lambda: sent(wire) == 0 or None, "the end of the limit")
