"""Delta tables and checks that are built from a flow's raw zone.

| module | content |
|---|---|
| `delta` | locations of the tables, and functions to create and lock them |
| `gold` | gold tables: example aggregates of silver |
| `quality` | runs a flow's quality checks over its raw zone |
| `silver` | silver tables: parsed and typed events, each once |
"""
