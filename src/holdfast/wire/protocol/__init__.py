"""The Kafka protocol: which APIs are served, their codecs, error codes and headers."""
