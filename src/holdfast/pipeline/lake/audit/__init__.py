"""The audit: every source coordinate is accounted for, from what Kafka and the raw zone say.

The gate writes where an event went and, in the journal, from which source offset on each decision
acts. So where every event must be can be worked out again from events, control and journal, without
any of the gate's own code, and compared with where it is.

| module | idea |
|---|---|
| `bounds` | how far each log is looked at, so that a flow that runs can be verified |
| `journal` | what the journal says: when each key was held, and until when |
| `commands` | what was asked, and whether the journal answers it |
| `coordinates` | every coordinate, every place that it was found in, and what is wrong about it |
| `early` | held events that came out before their release |
| `standing` | whether status says what the journal says |
| `raw_side` | the raw zone, as the audit looks at it |
| `remembered` | what was verified before, so that the next run begins there |
| `naming` | how often each fault was found, and where first |
| `verification` | the result |
| `verify` | the job |
"""
