"""The SDK: connect, produce, consume, groups, admin, flows. On confluent-kafka.

| module | content |
|---|---|
| `async_consumer` | the consumer for asyncio |
| `async_producer` | the producer for asyncio |
| `buffer` | messages between librdkafka and the user |
| `client` | the client: the entry point |
| `cluster` | the cluster as a whole |
| `committed` | the positions that a flow's gate has committed to its group |
| `compacted_topic` | a compacted topic, read once or followed into memory |
| `connection` | addresses, settings and readers of librdkafka |
| `consumer` | reading records |
| `consumer_engine` | the engine of a consumer: fetches, hands out and commits |
| `dead_letters` | dead letters |
| `delivery` | the delivery of a record: pending, acknowledged or failed |
| `encoding` | values, keys, headers and times for librdkafka |
| `failure` | handling a failed record |
| `flow` | flows: create, hold, release, dead-letter |
| `flow_registry` | the registered flows |
| `flow_states` | the states of a flow's keys and scopes, from its status topic |
| `forks` | errors for clients used after a fork |
| `groups` | consumer groups: members, lag, resets |
| `held` | reading the held events of a key, in pages |
| `kafka_errors` | librdkafka's error codes as errors of `holdfast.errors` |
| `known_brokers` | addresses of brokers that this process has learned of |
| `leaving` | closing a member of a consumer group without librdkafka's hang |
| `loading` | the state of a partition, read from Kafka |
| `log_reader` | reading a range of one partition |
| `planned_topics` | topics that Holdfast itself needs |
| `positions` | positions in a topic, and looking them up |
| `producer` | sending records |
| `progress` | processed and committed offsets |
| `receipt` | acknowledged commands and their effects |
| `record` | a record that was read |
| `runs` | runs: request, follow, cancel; reports of quality |
| `settings` | the settings of a client |
| `source` | the source coordinate |
| `topics` | topics: create, describe, change, delete |
| `transaction` | transactions of a producer |
| `undelivered` | the end of a producer, and undelivered records |
| `users` | users that log in to the cluster by SCRAM |
"""
