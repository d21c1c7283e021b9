"""`holdfast up`: all parts on this machine, as children of one supervising process.

| module | content |
|---|---|
| `settings` | the settings |
| `plan` | the children, with their commands and ports |
| `child` | one child process: started, watched, stopped |
| `supervisor` | starts, restarts and stops all children |
| `ports` | a free port, or a clear error |
| `demo`, `demo_traffic` | the child that runs demo flows; their traffic |
| `demo_guard` | the child that runs a guard with a flaky partner |
| `command` | the process: its output and its end |
"""
