"""All that a browser loads to show the first page."""

from urllib.parse import urlsplit

from playwright.sync_api import Response, sync_playwright
from tests.browser.chromium import FLAGS, find_chromium

_LIVE = "text/event-stream"


def first_page(address: str) -> tuple[float, int]:
    """-> kilobytes over the wire, headers too; requests to other hosts"""
    answers: list[Response] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page()
        page.on("response", answers.append)
        page.goto(address, wait_until="load")
        page.wait_for_timeout(1_500)  # what the page asks for once it is there
        size, outside = 0, 0
        for answer in answers:
            outside += urlsplit(answer.url).netloc != urlsplit(address).netloc
            if not answer.headers.get("content-type", "").startswith(_LIVE):
                sizes = answer.request.sizes()
                received = sizes["responseBodySize"] + sizes["responseHeadersSize"]
                print(f"{received / 1024:7.1f} kB  {urlsplit(answer.url).path}")
                size += received
        browser.close()
    return size / 1024, outside
