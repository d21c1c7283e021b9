"""What stands on the raw zone: the audit, the checks of quality, the tables that people query.

Each job is a plain function: (session, connection, flow, options, progress) -> a result that can be
written as JSON. The command line and runs call the same one.

| module | idea |
|---|---|
| `audit` | `verify`: where is every event, and is that where it must be? |
| `quality` | the checks that a flow declares, over its events |
| `tables` | where tables are, and how they are made |
| `silver` | events parsed and typed, each once; quarantine for what fails |
| `gold` | figures worked out from silver: the demo's orders |
"""
