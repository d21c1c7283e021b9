"""All that a browser loads to show the first page."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Request, Response, sync_playwright
from tests.browser.chromium import FLAGS, find_chromium

_LIVE = "text/event-stream"
_KB = 1024


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The resources of a page load, without the live stream, which has no end."""

    sent_kb: float
    """Over the wire, headers too."""
    raw_kb: float
    """Its size before compression, without headers."""
    outside_requests: int
    """Requests of the browser to other hosts."""


def first_page(address: str) -> FirstPage:
    """Show the page in a browser that has nothing of it yet."""
    asked: list[Request] = []

    def note(request: Request) -> None:  # Playwright takes no built-in function
        asked.append(request)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page()
        page.on("request", note)
        page.goto(address, wait_until="load")
        page.wait_for_timeout(1_500)  # what the page asks for once it is there
        answers = [answer for request in asked if (answer := request.response())]
        sizes = [_sizes(answer) for answer in answers if not _is_live(answer)]
        browser.close()
    return FirstPage(
        sum(sent for sent, _ in sizes) / _KB,
        sum(raw for _, raw in sizes) / _KB,
        sum(urlsplit(request.url).netloc != urlsplit(address).netloc for request in asked),
    )


def _is_live(answer: Response) -> bool:
    return answer.headers.get("content-type", "").startswith(_LIVE)


def _sizes(answer: Response) -> tuple[int, int]:
    """Bytes as they were sent, and as they were written."""
    sizes, raw = answer.request.sizes(), len(answer.body())
    sent = sizes["responseBodySize"] + sizes["responseHeadersSize"]
    print(f"{sent / _KB:7.1f} kB sent {raw / _KB:7.1f} kB raw  {urlsplit(answer.url).path}")
    return sent, raw
