"""One page per module: its content as frozen dataclasses, made from views.

| module | content |
|---|---|
| `audit` | the audit as lines, with their state |
| `dead_letters` | dead letters: their number in each flow, and their reasons |
| `find` | the keys of each flow that match a search |
| `flow` | one flow: its figures, its keys, its activity |
| `groups` | consumer groups, most lag first |
| `health` | health of the broker, and of the pipeline of every flow |
| `hooks` | the hooks, each with its newest deliveries |
| `key` | one key: its state, its timeline, its held events, its commands |
| `messages` | records of a topic: a list, and one record in full |
| `overview` | all flows, alerts, recent commands |
| `quality` | the checks of each flow with their results |
| `runs` | runs as lines |
| `topics` | topics, with their content and their flow |
"""
