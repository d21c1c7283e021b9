"""The REST API, under `/api/v1`, and the functions behind it, which the dashboard uses too."""
