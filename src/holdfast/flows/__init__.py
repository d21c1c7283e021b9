"""What a flow is, and what its records look like. Pure: no Kafka, no clock, no I/O.

| module | idea |
|---|---|
| `names` | a flow's topics, consumer group and transactional ids |
| `keys` | keys as text, and the partition that murmur2 gives them |
| `topics` | the settings that each topic must have |
| `registry` | a flow's entry in `holdfast.flows` |
| `commands` | records of `<flow>.control` |
| `journal` | records of `<flow>.journal` |
| `status` | records of `<flow>.status`, and the metadata of committed offsets |
| `documents` | JSON objects with a version, read strictly |
"""
