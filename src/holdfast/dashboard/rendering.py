"""Pages from templates. Escaping is on for every template, whatever its name."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from holdfast.clock import duration_text
from holdfast.control.spans import PRESETS
from holdfast.dashboard import formats
from holdfast.dashboard.assets import asset

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Jinja, configured to fail on missing names and to escape everything."""
    jinja = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    jinja.globals["asset"] = asset
    jinja.globals["presets"] = PRESETS
    jinja.filters.update(
        number=formats.number,
        short=formats.short,
        rate=formats.rate,
        size=formats.size,
        duration=duration_text,
        clock=formats.clock,
        precise=formats.precise,
        stamp=formats.stamp,
        percent=formats.percent,
        initials=initials,
    )
    return jinja


def render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def initials(name: str) -> str:
    """Two letters for a round badge.

    >>> initials("maya.okafor"), initials("local")
    ('MO', 'LO')
    """
    parts = [part for part in name.replace("-", ".").replace("_", ".").split(".") if part]
    letters = parts[0][:1] + parts[1][:1] if len(parts) > 1 else name[:2]
    return letters.upper()
