"""Live views of flows, in memory: what the API and the dashboard show.

Everything here is a view of topics, rebuilt at start: any number of processes may have one, side
by side, and they agree. Threads of their own follow Kafka; to look at a view never waits for it.

| module | idea |
|---|---|
| `views` | `Views`: all flows; started and stopped with the process |
| `flow_view` | `FlowView`: one flow, put together from the parts below |
| `keys` | keys that are not simply ACTIVE: searched, sorted, paged |
| `audit` | the newest of control log and journal, joined |
| `changes` | the numbered ring of changes that live readers follow |
| `series` | rates and lag, a sample a second |
| `health` | how the pipeline says it is |
| `follower` | the thread that reads the topics |
| `meter` | the thread that asks for ends of logs |
"""
