"""Four DAGs, each useful as it is: replay, backfill, dlq_inspection, data_quality."""
