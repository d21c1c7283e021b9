"""Groups of consumers: members, assignments and committed offsets.

| module | content |
|---|---|
| `budget` | limits of the group coordinator's memory |
| `commit_request` | the offsets of OffsetCommit and TxnOffsetCommit requests |
| `consumer/` | groups of Kafka 4, whose partitions the broker assigns |
| `consumer_protocol` | subscriptions and assignments of classic consumers, as bytes |
| `coordinator` | all groups of this broker, and their offsets |
| `expiry` | committed offsets that have outlived their retention |
| `group` | one classic group |
| `group_settings` | session and heartbeat times |
| `journal` | appends to the group coordinator's log |
| `loading` | reads the coordinator's state from its log |
| `membership` | the groups by id, and the requests of their members |
| `offsets` | committed offsets |
| `rebalance` | a group's state, sessions and assignments |
| `records` | Kafka's layouts of the records in `__consumer_offsets` |
| `requests` | requests of members and the replies |
| `roster` | the members of a group |
"""
