"""What a flow is, and what its records look like. Pure: no Kafka, no clock, no I/O.

| module | idea |
|---|---|
| `names` | a flow's topics, consumer group and transactional ids |
| `keys` | keys as text, and the partition that murmur2 gives them |
| `topics` | the settings that each topic must have |
| `registry` | a flow's entry in `holdfast.flows` |
| `commands` | records of `<flow>.control` |
| `journal` | records of `<flow>.journal` |
| `reports` | records of `holdfast.pipeline`: how its parts are |
| `status` | records of `<flow>.status`, and the metadata of committed offsets |
| `work` | what a run is asked to do: replay, backfill, redrive |
| `runs` | records of `holdfast.runs` |
| `redriven` | records of `holdfast.redriven` |
| `documents` | JSON objects with a version, read strictly |
"""
