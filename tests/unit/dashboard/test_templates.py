"""Templates and static files keep to what the content security policy allows."""

import doctest
import hashlib
import importlib
import re
from pathlib import Path

import pytest

from holdfast.dashboard import assets, rendering

ROOT = Path(rendering.__file__).parent
TEMPLATES = sorted((ROOT / "templates").glob("*.html"))
VENDORED = re.compile(r"\| `(?P<file>[^`]+)` \|.*\| (?P<digest>[0-9a-f]{64}) \|")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_template_has_no_inline_code_and_no_foreign_url(template: Path) -> None:
    markup = template.read_text()
    text = re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", markup, flags=re.DOTALL)
    assert not re.search(r"\son[a-z]+\s*=", text), "an inline handler"
    assert not re.search(r"\sstyle\s*=|<style", text), "inline style"
    assert not re.search(r"<script(?![^>]*\ssrc=)", text), "an inline script"
    assert not re.search(r"hx-on|hx-vals=.js:|hx-trigger=\"[^\"]*\[", text), "what needs eval"
    assert not re.search(r"https?://", text), "an address elsewhere"
    assert "|safe" not in markup.replace(" ", ""), "text that is not escaped"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_template_lines_have_at_most_120_columns(template: Path) -> None:
    lines = template.read_text().splitlines()
    assert not [number for number, line in enumerate(lines, 1) if len(line) > 120]


def test_everything_is_escaped_whatever_the_template_is_called() -> None:
    template = rendering.environment().from_string("{{ text }}")
    assert template.render(text="<b a='\">") == "&lt;b a=&#39;&#34;&gt;"


@pytest.mark.parametrize("folder", [assets.ROOT / "vendor", Path("tests/browser/vendor")])
def test_vendored_files_are_those_that_their_readme_names(folder: Path) -> None:
    listed = {m["file"]: m["digest"] for m in VENDORED.finditer((folder / "README.md").read_text())}
    files = {p.name for p in folder.iterdir()} - {"README.md"}
    assert set(listed) == {name for name in files if not name.endswith(".LICENSE")}
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_assets_change_their_address_with_their_content() -> None:
    digest = hashlib.sha256((assets.ROOT / "theme.js").read_bytes()).hexdigest()
    assert assets.asset("theme.js") == f"/static/theme.js?v={digest[:12]}"


@pytest.mark.parametrize(
    "module", ["assets", "forms", "key_name", "rendering", "values", "formats"]
)
def test_examples_in_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"holdfast.dashboard.{module}"))
    assert found.attempted
    assert not found.failed
