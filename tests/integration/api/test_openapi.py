"""The OpenAPI document is true: no call made from it fails, or gets an undocumented answer."""

from time import monotonic, sleep
from typing import Any

import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis import Case, Response
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from tests.clients import DEADLINE_S
from tests.integration.api.served import Api

from holdfast.api.router import api_router

NOT_MEANT = [
    ignored_auth,  # open on loopback; the roles of every route are tested elsewhere
    positive_data_acceptance,  # a cursor is no text that one could make up
]
EXAMPLES = 6
"""Of each route and method; more than that is for a longer run than every change deserves."""


def _document() -> dict[str, Any]:
    app = FastAPI()
    app.include_router(api_router())
    return app.openapi()


# Live streams have no end.
schema = schemathesis.openapi.from_dict(_document()).exclude(path_regex=r"/(changes|tail)$")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_documented_and_none_is_a_failure(
    case: Case[Any], api: Api, idle: str
) -> None:
    _make_it_reach_something(case, idle)
    answer = _answer_in_the_end(case, api)
    case.validate_response(answer, excluded_checks=NOT_MEANT)


def _answer_in_the_end(case: Case[Any], api: Api) -> Response:
    """The answer of a machine that is not too busy: 503 and 504 mean "try again", and a client of
    the API does. One that stays is returned, and fails the test."""
    deadline = monotonic() + DEADLINE_S
    while True:
        answer = case.call(base_url=api.address, timeout=DEADLINE_S)
        if answer.status_code not in (503, 504) or monotonic() > deadline:
            return answer
        sleep(0.2)


def _make_it_reach_something(case: Case[Any], flow: str) -> None:
    """A name made up meets no flow, and ten thousand partitions are no test of an API."""
    name = str(case.path_parameters.get("flow", ""))
    if len(name) % 4 and len(name) <= 100:
        case.path_parameters["flow"] = flow
    if isinstance(case.body, dict) and case.body.get("partitions") in range(1, 10_001):
        case.body["partitions"] = 1
    if case.query and case.query.get("wait") == "effective":
        case.query["timeout"] = 0.1


def test_every_route_has_a_summary_and_every_error_is_a_problem(api: Api) -> None:
    document = api.found("openapi.json")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("summary"), f"{method} {path}"
            for status, answer in operation["responses"].items():
                if status >= "400":
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)


def test_every_request_body_has_an_example(api: Api) -> None:
    document = api.found("openapi.json")
    bodies = {name: schema for name, schema in document["components"]["schemas"].items()
              if f"/{name}'" in str([o.get("requestBody") for m in document["paths"].values()
                                     for o in m.values()])}  # fmt: skip
    bodies = {name: schema for name, schema in bodies.items() if schema["type"] == "object"}
    assert len(bodies) >= 9
    assert [name for name, schema in bodies.items() if "'examples'" not in str(schema)] == []
