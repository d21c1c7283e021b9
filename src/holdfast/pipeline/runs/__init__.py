"""Runs: replays, backfills, redrives, audits and refreshes, which the pipeline executes
beside its gates.

| module | content |
|---|---|
| `part` | the part that executes the runs of one flow |
| `run_log` | the topic `holdfast.runs`: requests and progress of one flow's runs |
| `execution` | a running run: its progress, and requests to stop it |
| `replay` | sends events of the raw zone through the gate again |
| `selection` | the events that a replay selects, as a Spark query |
| `windows` | cuts a long range into windows of about the same number of rows |
| `slices` | sends one source in order, exactly once, also after a crash |
| `slice_tasks` | sends many slices at once, in Spark's workers |
| `task_sending`, `paced_sending` | the two ways to send: in tasks, or from the driver at a rate |
| `replay_progress` | the progress of a replay, and the rows to send next |
| `backfill` | adds events to the raw zone that are missing there, from the topic |
| `files` | adds events to the raw zone from files |
| `redrive` | sends dead letters through the gate again |
| `dead_letters` | the dead letters of a flow, and which of them were redriven before |
| `auditing` | the audit and the quality checks as runs |
| `refresh` | updates silver and gold as a run |
"""
