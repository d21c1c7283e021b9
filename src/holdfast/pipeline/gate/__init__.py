"""The gate of a flow as it runs: batches of events and upkeep, under one lock.

`holdfast.gate` decides; the modules here read, write and commit, in Kafka transactions.

| module | content |
|---|---|
| `part` | the gate of one flow, as a part of the pipeline |
| `intake` | ranges of new events are planned, and each is taken exactly once |
| `batch_size` | how many events a batch takes, and how far apart batches are |
| `driver_path` | small batches: all partitions in one transaction of the driver |
| `task_path` | large batches, on the driver: plan the job, run it, apply its outcomes |
| `tasks` | large batches, in Spark's workers |
| `replicas` | replicas of the driver's state in workers |
| `keeper` | steps between batches: commands, expiries, drains, trims |
| `held_rows` | reading the rows that leave held |
| `flow_gate` | one flow's gate: runs steps one at a time, under the lock |
| `exclusive` | what needs a flow's lock: states, control log, owner, the driver's producer |
| `lock` | a lock that threads get in the order of their requests |
| `owner` | this process's place in the flow's group |
| `topic_guard` | checks that the topics are still those that the gate started with |
| `control_log` | reading the control log |
| `steps` | one step: decide, write, commit |
| `events` | events of one partition as columns |
| `sizes` | size limits of topics, and sizes of records |
| `writer` | writes steps with librdkafka |
| `column_writer` | writes steps as whole record batches |
"""
