"""Code that all parts of a flow share.

| module | content |
|---|---|
| `clock` | the process's clock: wall clock and monotonic clock, compared |
| `lag` | how far a part is behind the end of its topic, in records and in seconds |
| `metrics` | the pipeline's Prometheus metrics |
| `part` | the interface of a part, such as a gate or a raw zone |
| `ticket` | which pipeline was started last; exit codes for the supervisor |
"""
