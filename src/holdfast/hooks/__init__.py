"""Webhooks: a signed request to a URL when a key is held, parked, expires or has drained, and when
a gate stops.

Hooks and their deliveries are records in Kafka. Each hook is a consumer group over the journals, so
any number of web processes share the deliveries, and a restart continues where it was.

| module | content |
|---|---|
| `hook` | a hook as a record of `holdfast.hooks` |
| `event` | what a hook reports: from a journal record, or from a report of the pipeline |
| `bodies` | the event as JSON, or as a message for Slack |
| `delivery` | one signed request, and its record in `holdfast.deliveries` |
| `hook_log` | adding, removing, listing and testing hooks |
| `gate_watch` | notices that a gate has stopped, failed or gone silent |
| `hook_follower` | the thread of one hook: reads events, delivers them, tries again |
| `hook_runner` | all hooks, from start to stop of a web process |
"""
