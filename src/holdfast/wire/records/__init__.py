"""Kafka's record batch, version 2: the one format on the wire and on disk."""
