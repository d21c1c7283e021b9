"""`holdfast up`: everything on this machine, as children of one process that looks after them.

| module | idea |
|---|---|
| `settings` | what can be set |
| `plan` | which children there are, with which commands and ports |
| `child` | one child: started, listened to, asked whether it is well, stopped |
| `supervisor` | all of them: restart what falls, stop in order |
| `ports` | a free port, or a clear error |
| `demo`, `demo_traffic` | flows with believable traffic, a child of its own; the traffic itself |
| `command` | the process: what it prints, and how it ends |
"""
