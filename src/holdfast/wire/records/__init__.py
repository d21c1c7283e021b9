"""Kafka's record batch, version 2: the only format on the wire and on disk.

| module | content |
|---|---|
| `batch` | whole batches: read, walk, build |
| `compression` | compresses and decompresses batches, with a limit on the size |
| `framing` | checks that the records of a batch match its header |
| `record` | single records inside a batch |
"""
