"""Commands, settings and metrics in the guides exist."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tools.reference.metrics import processes, series_of

from holdfast.cli.catalogue import ALIASES, BY_NAME
from holdfast.client.settings import ClientSettings
from holdfast.config import load
from holdfast.pipeline.process.settings import PipelineSettings
from holdfast.web.settings import WebSettings

ROOT = Path(__file__).parents[3]
GUIDES = ROOT / "docs/guides"
DOCUMENTS = [ROOT / "README.md", ROOT / "docs/tables.md", *sorted(GUIDES.glob("*.md"))]

_CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_COMMAND = re.compile(r"\bholdfast ([a-z][a-z-]*)((?: [^\n|;#&)]*)?)")


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Every `holdfast ...` in the code of a document: the first word, and the others."""
    code = "\n".join(block or span for block, span in _CODE.findall(text))
    found = _COMMAND.findall(code.replace("\\\n", " "))
    return [(name, re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", rest).split()) for name, rest in found]


def options_of(name: str, words: list[str]) -> set[str]:
    module = import_module(f"holdfast.cli.{BY_NAME[name].module}")
    if hasattr(module, "parser"):
        return {o for action in module.parser()._actions for o in action.option_strings}
    app = module.APPS[name] if hasattr(module, "APPS") else module.app
    command = typer.main.get_command(app)
    if hasattr(command, "commands"):
        if not words:
            return set()
        command = command.commands[ALIASES.get(words[0], words[0])]
    options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    return options | {"--help", "-h"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_and_option_that_a_document_names_exists(document: Path) -> None:
    for name, words in commands(document.read_text()):
        assert name in BY_NAME, f"holdfast {name}"
        known = options_of(name, words)
        for word in words:
            if re.match(r"--?[a-zA-Z]", word):
                assert word.partition("=")[0] in known, f"holdfast {name} {' '.join(words)}"


def test_commands_are_found_in_documents() -> None:
    assert len(commands((GUIDES / "operating.md").read_text())) > 10


def yaml_block(word: str, guide: str = "operating.md") -> dict[str, list[dict[str, Any]]]:
    blocks = re.findall(r"```yaml\n(.*?)```", (GUIDES / guide).read_text(), re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(word)]
    parsed: dict[str, list[dict[str, Any]]] = yaml.safe_load(found)
    return parsed


@pytest.mark.parametrize("guide", ["operating.md", "guard.md"])
def test_alerts_watch_series_and_labels_that_are_served(guide: str) -> None:
    labels = {one.name: set(one.labels) for _, _, registry in processes()
              for one in series_of(registry)}  # fmt: skip
    (group,) = yaml_block("groups", guide)["groups"]
    rules = group["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) > 5
    for rule in rules:
        assert rule.keys() <= {"alert", "expr", "for"}
        found = re.findall(r"\b(holdfast_\w+)(?:\{([^}]*)\})?", rule["expr"])
        assert found, rule
        for name, matchers in found:
            name = name.removesuffix("_bucket")  # of a histogram
            assert name in labels, f"{rule['alert']}: nobody serves {name}"
            assert set(re.findall(r"(\w+)[=!]", matchers)) <= labels[name], rule


def test_cluster_settings_of_the_guide_are_accepted(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (GUIDES / "cluster.md").read_text(), re.DOTALL)
    file = tmp_path / "holdfast.toml"
    file.write_text(block)
    client = load(ClientSettings, "client", env={}, file=file)
    assert client.kafka["security.protocol"] == "SASL_SSL"
    pipeline = load(PipelineSettings, "pipeline", env={}, file=file)
    assert pipeline.spark_master == "spark://master:7077"
    assert pipeline.lake_root == "s3a://company/holdfast"
    assert load(WebSettings, "web", env={}, file=file).listen == "0.0.0.0:8600"
