"""What stands on the raw zone: the audit, the checks of quality, the tables that people query.

Each job is a plain function: (session, connection, flow, options, progress) -> a result that can be
written as JSON. The command line and runs call the same one.

| module | idea |
|---|---|
| `audit` | `verify`: where is every event, and is that where it must be? |
"""
