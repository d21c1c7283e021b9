"""Which page is at which address: a module per page, each with its `router`.

| module | content |
|---|---|
| `api_docs` | the reference of the REST API |
| `audit` | audit |
| `dead_letters` | dead letters |
| `find` | find a key in any flow |
| `flow` | flow |
| `groups` | consumer groups, and how far behind they are |
| `health` | health |
| `hooks` | hooks: where events are sent, what came back, and a test button |
| `key` | key |
| `overview` | overview, and what every page shows around its own |
| `page_route` | the routers of pages, which show errors where they happen |
| `quality` | quality |
| `router` | all pages under one router |
| `runs` | runs |
| `scopes` | pause and resume a flow, hold and release prefixes, from forms |
| `topics` | topics, and the messages in those of a flow |
| `verbs` | the verbs, from forms |
"""
