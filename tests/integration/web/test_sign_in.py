"""Signing in with a browser."""

import pytest
from tests.brokers import EmbeddedBroker
from tests.integration.web.instances import Instance, bearing, serving

from holdfast.access.roles import Role
from holdfast.web.settings import WebSettings

HTML = {"Accept": "text/html"}


def test_page_redirects_to_sign_in_and_back(guarded: Instance, tokens: dict[Role, str]) -> None:
    answer = guarded.get("/flows/orders?state=HELD", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fflows%2Forders%3Fstate%3DHELD"
    page = guarded.get(answer.headers["location"])
    assert 'value="/flows/orders?state=HELD"' in page.text
    target = {"token": f" {tokens[Role.VIEWER]}\n", "next": "/flows/orders?state=HELD"}
    answer = guarded.post("/login", data=target)
    guarded.cookies.clear()
    assert (answer.status_code, answer.headers["location"]) == (303, "/flows/orders?state=HELD")


def test_fragment_redirects_the_whole_page_to_sign_in(guarded: Instance) -> None:
    answer = guarded.get("/nothing", headers={**HTML, "HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login")


def test_unauthenticated_json_request_gets_json_problem(guarded: Instance) -> None:
    answer = guarded.get("/metrics", headers={"Accept": "application/json"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


def test_session_cookie_is_hidden_from_scripts_and_other_sites(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    answer = guarded.post("/login", data={"token": tokens[Role.VIEWER]})
    guarded.cookies.clear()
    cookie = answer.headers["set-cookie"]
    name, *attributes = (part.strip().lower() for part in cookie.split(";"))
    assert name.startswith("holdfast_session=hf_")
    assert {"httponly", "samesite=strict", "path=/", "max-age=43200"} <= set(attributes)
    assert tokens[Role.VIEWER] not in cookie


def test_the_session_goes_over_tls_alone_where_there_is_tls(
    guarded_broker: EmbeddedBroker, tokens: dict[Role, str]
) -> None:
    settings = WebSettings(tls_cert="cert.pem", tls_key="key.pem")
    with serving(guarded_broker, settings) as client:
        answer = client.post("/login", data={"token": tokens[Role.VIEWER]})
        assert "; secure" in answer.headers["set-cookie"].lower()
        assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_behind_a_proxy_that_speaks_tls_the_session_goes_over_tls_alone(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    answer = guarded.post(
        "/login", data={"token": tokens[Role.VIEWER]}, headers={"X-Forwarded-Proto": "https"}
    )
    guarded.cookies.clear()
    assert "; secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    "token",
    ["", "hf_", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 400],
)
def test_invalid_token_is_reported_and_escaped(guarded: Instance, token: str) -> None:
    answer = guarded.post("/login", data={"token": token, "next": f"/{token}"})
    assert answer.status_code == 401
    assert "is not valid" in answer.text
    assert "set-cookie" not in answer.headers
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "javascript:x()"])
def test_sign_in_never_redirects_to_another_site(
    guarded: Instance, tokens: dict[Role, str], target: str
) -> None:
    page = guarded.get("/login", params={"next": target})
    assert target not in page.text
    answer = guarded.post("/login", data={"token": tokens[Role.VIEWER], "next": target})
    guarded.cookies.clear()
    assert answer.headers["location"] == "/"


def test_signed_in_user_sees_the_session_and_can_sign_out(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    guarded.post("/login", data={"token": tokens[Role.OPERATOR]})
    page = guarded.get("/login")
    assert "the-operator" in page.text
    assert 'action="/logout"' in page.text
    gone = guarded.post("/logout")
    assert (gone.status_code, gone.headers["location"]) == (303, "/login")
    assert "the-operator" not in guarded.get("/login").text
    assert not guarded.cookies


def test_signing_in_from_another_site_is_refused(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    answer = guarded.post(
        "/login", data={"token": tokens[Role.VIEWER]}, headers={"Origin": "http://evil.example"}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "cross-site")
    assert "set-cookie" not in answer.headers


def test_token_in_the_header_takes_precedence_over_the_session(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    guarded.post("/login", data={"token": tokens[Role.ADMIN]})
    assert guarded.get("/metrics", headers=bearing("hf_wrong")).status_code == 401
    guarded.cookies.clear()


def test_every_answer_has_the_headers_that_keep_browsers_in_check(guarded: Instance) -> None:
    for path in ("/login", "/healthz", "/nothing", "/static/holdfast.css"):
        headers = guarded.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "cache-control" in headers
    assert guarded.get("/login").headers["cache-control"] == "no-store"
