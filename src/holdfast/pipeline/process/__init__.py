"""The pipeline process: starts, watches, restarts and reports the parts of all flows.

| module | content |
|---|---|
| `application` | the main loop: one Spark session, and the parts of every registered flow |
| `http` | serves `/metrics` for Prometheus and `/healthz` |
| `reporter` | writes the state of every part to Kafka, for views in other processes |
| `runner` | keeps one part of one flow running |
| `settings` | the `[pipeline]` settings |
| `worker_daemon` | the process from which Spark forks its Python workers |
"""
