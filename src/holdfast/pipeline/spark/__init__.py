"""Spark: the session, its Kafka source, its workers and its errors.

| module | content |
|---|---|
| `delta_log` | the newest commits of a Delta table, without a Spark job |
| `few_rows` | queries over few rows |
| `hadoop_files` | small files on any file system that Spark can use |
| `kafka_source` | ranges of a topic as a Spark table |
| `errors` | errors of Spark, in one sentence |
| `plain_json` | recognises values that certainly fit a schema, without Spark |
| `readable` | reads the events around an unreadable batch, without Spark's source |
| `session` | the Spark session of a pipeline |
| `tasks` | shared by the tasks of gate and runs: results, transactions, the registry of workers |
| `validation` | checks event values against the flow's schema |
"""
