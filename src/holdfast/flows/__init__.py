"""Definitions and records of flows. Pure: no Kafka, no I/O.

| module | content |
|---|---|
| `names` | a flow's topics, consumer group and transactional ids |
| `keys` | keys as text, and the partition that murmur2 gives them |
| `topics` | the settings that each topic must have |
| `registry` | a flow's entry in `holdfast.flows` |
| `holds` | the holds of a key: several, each with a name; and of prefixes and the whole flow |
| `commands` | records of `<flow>.control` |
| `command_builder` | builds the commands of a request |
| `journal` | records of `<flow>.journal` |
| `reports` | records of `holdfast.pipeline`: the state of its parts |
| `status` | records of `<flow>.status`, and the metadata of committed offsets |
| `options` | options that a dataclass declares once |
| `run_specs` | the options of each kind of run |
| `runs` | records of `holdfast.runs` |
| `redriven` | records of `holdfast.redriven` |
| `documents` | JSON objects with a version, read strictly |
| `checks` | checks of quality, as a flow declares them |
| `schema` | checks a value that a person has written against the schema |
| `quality` | reports of a flow's checks of quality |
"""
