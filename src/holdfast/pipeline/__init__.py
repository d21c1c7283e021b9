"""The pipeline: the gates, raw zones and runs of all flows.

| module | content |
|---|---|
| `audit/` | the audit behind `holdfast verify` |
| `gate/` | the gate of a flow as it runs: batches, keeper, transactions |
| `parts/` | code that all parts of a flow share |
| `process/` | the pipeline process: starts, watches and reports the parts of all flows |
| `raw_zone/` | lands every event in a Delta table |
| `runs/` | replay, backfill, redrive, import and export, and audits on request |
| `spark/` | the Spark session, its Kafka source and its workers |
| `tables/` | tables built from the raw zone: silver, gold, quality |
"""
