"""Live views of flows, in memory, for the API and the dashboard.

Views are built from topics at the start of a process. Any number of processes may have them, and
they agree. Threads follow Kafka; reading a view never waits for Kafka.

| module | content |
|---|---|
| `views` | `Views`: all flows; started and stopped with the process |
| `flow_view` | `FlowView`: one flow, built from the parts below |
| `keys` | keys that are not ACTIVE: searched, sorted, paged |
| `audit` | the newest records of control log and journal, joined |
| `changes` | the numbered ring of changes that live readers follow |
| `series` | rates and lag, a sample a second |
| `health` | the health of a pipeline |
| `follower` | the thread that reads the topics |
| `meter` | the thread that samples rates and lag |
| `standstill` | since when and why a follower makes no progress |
| `quality_view` | the last report of quality of each flow |
| `redriven_view` | which dead letters were redriven |
| `runs_view` | the runs |
| `waiting` | requests that wait for a command |
"""
