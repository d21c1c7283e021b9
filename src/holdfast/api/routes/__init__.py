"""The routes under `/api/v1`, one module per resource. Each route declares its role.

| module | content |
|---|---|
| `audit` | `/flows/{flow}/audit` |
| `cluster` | `/topics`, `/groups`, `/cluster`, `/me` |
| `dead_letters` | `/flows/{flow}/dead-letters` |
| `flows` | `/flows` |
| `health` | `/health` |
| `hooks` | `/hooks` |
| `keys` | `/flows/{flow}/keys` |
| `quality` | `/flows/{flow}/quality` |
| `records` | `/flows/{flow}/topics/{topic}` |
| `runs` | `/runs`, and the work that a flow can be asked for |
| `scopes` | pause and resume a flow; hold and release prefixes |
| `streams` | `/changes` |
| `unreadable` | void and skip |
| `verbs` | hold, release, dead-letter, extend |
"""
