"""One real stack and one browser for all tests here: embedded broker, Spark, web, Chromium.

They live as long as this package's tests run: Playwright's event loop and a running Spark must not
be in the way of the tests that follow. Tests share one flow, so each has keys of its own.
"""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import expect as playwright_expect
from tests.brokers import EmbeddedBroker
from tests.browser.chromium import FLAGS, find_chromium
from tests.clients import wait_until
from tests.integration.pipeline.world import World, running
from tests.integration.web.instances import serving
from tests.stack import UP_WITHIN_S, Up

import holdfast
from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.client.client import Client

FLOW = "orders"
DEADLINE_MS = 60_000

playwright_expect.set_options(timeout=DEADLINE_MS)


@dataclass(frozen=True)
class Stack:
    """The running stack: where its dashboard and its broker are, and a client of that."""

    up: Up
    url: str
    broker: str
    client: Client

    def flow(self) -> holdfast.Flow:
        return self.client.flow(FLOW)


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """`holdfast up` with one flow, whose gate has carried out a first command."""
    up = Up(tmp_path_factory.mktemp("up"), "--data-dir", "data")
    try:
        up.wait_for(r"^holdfast \| is up: broker at ")
        (address,) = re.findall(r"is up: broker at (\S+),", up.said())
        (url,) = re.findall(r"^holdfast \| Dashboard: (\S+?)/?$", up.said(), re.MULTILINE)
        with holdfast.connect(address) as client:
            flow = client.flow(FLOW).create(partitions=2)
            flow.hold("warm-up", reason="the first takes longest", actor="tests").wait(UP_WITHIN_S)
            flow.release("warm-up", actor="tests").wait(UP_WITHIN_S)
            yield Stack(up, url, address, client)
    finally:
        up.kill()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield chromium
        chromium.close()


class Watched:
    """Errors in the console, dialogs and requests to other hosts: no page may cause them."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.complaints: list[str] = []
        self._url = url
        context.on("page", self._watch)
        context.on("request", lambda request: self._outside(request.url))

    def _watch(self, page: Page) -> None:
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _outside(self, url: str) -> None:
        if not url.startswith((self._url, "data:")):
            self.complaints.append(f"a request to {url}")


NewContext = Callable[..., BrowserContext]


@pytest.fixture
def new_context(browser: Browser, stack: Stack) -> Iterator[NewContext]:
    """Contexts of the browser, on a wide screen unless said otherwise; watched."""
    made: list[tuple[BrowserContext, Watched]] = []

    def make(
        width: int = 1440, height: int = 900, theme: str = "light", url: str = stack.url
    ) -> BrowserContext:
        context = browser.new_context(
            base_url=url,
            viewport={"width": width, "height": height},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        context.set_default_timeout(DEADLINE_MS)
        made.append((context, Watched(context, url)))
        return context

    yield make
    complaints = [complaint for _, watched in made for complaint in watched.complaints]
    for context, _ in made:
        context.close()
    assert not complaints


@pytest.fixture
def page(new_context: NewContext) -> Page:
    return new_context().new_page()


@pytest.fixture
def stem(request: pytest.FixtureRequest) -> str:
    """The beginning of keys that no other test uses."""
    return f"{uuid.uuid4().hex[:6]}"


def processed_of(stack: Stack, key: str, count: int) -> list[str]:
    """The values of the key's events that have come out, in their order, once there are `count`."""

    def found() -> list[str]:
        with stack.client.consumer(f"{FLOW}.processed") as consumer:
            records = list(consumer.records(until="end"))
        return [record.text() for record in records if record.key == key.encode()]

    wait_until(lambda: len(found()) >= count, f"{count} events of {key} that came out", 120)
    return found()


@dataclass(frozen=True)
class Office:
    """A flow with a gate (without Spark), a dashboard that asks for tokens, and two operators."""

    world: World
    url: str
    tokens: dict[str, str]

    @property
    def flow(self) -> str:
        return self.world.flow.name


@pytest.fixture(scope="package")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with EmbeddedBroker(tmp_path_factory.mktemp("office")) as broker:
        world = World(broker, 1)
        log = TokenLog(world.client)
        tokens = {
            name: log.create(name, Role.OPERATOR, created_by="tests")[1] for name in ("ana", "ben")
        }
        with running(world), serving(broker) as instance:
            path = f"/flows/{world.flow.name}"
            wait_until(lambda: instance.status(path, token=tokens["ana"]) == 200, "the flow's page")
            yield Office(world, str(instance.base_url).rstrip("/"), tokens)


Enter = Callable[..., Page]


@pytest.fixture
def enter(browser: Browser, office: Office) -> Iterator[Enter]:
    """Signs a person in, in a browser of their own, and opens a page. Watched, unless the test
    provokes an answer that a browser complains about by itself."""
    made: list[tuple[BrowserContext, Watched | None]] = []

    def open_page(name: str, path: str, *, watched: bool = True) -> Page:
        context = browser.new_context(
            base_url=office.url, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
        )
        context.set_default_timeout(DEADLINE_MS)
        made.append((context, Watched(context, office.url) if watched else None))
        page = context.new_page()
        page.goto(path)
        page.get_by_label("Token").fill(office.tokens[name])
        page.get_by_role("button", name="Sign in").click()
        playwright_expect(page.locator("#live")).to_contain_text("Live")
        return page

    yield open_page
    complaints = [each for _, watched in made if watched for each in watched.complaints]
    for context, _ in made:
        context.close()
    assert not complaints
