"""The Kafka wire format: messages and record batches, for broker and clients. No I/O.

| module | content |
|---|---|
| `protocol/` | requests and responses: versions, codecs, error codes |
| `records/` | Kafka's record batch, version 2 |
"""
