"""The REST API, under `/api/v1`.

| module | content |
|---|---|
| `change_models` | changes as JSON |
| `flow_bodies` | options of a flow in requests and answers |
| `models` | what several routes speak of |
| `parameters` | what routes take |
| `router` | all routes, under `/api/v1` |
| `run_bodies` | bodies of requests for runs |
| `streaming` | server-sent events |
| `routes/` | the routes under `/api/v1`, one resource a module |
"""
