"""Operations on flows that API and dashboard share: commands, records, live tails, audit, runs.

| module | content |
|---|---|
| `audit` | the whole audit, from the view and from the logs |
| `commands` | appends commands and waits for their outcomes |
| `dead_letters` | dead letters, listed and grouped |
| `event_stream` | server-sent events |
| `exports` | lists as CSV and JSON |
| `filters` | filters on records |
| `health` | the health of every part |
| `holds` | the holds of a key, as far as the view knows |
| `json_values` | bytes of records as JSON can carry them |
| `key_paths` | keys in addresses |
| `live_tail` | the newest records of a topic, as they arrive |
| `problems` | errors as `application/problem+json` (RFC 9457) |
| `records` | pages of a topic's records |
| `runs` | runs, for the API and the dashboard |
| `scopes` | holds of prefixes, and pauses of a whole flow |
| `services` | the parts of the process that routes use |
| `sightings` | when events of a key were seen last |
| `spans` | spans of time in filters |
| `undo` | holds the keys again that a request has released |
"""
