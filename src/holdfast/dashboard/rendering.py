"""Pages from templates. Escaping is on for every template, whatever its name."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from holdfast.dashboard import words
from holdfast.dashboard.assets import asset

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Jinja, set so that a name that is missing is an error and everything is escaped."""
    jinja = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    jinja.globals["asset"] = asset
    jinja.filters.update(
        number=words.number,
        short=words.short,
        rate=words.rate,
        size=words.size,
        duration=words.duration,
        clock=words.clock,
        precise=words.precise,
        stamp=words.stamp,
        percent=words.percent,
        initials=initials,
    )
    return jinja


def render(template: str, **values: Any) -> str:
    """The template as text."""
    return environment().get_template(template).render(**values)


def initials(name: str) -> str:
    """Two letters for a round badge.

    >>> initials("maya.okafor"), initials("local")
    ('MO', 'LO')
    """
    parts = [part for part in name.replace("-", ".").replace("_", ".").split(".") if part]
    letters = parts[0][:1] + parts[1][:1] if len(parts) > 1 else name[:2]
    return letters.upper()
