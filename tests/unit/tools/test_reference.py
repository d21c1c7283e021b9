"""The reference that is made from the code leaves nothing out."""

import dataclasses
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
from prometheus_client.exposition import generate_latest
from tools.reference import PAGES
from tools.reference.api import api_page, document
from tools.reference.commands import commands_page
from tools.reference.links import DOCUMENTS, relinked
from tools.reference.metrics import metrics_page, processes
from tools.reference.settings import SECTIONS, meanings_of, settings_page

from holdfast.broker.topic_config import TopicConfig
from holdfast.cli.catalogue import BY_NAME
from holdfast.config import settings_in

ROOT = Path(__file__).parents[3]
DOCUMENT_FILES = sorted({ROOT / name for name in DOCUMENTS} | {*(ROOT / "docs").rglob("*.md")})


def sections(page: str, level: str) -> dict[str, str]:
    """The text below each heading of a page, by the heading."""
    found = re.split(rf"^{level} (.+)\n", page, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def typer_commands() -> Iterator[tuple[str, Any]]:
    for name, entry in BY_NAME.items():
        module = import_module(f"holdfast.cli.{entry.module}")
        if hasattr(module, "parser"):
            continue
        app = module.APPS[name] if hasattr(module, "APPS") else module.app
        command: Any = typer.main.get_command(app)
        if hasattr(command, "commands"):
            for word, sub in command.commands.items():
                yield f"holdfast {name} {word}", sub
        else:
            yield f"holdfast {name}", command


def test_reference_has_every_command_with_options_and_example() -> None:
    found = sections(commands_page(), "###+")
    for name in BY_NAME:
        assert f"holdfast {name}" in found
    for name, command in typer_commands():
        text = found[name]
        assert f"```\n{name}" in text, f"{name} has no example"
        for parameter in command.params:
            for option in parameter.opts:
                assert option.lower() in text.lower(), f"{option} of {name}"


def test_reference_has_all_flags_of_the_broker() -> None:
    text = sections(commands_page(), "###")["holdfast broker"]
    for action in import_module("holdfast.cli.broker").parser()._actions:
        if action.dest != "help":
            assert action.option_strings[-1] in text
    assert "holdfast broker --flush os" in text


def test_reference_has_every_route_with_its_parameters() -> None:
    found = sections(api_page(), "###")
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            heading = f"{method.upper()} {path}"
            assert operation["summary"] in found[heading]
            assert "Takes the role " in found[heading]
            for parameter in operation.get("parameters", ()):
                assert f"`{parameter['name']}`" in found[heading], heading


def test_reference_names_the_role_of_each_route() -> None:
    found = sections(api_page(), "###")
    assert "role viewer" in found["GET /api/v1/flows"]
    assert "role operator" in found["POST /api/v1/flows/{flow}/keys/{key}/hold"]
    assert "role admin" in found["POST /api/v1/flows"]


def test_every_body_of_a_route_is_in_the_reference() -> None:
    text = api_page()
    headings = {heading.lower() for heading in sections(text, "###")}
    assert set(re.findall(r"\]\(#(\w+)\)", text)) <= headings


@pytest.mark.parametrize("section", SECTIONS)
def test_reference_has_every_setting_with_its_meaning(section: str) -> None:
    text = sections(settings_page(), "##")[f"[{section}]"]
    meanings = meanings_of(SECTIONS[section])
    for field in dataclasses.fields(SECTIONS[section]):
        is_setting = field.name in settings_in(SECTIONS[section])
        assert (f"| `{field.name}` |" in text) is is_setting
        assert meanings.get(field.name), f"{field.name} of [{section}] has no docstring"


def test_reference_has_every_topic_setting() -> None:
    text = sections(settings_page(), "##")["Topics of the embedded broker"]
    for field in dataclasses.fields(TopicConfig):
        if "name" in field.metadata:
            assert f"| `{field.metadata['name']}` |" in text


def test_every_section_of_settings_is_in_the_reference() -> None:
    loaded = set()
    for module in (ROOT / "src").rglob("*.py"):
        loaded |= set(re.findall(r"load\(\w+Settings, \"(\w+)\"", module.read_text()))
    assert loaded == set(SECTIONS)


def test_reference_has_every_metric_with_its_type() -> None:
    text = metrics_page()
    for _, _, registry in processes():
        kinds = re.findall(r"^# TYPE (\S+) (\S+)", generate_latest(registry).decode(), re.MULTILINE)
        served = [(name, kind) for name, kind in kinds if not name.endswith("_created")]
        assert served
        for name, kind in served:
            assert f"| `{name}` | {kind} |" in text


def test_labels_of_series_that_were_never_counted_are_there() -> None:
    text = metrics_page()
    assert "| `holdfast_lag_records` | gauge | `flow`, `part` |" in text
    assert "| `holdfast_web_requests_total` | counter | `method`, `route`, `status` |" in text
    assert "| `holdfast_broker_requests_total` | counter | `api` |" in text


@pytest.mark.parametrize("file", DOCUMENT_FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_in_documents_are_valid(file: Path) -> None:
    generated = {ROOT / "docs" / place for place in PAGES}
    for target in re.findall(r"\]\(([^)\s]+)\)", file.read_text()):
        address = urlsplit(target)
        if address.scheme:
            assert address.scheme in ("http", "https"), target
            assert re.fullmatch(r"[a-z0-9.:-]+", address.netloc), target
            continue
        there = (file.parent / address.path).resolve() if address.path else file
        assert there in generated or there.is_file(), f"{target} in {file.name}"
        if address.fragment and there not in generated:
            assert address.fragment in anchors(there.read_text()), f"{target} in {file.name}"


def anchors(page: str) -> set[str]:
    """The names by which the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def test_links_are_rewritten_for_the_site() -> None:
    text = "[a](docs/guides/web.md#masks) ![b](docs/img/flow.png) [c](DESIGN.md) [d](http://x/y)"
    assert relinked(text, "README.md", "index.md") == (
        "[a](guides/web.md#masks) ![b](img/flow.png) [c](design.md) [d](http://x/y)"
    )
    assert relinked("[c](../../DESIGN.md#x)", "docs/guides/sdk.md", "guides/sdk.md") == (
        "[c](../design.md#x)"
    )
