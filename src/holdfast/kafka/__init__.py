"""A Kafka client that moves whole record batches to and from Arrow, without objects per record.

librdkafka makes a Python object of every message. The gate and the runs move rows by the hundred
thousand, so this client speaks the wire protocol itself. Every request has a deadline.

| module | content |
|---|---|
| `cluster` | the leaders of partitions, the coordinators, and connections to them |
| `connection` | one connection to a broker: requests and their replies |
| `security` | encryption and login by librdkafka's settings |
| `retries` | attempts with growing pauses, within a request's time |
| `transactions` | transactions with librdkafka, each call under a deadline |
| `record_size` | how large a record is on the wire |
| `errors` | the meaning of Kafka's error codes to a transactional writer |
| `fetch` | ranges of a partition, read from its leader |
| `watch` | the ends of many logs, by one waiting request per broker |
| `unpacking` | record batches to columns |
| `producer` | transactions of one transactional id, in whole record batches |
| `packing` | columns to record batches |
| `partitioning` | murmur2 partitions of a column of keys |
| `group_member` | the member of a group that commits offsets |
| `topic_ids` | ids, partitions and leader epochs of topics |
| `columns` | binary columns of Arrow, built from and split into buffers |
| `varints` | zigzag varints, a column at a time |
"""
