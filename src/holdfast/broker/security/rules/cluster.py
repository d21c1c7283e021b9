"""Rules of the APIs about the cluster, its settings, users and access control lists."""

from collections.abc import Callable
from typing import Any

from holdfast.broker.security.acls import CLUSTER_NAME, Operation, ResourceType
from holdfast.broker.security.guard import Check, Denied, Finish, Rule
from holdfast.broker.security.rules.items import CLUSTER_FAILED, FAILED, each, may_cluster
from holdfast.broker.security.rules.topics import cluster_operations
from holdfast.wire.protocol.generated import (
    alter_client_quotas_response,
    alter_configs_response,
    alter_partition_reassignments_response,
    alter_replica_log_dirs_response,
    alter_user_scram_credentials_response,
    create_acls_response,
    delete_acls_response,
    elect_leaders_response,
    incremental_alter_configs_response,
)
from holdfast.wire.protocol.generated.describe_acls_response import DescribeAclsResponse
from holdfast.wire.protocol.generated.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
)
from holdfast.wire.protocol.generated.describe_cluster_response import DescribeClusterResponse
from holdfast.wire.protocol.generated.describe_configs_response import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from holdfast.wire.protocol.generated.describe_log_dirs_response import DescribeLogDirsResponse
from holdfast.wire.protocol.generated.describe_quorum_response import DescribeQuorumResponse
from holdfast.wire.protocol.generated.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
)
from holdfast.wire.protocol.generated.list_config_resources_response import (
    ListConfigResourcesResponse,
)
from holdfast.wire.protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from holdfast.wire.protocol.generated.update_features_response import UpdateFeaturesResponse

_TOPIC, _GROUP = 2, 32
"""Types of resources with settings. All others belong to the cluster."""


def _on_cluster(operation: Operation, refuse: Callable[[Any], Any]) -> Rule:
    """The rule of a request that needs one operation on the cluster."""

    def rule(check: Check) -> None:
        if not may_cluster(check, operation):
            raise Denied(refuse(check.request))

    return rule


def _reassignments(request: Any) -> Any:
    module = alter_partition_reassignments_response
    return module.AlterPartitionReassignmentsResponse(
        error_code=CLUSTER_FAILED,
        error_message=None,
        responses=[
            module.ReassignableTopicResponse(
                topic.name,
                [
                    module.ReassignablePartitionResponse(p.partition_index, CLUSTER_FAILED, None)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _log_dirs(request: Any) -> Any:
    module = alter_replica_log_dirs_response
    return module.AlterReplicaLogDirsResponse(
        results=[
            module.AlterReplicaLogDirTopicResult(
                topic.name,
                [
                    module.AlterReplicaLogDirPartitionResult(index, CLUSTER_FAILED)
                    for index in topic.partitions
                ],
            )
            for each_dir in request.dirs
            for topic in each_dir.topics
        ]
    )


def _elections(request: Any) -> Any:
    module = elect_leaders_response
    return module.ElectLeadersResponse(
        error_code=CLUSTER_FAILED,
        replica_election_results=[
            module.ReplicaElectionResult(
                topic.topic,
                [module.PartitionResult(index, CLUSTER_FAILED, None) for index in topic.partitions],
            )
            for topic in request.topic_partitions or ()
        ],
    )


def _credentials(request: Any) -> Any:
    module = alter_user_scram_credentials_response
    names = dict.fromkeys(each.name for each in (*request.deletions, *request.upsertions))
    return module.AlterUserScramCredentialsResponse(
        results=[
            module.AlterUserScramCredentialsResult(name, CLUSTER_FAILED, None) for name in names
        ]
    )


def _creations(request: Any) -> Any:
    module = create_acls_response
    return module.CreateAclsResponse(
        results=[module.AclCreationResult(CLUSTER_FAILED, None) for _ in request.creations]
    )


def _deletions(request: Any) -> Any:
    module = delete_acls_response
    return module.DeleteAclsResponse(
        filter_results=[
            module.DeleteAclsFilterResult(CLUSTER_FAILED, None) for _ in request.filters
        ]
    )


def _quotas(request: Any) -> Any:
    module = alter_client_quotas_response
    return module.AlterClientQuotasResponse(
        entries=[
            module.EntryData(
                CLUSTER_FAILED,
                None,
                [module.EntityData(e.entity_type, e.entity_name) for e in entry.entity],
            )
            for entry in request.entries
        ]
    )


alter_client_quotas = _on_cluster(Operation.ALTER_CONFIGS, _quotas)
describe_client_quotas = _on_cluster(
    Operation.DESCRIBE_CONFIGS,
    lambda _: DescribeClientQuotasResponse(
        error_code=CLUSTER_FAILED, error_message=None, entries=None
    ),
)
alter_partition_reassignments = _on_cluster(Operation.ALTER, _reassignments)
alter_replica_log_dirs = _on_cluster(Operation.ALTER, _log_dirs)
alter_user_scram_credentials = _on_cluster(Operation.ALTER, _credentials)
create_acls = _on_cluster(Operation.ALTER, _creations)
delete_acls = _on_cluster(Operation.ALTER, _deletions)
elect_leaders = _on_cluster(Operation.ALTER, _elections)
update_features = _on_cluster(
    Operation.ALTER, lambda _: UpdateFeaturesResponse(error_code=CLUSTER_FAILED)
)
describe_acls = _on_cluster(
    Operation.DESCRIBE, lambda _: DescribeAclsResponse(error_code=CLUSTER_FAILED)
)
describe_log_dirs = _on_cluster(
    Operation.DESCRIBE, lambda _: DescribeLogDirsResponse(error_code=CLUSTER_FAILED)
)
describe_quorum = _on_cluster(
    Operation.DESCRIBE, lambda _: DescribeQuorumResponse(error_code=CLUSTER_FAILED)
)
describe_user_scram_credentials = _on_cluster(
    Operation.DESCRIBE, lambda _: DescribeUserScramCredentialsResponse(error_code=CLUSTER_FAILED)
)
list_partition_reassignments = _on_cluster(
    Operation.DESCRIBE, lambda _: ListPartitionReassignmentsResponse(error_code=CLUSTER_FAILED)
)
list_config_resources = _on_cluster(
    Operation.DESCRIBE_CONFIGS, lambda _: ListConfigResourcesResponse(error_code=CLUSTER_FAILED)
)


def describe_cluster(check: Check) -> Finish | None:
    if not check.request.include_cluster_authorized_operations:
        return None

    def finish(response: DescribeClusterResponse) -> None:
        response.cluster_authorized_operations = cluster_operations(check)

    return finish


def _configured(resource: Any) -> tuple[ResourceType, str]:
    """The resource whose settings these are."""
    if resource.resource_type == _TOPIC:
        return ResourceType.TOPIC, resource.resource_name
    if resource.resource_type == _GROUP:
        return ResourceType.GROUP, resource.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME


def describe_configs(check: Check) -> Finish | None:
    return each(
        check,
        "resources",
        lambda resource: check.access.to(Operation.DESCRIBE_CONFIGS, *_configured(resource)),
        DescribeConfigsResponse,
        "results",
        lambda resource: DescribeConfigsResult(
            FAILED[_configured(resource)[0]],
            None,
            resource.resource_type,
            resource.resource_name,
        ),
    )


def _alters(response: Callable[..., Any], answer: Callable[..., Any]) -> Rule:
    def rule(check: Check) -> Finish | None:
        return each(
            check,
            "resources",
            lambda resource: check.access.to(Operation.ALTER_CONFIGS, *_configured(resource)),
            response,
            "responses",
            lambda resource: answer(
                FAILED[_configured(resource)[0]],
                None,
                resource.resource_type,
                resource.resource_name,
            ),
        )

    return rule


alter_configs = _alters(
    alter_configs_response.AlterConfigsResponse,
    alter_configs_response.AlterConfigsResourceResponse,
)
incremental_alter_configs = _alters(
    incremental_alter_configs_response.IncrementalAlterConfigsResponse,
    incremental_alter_configs_response.AlterConfigsResourceResponse,
)
