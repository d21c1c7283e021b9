"""Where tokens are asked for: the form, what it says, and what each role is shown behind it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.brokers import EmbeddedBroker
from tests.browser.axe import serious_in_both_themes
from tests.browser.conftest import NewContext
from tests.clients import wait_until
from tests.integration.web.instances import Instance, connection_to, serving

from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.client.client import Client

FLOW = "guarded"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[Role, str]]]:
    """An instance that asks for tokens, over a broker of its own: its address, and the tokens."""
    with EmbeddedBroker(tmp_path_factory.mktemp("closed")) as broker:
        with Client(connection_to(broker)) as client:
            log = TokenLog(client)
            tokens = {
                role: log.create(f"the-{role.label}", role, created_by="tests")[1]
                for role in (Role.VIEWER, Role.OPERATOR)
            }
            client.flow(FLOW).create(partitions=1)
        with serving(broker) as instance:
            wait_until(lambda: _sees(instance, tokens[Role.VIEWER]), "the flow's page")
            yield str(instance.base_url).rstrip("/"), tokens


def _sees(instance: Instance, token: str) -> bool:
    return instance.status(f"/flows/{FLOW}", token=token) == 200


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def test_sign_in_leads_to_the_requested_page_and_sign_out_works(
    new_context: NewContext, closed: tuple[str, dict[Role, str]]
) -> None:
    address, tokens = closed
    page = new_context(url=address).new_page()
    page.goto(f"/flows/{FLOW}?show=held")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_label("Token")).to_be_focused()
    assert not serious_in_both_themes(page), "sign in"
    sign_in(page, tokens[Role.OPERATOR])
    expect(page).to_have_url(f"{address}/flows/{FLOW}?show=held")
    expect(page.locator("#live")).to_contain_text("Live")
    expect(page.get_by_role("button", name="Send event")).to_be_visible()

    page.get_by_role("link", name="the-operator, operator").click()
    expect(page.get_by_role("heading", name="Signed in")).to_be_visible()
    assert not serious_in_both_themes(page), "signed in"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_viewer_on_a_phone_can_sign_in_and_sees_no_commands(
    new_context: NewContext, closed: tuple[str, dict[Role, str]]
) -> None:
    address, tokens = closed
    page = new_context(width=390, height=844, url=address).new_page()
    page.goto(f"/flows/{FLOW}")
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 0, "it scrolls sideways"
    sign_in(page, tokens[Role.VIEWER])
    expect(page.get_by_role("heading", name=FLOW, exact=True)).to_be_visible()
    expect(page.get_by_text("You are a viewer")).to_be_visible()
    for name in ("Send event", "Hold keys", "Release"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    assert not serious_in_both_themes(page), "a viewer's flow"


def test_sign_in_form_explains_an_invalid_token(
    browser: Browser, closed: tuple[str, dict[Role, str]]
) -> None:
    # Not watched: a browser complains by itself about a request that was refused.
    address, _ = closed
    context = browser.new_context(base_url=address, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/audit")
    sign_in(page, "hf_nonsense")
    field = page.get_by_label("Token")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("is not valid")
    assert not serious_in_both_themes(page), "sign in, refused"
    context.close()
