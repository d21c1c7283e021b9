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
from tests.browser.chromium import FLAGS, find_chromium
from tests.clients import wait_until
from tests.stack import UP_WITHIN_S, Up

import holdfast
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
    """What no page may do: complain, open a dialog, or ask another host."""

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
