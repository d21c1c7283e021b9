"""An embedded single-node broker that speaks the Kafka wire protocol.

| module | content |
|---|---|
| `allocation` | the C library's use of freed memory |
| `broker` | the broker itself |
| `collection` | short runs of the garbage collector |
| `configs` | settings of topics and of the broker in the admin APIs |
| `connection` | one client's connection |
| `context` | the context of a request, and replies that come later |
| `descriptors` | limits of open files for logs and connections |
| `dispatch` | from a frame to its reply |
| `durable_file` | contents in one small file that is replaced as a whole |
| `dynamic_file` | settings that clients change while the broker runs |
| `flusher` | group commit |
| `housekeeping` | regular work: retention, compaction, expiry |
| `http` | `/metrics` for Prometheus and `/healthz`, on a port of their own |
| `listener` | the listening sockets, their connections, and the shared memory of these |
| `metadata` | the list of topics, and ids |
| `metrics` | counters of the broker |
| `partition` | a partition in service |
| `patience` | timers that do not count stalls of the event loop |
| `quotas` | quotas of clients, and their rates |
| `request_memory` | shared memory of large requests while they arrive |
| `server` | the broker as a process |
| `settings` | the settings of a broker |
| `state_log` | the log of the coordinators' state |
| `throttling` | charges requests to quotas |
| `tls_connection` | one client's connection over TLS |
| `topic_config` | topic settings |
| `topic_defaults` | broker-wide defaults for topics |
| `topic_metrics` | figures of topics and groups for `/metrics` |
| `topic_rules` | rules for topics, with Kafka's errors |
| `topics` | the topics |
| `work` | long work, done in slices |
| `api/` | the APIs of the protocol, one per file |
| `groups/` | consumer groups |
| `log/` | the log of a partition |
| `security/` | endpoints, TLS, login and access control |
| `transactions/` | transactions |
"""
