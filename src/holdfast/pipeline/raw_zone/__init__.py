"""The raw zone: every event of a flow in a Delta table, each exactly once.

| module | content |
|---|---|
| `spacing` | when the next commit is due |
| `table` | the Delta table of one flow, which stores its own position |
| `upkeep` | compacts small files, deletes old versions |
| `zone` | appends new events to the table |
"""
