"""The process behind the API and the dashboard: settings, the app put together, its limits."""
