"""The Kafka protocol: the APIs that are served, their codecs, error codes and headers.

| module | content |
|---|---|
| `apis` | the APIs that the broker serves, with their versions |
| `errors` | Kafka's error codes, and the error for malformed messages |
| `primitives` | functions that the generated codecs share |
| `generated/` | the codecs, written by tools/generate_codecs.py |
"""
