"""The APIs of the protocol, one per file: `handle(broker, request, context)` returns the response.

| module | content |
|---|---|
| `add_offsets_to_txn` | AddOffsetsToTxn |
| `add_partitions_to_txn` | AddPartitionsToTxn |
| `alter_client_quotas` | AlterClientQuotas |
| `alter_configs` | AlterConfigs |
| `alter_partition_reassignments` | AlterPartitionReassignments |
| `alter_replica_log_dirs` | AlterReplicaLogDirs |
| `alter_user_scram_credentials` | AlterUserScramCredentials |
| `api_versions` | ApiVersions |
| `consumer_group_describe` | ConsumerGroupDescribe |
| `consumer_group_heartbeat` | ConsumerGroupHeartbeat |
| `create_acls` | CreateAcls |
| `create_partitions` | CreatePartitions |
| `create_topics` | CreateTopics |
| `delete_acls` | DeleteAcls |
| `delete_groups` | DeleteGroups |
| `delete_records` | DeleteRecords |
| `delete_topics` | DeleteTopics |
| `describe_acls` | DescribeAcls |
| `describe_client_quotas` | DescribeClientQuotas |
| `describe_cluster` | DescribeCluster |
| `describe_configs` | DescribeConfigs |
| `describe_groups` | DescribeGroups |
| `describe_log_dirs` | DescribeLogDirs |
| `describe_producers` | DescribeProducers |
| `describe_quorum` | DescribeQuorum |
| `describe_topic_partitions` | DescribeTopicPartitions |
| `describe_transactions` | DescribeTransactions |
| `describe_user_scram_credentials` | DescribeUserScramCredentials |
| `elect_leaders` | ElectLeaders |
| `end_txn` | EndTxn |
| `fetch` | Fetch |
| `find_coordinator` | FindCoordinator |
| `get_telemetry_subscriptions` | GetTelemetrySubscriptions |
| `heartbeat` | Heartbeat |
| `incremental_alter_configs` | IncrementalAlterConfigs |
| `init_producer_id` | InitProducerId |
| `join_group` | JoinGroup |
| `leave_group` | LeaveGroup |
| `list_config_resources` | ListConfigResources |
| `list_groups` | ListGroups |
| `list_offsets` | ListOffsets |
| `list_partition_reassignments` | ListPartitionReassignments |
| `list_transactions` | ListTransactions |
| `metadata` | Metadata |
| `offset_commit` | OffsetCommit |
| `offset_delete` | OffsetDelete |
| `offset_fetch` | OffsetFetch |
| `offset_for_leader_epoch` | OffsetForLeaderEpoch |
| `once` | finds repeated names in a request |
| `produce` | Produce |
| `push_telemetry` | PushTelemetry |
| `sasl_authenticate` | SaslAuthenticate |
| `sasl_handshake` | SaslHandshake |
| `sync_group` | SyncGroup |
| `topic_ids` | names of topics in requests that have their ids instead |
| `txn_offset_commit` | TxnOffsetCommit |
| `update_features` | UpdateFeatures |
| `write_txn_markers` | WriteTxnMarkers |
"""
