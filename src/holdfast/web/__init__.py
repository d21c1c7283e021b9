"""The web process behind the API and the dashboard: settings, the app, its middlewares.

| module | content |
|---|---|
| `app` | the app, put together |
| `auth_middleware` | rejects requests without valid credentials |
| `error_pages` | errors as a page for a person, or as a problem for a program |
| `error_handler` | answers for requests that fail by a bug |
| `head_limit` | how long a connection may take to send its request head |
| `headers` | security headers |
| `health` | `/healthz`, `/readyz` and `/metrics` |
| `limits` | the size of a request, and the time until its answer begins |
| `login` | signing in with a browser |
| `metrics` | the metrics of the web process, for Prometheus |
| `origins` | rejects requests that other sites make through a browser |
| `rate_limit` | limits the requests per second of one credential |
| `request_log` | one line for each request, without secrets |
| `route_table` | the routes of the app as one flat table |
| `server` | the web process |
| `settings` | the settings of the web process |
| `streams` | open live streams |
"""
