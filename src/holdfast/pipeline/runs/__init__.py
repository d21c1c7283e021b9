"""Runs: replays, backfills, redrives and audits, carried out by the pipeline beside its gates.

| module | idea |
|---|---|
| `part` | one flow's runs, as a part of the pipeline |
| `run_log` | `holdfast.runs` as the pipeline sees it |
| `execution` | one run on its way: how far it is, and whether it shall end |
| `replay` | events of the raw zone through the gate again |
| `selection` | which events a replay means, as Spark sees them |
| `windows` | a long range in pieces of about the same number of rows |
| `slices` | one source in order: sent exactly once, whoever is killed |
| `slice_tasks` | many slices at once: what runs in Spark's workers |
| `task_sending`, `paced_sending` | the two ways to send: in tasks, or from the driver at a rate |
| `reached` | where a replay is, and the rows that are next |
| `backfill` | what is missing in the raw zone, out of the topic |
| `files` | the same, out of files |
| `redrive` | dead letters through the gate again |
| `dead_letters` | which letters there are, and which were redriven before |
| `auditing` | the audit and the checks of quality, for whoever asks a running pipeline |
"""
