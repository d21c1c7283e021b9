"""Requests that other sites make with somebody's browser."""

import pytest
from tests.unit.web.asgi import ask, echo

from holdfast.web.origins import OwnSiteOnly
from holdfast.web.settings import WebSettings

HOST = "127.0.0.1:8600"
LOCAL = OwnSiteOnly(echo, WebSettings())


@pytest.mark.parametrize("host", ["localhost:8600", "127.0.0.1:1", "[::1]:8600", "LOCALHOST"])
async def test_loopback_names_are_accepted_on_loopback(host: str) -> None:
    assert (await ask(LOCAL, headers={"Host": host})).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8600", "127.0.0.1.evil.example", "", "[::1", "10.0.0.1"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_foreign_host_name_that_resolves_to_loopback_is_refused(
    host: str, method: str
) -> None:
    answer = await ask(LOCAL, method, headers={"Host": host})
    assert (answer.status, answer.code) == (421, "unknown-host")


async def test_a_request_without_a_host_is_refused() -> None:
    assert (await ask(LOCAL)).status == 421


async def test_configured_host_names_are_accepted_and_no_others() -> None:
    app = OwnSiteOnly(echo, WebSettings(hosts="Holdfast.example.com, other"))
    assert (await ask(app, headers={"Host": "holdfast.example.com"})).status == 200
    assert (await ask(app, headers={"Host": "localhost"})).status == 200
    assert (await ask(app, headers={"Host": "example.com"})).status == 421


async def test_web_beyond_loopback_accepts_any_host_name_unless_configured() -> None:
    anywhere = OwnSiteOnly(echo, WebSettings(listen="0.0.0.0:8600"))
    assert (await ask(anywhere, headers={"Host": "whatever.example"})).status == 200
    named = OwnSiteOnly(echo, WebSettings(listen="0.0.0.0:8600", hosts="holdfast.example.com"))
    assert (await ask(named, headers={"Host": "whatever.example"})).status == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "WHATEVER"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": f"http://{HOST}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://localhost:8600"},
    ],
)
async def test_command_from_another_site_is_refused(method: str, headers: dict[str, str]) -> None:
    answer = await ask(LOCAL, method, headers={"Host": HOST, **headers})
    assert (answer.status, answer.code) == (403, "cross-site")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": f"http://{HOST}"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
async def test_requests_of_own_pages_users_and_programs_are_accepted(
    headers: dict[str, str],
) -> None:
    assert (await ask(LOCAL, "POST", headers={"Host": HOST, **headers})).status == 200


async def test_link_from_another_site_can_be_followed() -> None:
    headers = {"Host": HOST, "Sec-Fetch-Site": "cross-site", "Referer": "http://wiki.example/"}
    assert (await ask(LOCAL, "GET", headers=headers)).status == 200
