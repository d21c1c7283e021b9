"""The browser that the tests drive: Debian's Chromium, or whichever CHROMIUM names."""

import os
import shutil

from playwright.sync_api import APIResponse, Page

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def find_chromium() -> str:
    """Its path. Fails with what to do where there is none."""
    named = os.environ.get("CHROMIUM", "chromium")
    found = shutil.which(named)
    assert found, (
        f"There is no {named!r}: `make chromium` installs it where it may "
        "(Debian: apt-get install chromium fonts-liberation); or name one with CHROMIUM=..."
    )
    return found


def fetch(page: Page, path: str) -> APIResponse:
    """A page as the server renders it. The server may just have closed an idle connection, so a
    reset one is tried again."""
    return page.request.get(path, max_retries=3)
