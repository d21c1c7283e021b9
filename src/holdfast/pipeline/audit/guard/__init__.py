"""The audit of a guard: accounts for every event of its topic, from Kafka alone and without Spark.

A handler leaves no record in Kafka. So an event counts as handled if the guard has taken it and no
log has it waiting or dead. The rest is evidence: the journal says from which event on a key waited
and when its last waiting event had left, and `held` must have every event of the key in between.

| module | content |
|---|---|
| `logs` | reads the logs of one partition |
| `spans` | the ranges of source offsets in which the events of a key had to wait |
| `check` | the faults of one partition, without I/O |
| `verify` | the job: checks all partitions and returns the result |
"""
