"""The Kafka protocol itself: messages and record batches, for whoever speaks it. Pure."""
