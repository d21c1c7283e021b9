"""Flows over the REST API, with the rights of a token: what `holdfast --server` speaks.

| module | content |
|---|---|
| `bodies` | commands as requests of the API |
| `contexts` | servers by name, in a file of the user |
| `documents` | answers of the API as records of a flow |
| `flows` | flows and their keys, as the SDK has them |
| `server` | one server: requests, and problems as errors |
"""
