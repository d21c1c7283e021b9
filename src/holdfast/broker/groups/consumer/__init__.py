"""Groups of Kafka 4 (KIP-848): the broker assigns, and members follow by heartbeats.

| module | content |
|---|---|
| `assignment` | sets of partitions, by topic id |
| `assignors` | who gets which partition: `uniform` and `range` |
| `classic_members` | members that still use the classic protocol |
| `conversion` | a live group from one protocol to the other |
| `group` | one group: its members, epochs and target assignment |
| `loading` | collects the records of a group at start |
| `member` | one member |
| `patterns` | regular expressions of topic names, in linear time |
| `reconciliation` | how a member moves from its partitions to its target |
| `records` | Kafka's layouts of the records in `__consumer_offsets` |
| `requests` | heartbeats, their checks and replies |
| `storing` | appends the changes of a group to the log |
| `subscriptions` | topics that the members of a group subscribe to |
"""
