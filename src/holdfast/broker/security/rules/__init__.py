"""What each API demands of its client, as in Apache Kafka.

| module | content |
|---|---|
| `cluster` | APIs about the cluster, its settings, users and lists |
| `groups` | APIs of consumer groups |
| `items` | rules for the parts of a request |
| `records` | APIs that write and read records |
| `table` | the rule of each API |
| `topics` | APIs about topics |
| `transactions` | APIs of transactions |
"""
