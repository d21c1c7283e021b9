"""Loopback without tokens, and how that ends."""

from collections.abc import Iterator

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.integration.web.instances import NOWHERE, bearing, connection_to, serving

from holdfast.access.credentials import Credentials
from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog
from holdfast.access.tokens import TOKENS_TOPIC
from holdfast.client.client import Client
from holdfast.errors import InvalidArgumentError
from holdfast.web.settings import WebSettings


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """Of its own: it begins without tokens, and ends with some."""
    with EmbeddedBroker(tmp_path_factory.mktemp("open")) as broker:
        yield broker


def test_local_requests_are_admin_until_a_token_exists(
    broker: EmbeddedBroker,
) -> None:
    with serving(broker) as client:
        authenticator = client.app.state.authenticator
        assert client.get("/metrics").status_code == 200
        assert "holdfast token create" in client.get("/login").text
        assert authenticator.identify(Credentials()) == Actor("local", Role.ADMIN)
        assert authenticator.identify(Credentials(named="maya")) == Actor("maya", Role.ADMIN)
        with pytest.raises(InvalidArgumentError):
            authenticator.identify(Credentials(named="x" * 101))

        token_log = TokenLog(Client(connection_to(broker)))
        _, text = token_log.create("anna", Role.VIEWER, created_by="tests")
        wait_until(lambda: client.get("/metrics").status_code == 401, "the open mode to end")
        named = {**bearing(text), "X-Holdfast-Actor": "somebody-else"}
        assert client.get("/metrics", headers=named).status_code == 200
        assert authenticator.identify(Credentials(token=text, named="x")) == Actor(
            "anna", Role.VIEWER
        )

        token_log.revoke("anna")
        wait_until(
            lambda: client.get("/metrics", headers=bearing(text)).status_code == 401,
            "the token to end",
        )
        assert client.get("/metrics").status_code == 401, "a revoked token must open nothing"
    with serving(broker) as restarted:
        assert restarted.get("/metrics").status_code == 200


def test_unreadable_token_record_grants_no_access(
    broker: EmbeddedBroker,
) -> None:
    with Client(connection_to(broker)) as client:
        token_log = TokenLog(client)
        token_log.make_topic()
        client.send(TOKENS_TOPIC, b'{"version": 2}', key="of-the-future").result()
        assert token_log.tokens() == []
        with serving(broker) as instance:
            assert instance.status("/metrics") == 401
        token_log.remove("of-the-future")


def test_web_beyond_loopback_always_requires_tokens(broker: EmbeddedBroker) -> None:
    with serving(broker, WebSettings(listen="0.0.0.0:8600")) as client:
        assert client.get("/metrics").status_code == 401


def test_requests_are_refused_until_tokens_are_loaded() -> None:
    with serving(NOWHERE) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        answer = client.get("/metrics")
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_too_many_requests_are_refused_with_the_time_to_come_back() -> None:
    settings = WebSettings(requests_per_second=0.01, request_burst=10)
    with serving(NOWHERE, settings) as client:
        answers = [client.get("/healthz") for _ in range(11)]
    assert [answer.status_code for answer in answers[:10]] == [200] * 10
    refused = answers[-1]
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
    assert int(refused.headers["retry-after"]) >= 1
    assert "content-security-policy" in refused.headers


def test_a_body_that_is_too_large_is_refused(broker: EmbeddedBroker) -> None:
    with serving(broker, WebSettings(max_body_bytes=1000)) as client:
        answer = client.post("/login", data={"token": "x" * 2000})
    assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")


def test_metrics_count_requests_by_the_template_of_their_route(broker: EmbeddedBroker) -> None:
    with serving(broker) as client:
        client.get("/login?next=/x")
        client.get("/nothing/at/all")
        shown = client.get("/metrics").text
    assert 'holdfast_web_requests_total{method="GET",route="/login",status="200"} 1.0' in shown
    assert 'route="unmatched",status="404"' in shown
    assert "/nothing" not in shown
    assert "holdfast_web_streams 0.0" in shown
    assert "holdfast_web_ready 1.0" in shown


def test_unknown_path_returns_html_page_or_json_problem(
    broker: EmbeddedBroker,
) -> None:
    with serving(broker) as client:
        page = client.get("/nothing", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert 'href="/"' in page.text
        told = client.get("/nothing")
        assert (told.status_code, told.json()["code"]) == (404, "not-found")
