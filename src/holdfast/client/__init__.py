"""The SDK: connect, produce, consume, groups, admin, flows. On confluent-kafka."""
