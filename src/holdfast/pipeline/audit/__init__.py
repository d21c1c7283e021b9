"""The audit: accounts for every source coordinate, from the records in Kafka and the raw zone.

The gate writes each event to an output and, in the journal, the source offset from which each
decision acts. So the audit can compute again where every event must be, from events, control and
journal and without the gate's own code, and compare that with where the event is.

| module | content |
|---|---|
| `guard/` | the audit of a guard, which needs no Spark |
| `verify` | the job: runs all checks and returns the result |
| `bounds` | the range of each log that is read, so that a running flow can be verified |
| `reading` | reads the logs, without batches that cannot be read |
| `logs` | the records of all logs and of the raw zone as rows of one form |
| `coordinates` | all records of each source coordinate, and the faults they show |
| `journal` | the journal: the ranges in which each key was held, and its own consistency |
| `holds_check` | checks that a key was released when its last hold had ended |
| `commands` | checks that the journal answers every command |
| `clocks` | checks if a hold expired early by the broker's clock |
| `rules` | schema, overflow policy and sizes at each source offset |
| `reasons` | checks that each dead letter has a cause in the journal |
| `early_release_check` | finds held events that were processed before their release |
| `raw_zone_check` | the raw zone: where it must be complete, and where it is |
| `status_check` | checks that status agrees with journal and held |
| `checkpoint` | how far the last audit came, so that the next one continues there |
| `seals` | a record of each verified stretch, chained to the one before |
| `seal_chain` | checks the stored seals, and makes the next one |
| `report` | counts faults, and lists what was examined and what was not |
| `verification` | the result of an audit |
"""
