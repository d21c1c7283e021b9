"""Reference pages, written from the code itself whenever the documentation is built."""

from collections.abc import Callable

from tools.reference.api import api_page
from tools.reference.commands import commands_page
from tools.reference.metrics import metrics_page
from tools.reference.settings import settings_page

PAGES: dict[str, Callable[[], str]] = {
    "reference/cli.md": commands_page,
    "reference/api.md": api_page,
    "reference/settings.md": settings_page,
    "reference/metrics.md": metrics_page,
}
"""By their place among the pages. None of them is checked in."""
