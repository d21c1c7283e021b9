"""The pipeline: Structured Streaming queries that run the gate and land the raw zone."""
