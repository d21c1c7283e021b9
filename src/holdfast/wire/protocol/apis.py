"""The APIs that the broker serves, with their versions.

The codec generator reads this table and generates code for exactly these APIs.
"""

from typing import NamedTuple

NEVER_FLEXIBLE = 0x7FFF
"""`first_flexible` of an API without flexible versions."""


class Api(NamedTuple):
    """One request and its response, in the inclusive range of versions that the broker serves.

    From `first_flexible` on, messages have tagged fields and compact lengths, and so have their
    headers (request header 2 instead of 1, response header 1 instead of 0). Only the response to
    ApiVersions keeps the old header: a client reads it before it knows any version.
    """

    key: int
    name: str
    min_version: int
    max_version: int
    first_flexible: int


# Versions above these ranges belong to features that the broker does not announce: share groups,
# tiered storage, and topic ids in Produce.
APIS: dict[int, Api] = {
    api.key: api
    for api in (
        Api(0, "produce", 3, 12, 9),
        Api(1, "fetch", 4, 18, 12),
        Api(2, "list_offsets", 1, 10, 6),
        Api(3, "metadata", 0, 13, 9),
        Api(8, "offset_commit", 2, 10, 8),
        Api(9, "offset_fetch", 1, 10, 6),
        Api(10, "find_coordinator", 0, 6, 3),
        Api(11, "join_group", 0, 9, 6),
        Api(12, "heartbeat", 0, 4, 4),
        Api(13, "leave_group", 0, 5, 4),
        Api(14, "sync_group", 0, 5, 4),
        Api(15, "describe_groups", 0, 6, 5),
        Api(16, "list_groups", 0, 5, 3),
        Api(17, "sasl_handshake", 1, 1, NEVER_FLEXIBLE),
        Api(18, "api_versions", 0, 4, 3),
        Api(19, "create_topics", 2, 7, 5),
        Api(20, "delete_topics", 1, 6, 4),
        Api(21, "delete_records", 0, 2, 2),
        Api(22, "init_producer_id", 0, 5, 2),
        Api(23, "offset_for_leader_epoch", 2, 4, 4),
        Api(24, "add_partitions_to_txn", 0, 5, 3),
        Api(25, "add_offsets_to_txn", 0, 4, 3),
        Api(26, "end_txn", 0, 5, 3),
        Api(27, "write_txn_markers", 1, 1, 1),
        Api(28, "txn_offset_commit", 0, 5, 3),
        Api(29, "describe_acls", 1, 3, 2),
        Api(30, "create_acls", 1, 3, 2),
        Api(31, "delete_acls", 1, 3, 2),
        Api(32, "describe_configs", 1, 4, 4),
        Api(33, "alter_configs", 0, 2, 2),
        Api(34, "alter_replica_log_dirs", 1, 2, 2),
        Api(35, "describe_log_dirs", 1, 4, 2),
        Api(36, "sasl_authenticate", 0, 2, 2),
        Api(37, "create_partitions", 0, 3, 2),
        Api(42, "delete_groups", 0, 2, 2),
        Api(43, "elect_leaders", 0, 2, 2),
        Api(44, "incremental_alter_configs", 0, 1, 1),
        Api(45, "alter_partition_reassignments", 0, 1, 0),
        Api(46, "list_partition_reassignments", 0, 0, 0),
        Api(47, "offset_delete", 0, 0, NEVER_FLEXIBLE),
        Api(48, "describe_client_quotas", 0, 1, 1),
        Api(49, "alter_client_quotas", 0, 1, 1),
        Api(50, "describe_user_scram_credentials", 0, 0, 0),
        Api(51, "alter_user_scram_credentials", 0, 0, 0),
        Api(55, "describe_quorum", 0, 2, 0),
        Api(57, "update_features", 0, 2, 0),
        Api(60, "describe_cluster", 0, 2, 0),
        Api(61, "describe_producers", 0, 0, 0),
        Api(65, "describe_transactions", 0, 0, 0),
        Api(66, "list_transactions", 0, 1, 0),
        Api(68, "consumer_group_heartbeat", 0, 1, 0),
        Api(69, "consumer_group_describe", 0, 1, 0),
        Api(71, "get_telemetry_subscriptions", 0, 0, 0),
        Api(72, "push_telemetry", 0, 0, 0),
        Api(74, "list_config_resources", 0, 1, 0),
        Api(75, "describe_topic_partitions", 0, 0, 0),
    )
}
