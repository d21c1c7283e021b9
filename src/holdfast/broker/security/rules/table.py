"""The rule of each API that the broker serves. A test compares it with the list of APIs."""

from holdfast.broker.security.guard import Check, Rule
from holdfast.broker.security.rules import cluster, groups, records, topics, transactions


def anyone(check: Check) -> None:
    """The request needs no permission: its answer tells nothing."""


RULES: dict[int, Rule] = {
    0: records.produce,
    1: records.fetch,
    2: records.list_offsets,
    3: topics.metadata,
    8: groups.offset_commit,
    9: groups.offset_fetch,
    10: groups.find_coordinator,
    11: groups.join_group,
    12: groups.heartbeat,
    13: groups.leave_group,
    14: groups.sync_group,
    15: groups.describe_groups,
    16: groups.list_groups,
    17: anyone,  # SaslHandshake
    18: anyone,  # ApiVersions
    19: topics.create_topics,
    20: topics.delete_topics,
    21: records.delete_records,
    22: transactions.init_producer_id,
    23: records.offset_for_leader_epoch,
    24: transactions.add_partitions_to_txn,
    25: transactions.add_offsets_to_txn,
    26: transactions.end_txn,
    27: transactions.write_txn_markers,
    28: transactions.txn_offset_commit,
    29: cluster.describe_acls,
    30: cluster.create_acls,
    31: cluster.delete_acls,
    32: cluster.describe_configs,
    33: cluster.alter_configs,
    34: cluster.alter_replica_log_dirs,
    35: cluster.describe_log_dirs,
    36: anyone,  # SaslAuthenticate
    37: topics.create_partitions,
    42: groups.delete_groups,
    43: cluster.elect_leaders,
    44: cluster.incremental_alter_configs,
    45: cluster.alter_partition_reassignments,
    46: cluster.list_partition_reassignments,
    47: groups.offset_delete,
    48: cluster.describe_client_quotas,
    49: cluster.alter_client_quotas,
    50: cluster.describe_user_scram_credentials,
    51: cluster.alter_user_scram_credentials,
    55: cluster.describe_quorum,
    57: cluster.update_features,
    60: cluster.describe_cluster,
    61: records.describe_producers,
    65: transactions.describe_transactions,
    66: transactions.list_transactions,
    68: groups.consumer_group_heartbeat,
    69: groups.consumer_group_describe,
    71: anyone,  # GetTelemetrySubscriptions
    72: anyone,  # PushTelemetry
    74: cluster.list_config_resources,
    75: topics.describe_topic_partitions,
}
