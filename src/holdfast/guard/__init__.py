"""The guard: a key whose event fails waits, everything else goes on, and order is kept.

A guard is a flow whose output is a handler. A worker owns partitions of the guard's topic, as the
group gives them. Each step of a partition is one Kafka transaction: held rows, entries, journal,
records that handlers have sent, and the committed offset.

| module | content |
|---|---|
| `guard` | `holdfast.Guard`: the handler and its worker |
| `event` | the event that a handler gets; `Hold` and `Skip` |
| `worker` | the member of the group: fetches, and starts and ends partitions |
| `partition` | one partition while this worker owns it: its thread and its turns |
| `steps` | the steps of a partition: planned, run, settled, committed |
| `crashes` | events that may end the process run alone |
| `stuck` | handlers that run for too long |
| `ownership` | the right to commit a partition's steps, and its state |
| `buffer` | fetched events of a partition |
| `held_rows` | rows of held, read ahead and trimmed |
| `shared` | what the partitions of a worker share |
| `step` | a step of the gate whose passing events go to a handler |
| `plan` | what one step gives to the handler, and where the step ends |
| `settlement` | from the results of handlers to what a step writes |
| `schedule` | the events of a step: side by side, one of a key at a time |
| `pool` | the handler's calls, in threads or as tasks |
| `policy` | what becomes of a failed event |
| `circuit` | tells an outage from events that fail by themselves |
| `counts` | what a worker counts |
| `reporter` | writes the state of each partition to Kafka |
| `http` | `/metrics` for Prometheus and `/healthz` |
| `control` | the control log, followed by each worker |
| `outputs` | the topics that handlers send to |
| `writer` | writes a step in one transaction |
| `post` | a handler that posts events to a URL |
"""
