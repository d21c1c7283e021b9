"""Turns Kafka's message definitions into straight-line Python."""
