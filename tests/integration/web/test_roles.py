"""Every route, asked by everybody."""

import re

import pytest
from tests.integration.web.instances import NOWHERE, Instance

from holdfast.access.roles import Role
from holdfast.web.app import create_app
from holdfast.web.auth_middleware import OPEN_PATHS
from holdfast.web.route_table import RouteEntry, route_table
from holdfast.web.settings import WebSettings

ROUTES = route_table(create_app(WebSettings(), NOWHERE))
GUARDED = [
    pytest.param(method, entry, id=f"{method} {entry.path}")
    for entry in ROUTES
    if entry.role is not None
    for method in sorted(entry.methods - {"HEAD"})
]


def path_of(entry: RouteEntry) -> str:
    """An address of the route: of things that are not there, so that nothing happens."""
    return re.sub(r"\{[^}]+\}", "nothing", entry.path)


def test_every_route_declares_its_role_or_is_public_by_list() -> None:
    silent = {entry.path for entry in ROUTES if entry.role is None}
    assert silent <= OPEN_PATHS | {"/static"}, "a route has to depend on require(role)"


@pytest.mark.parametrize(("method", "entry"), GUARDED)
def test_route_admits_its_role_and_higher_ones_only(
    guarded: Instance, tokens: dict[Role, str], method: str, entry: RouteEntry
) -> None:
    assert entry.role is not None
    path, made_up = path_of(entry), "hf_000000000000_" + "x" * 43
    assert guarded.status(path, method=method) == 401
    assert guarded.status(path, method=method, token=made_up) == 401
    for role in Role:
        status = guarded.status(path, method=method, token=tokens[role])
        if role < entry.role:
            assert status == 403, role
        else:
            assert status not in (401, 403), role


def test_commands_need_more_than_a_viewer() -> None:
    weak = [
        f"{sorted(entry.methods)} {entry.path}"
        for entry in ROUTES
        if entry.role is Role.VIEWER and entry.methods - {"GET", "HEAD", "OPTIONS"}
    ]
    assert weak == []


@pytest.mark.parametrize("path", sorted(OPEN_PATHS - {"/logout"}))
def test_public_paths_need_no_token(guarded: Instance, path: str) -> None:
    assert guarded.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/nothing", "/api/v1/nothing", "/static", "/healthz/", "/loginx"])
def test_unknown_paths_return_401_without_a_token(guarded: Instance, path: str) -> None:
    assert guarded.get(path).status_code == 401


def test_unauthenticated_body_is_not_read(guarded: Instance) -> None:
    """It would be parsed, and refused with 422, before a route is asked for its role."""
    answer = guarded.post("/api/v1/flows", content=b"{not json")
    assert answer.status_code == 401
    assert answer.json()["code"] == "not-signed-in"
