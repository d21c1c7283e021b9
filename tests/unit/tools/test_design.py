"""DESIGN.md names files, functions and layers that exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "holdfast"
DOCUMENTS = [ROOT / "DESIGN.md", ROOT / "CONTRIBUTING.md"]

HTTP_HEADERS = {"Host", "Origin"}

_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_FUNCTION = re.compile(r"([\w./-]+\.py):([A-Za-z_][\w.]*)")
_TYPE = re.compile(r"([A-Z]\w*[a-z]\w*)(?:\.\w+)?")
_FILE = re.compile(r"[\w./-]*\w\.(?:py|md|toml|xml|txt|js|css|c|pml)")


def code_in(document: Path) -> list[str]:
    """The code spans of a document, without its blocks of code."""
    return [" ".join(text.split()) for text in _CODE.findall(_BLOCK.sub("", document.read_text()))]


def layers() -> list[list[str]]:
    """The layers of the import contract, from top to bottom, without `holdfast.`."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in contracts if each["type"] == "layers"]
    return [_names(layer.replace("holdfast.", "")) for layer in contract["layers"]]


def picture() -> list[list[str]]:
    """The layers as DESIGN.md draws them: the text before `#` in each line."""
    section = (ROOT / "DESIGN.md").read_text().partition("\n## The layers\n")[2]
    block = section.split("```")[1].strip("\n")
    return [_names(line.partition("#")[0]) for line in block.splitlines()]


def _names(layer: str) -> list[str]:
    return sorted(name.strip() for name in layer.split("|"))


def file_of(name: str) -> Path | None:
    """The file that a document means by a path: from `src/holdfast`, or from the root."""
    return next((f for f in (SOURCE / name, ROOT / name) if f.is_file()), None)


def definitions(node: ast.AST, prefix: str = "") -> Iterator[str]:
    """Functions, classes, attributes and constants of a module, nested ones with dots between."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + child.name
            yield from definitions(child, f"{prefix}{child.name}.")
            if isinstance(child, ast.ClassDef):
                yield from (f"{prefix}{child.name}.{name}" for name in attributes(child))
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))


def attributes(node: ast.ClassDef) -> Iterator[str]:
    """The attributes that methods of a class assign to `self`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.attr


def test_layers_in_the_picture_are_those_of_the_contract() -> None:
    assert picture() == layers()


def test_every_package_and_module_is_in_a_layer() -> None:
    listed = {name for layer in layers() for name in layer}
    for place in SOURCE.iterdir():
        if place.suffix != ".py" and not (place / "__init__.py").exists():
            continue
        if place.stem in listed or place.stem in ("__init__", "__main__"):
            continue
        rooms = {f"{place.stem}.{p.parent.name}" for p in place.glob("*/__init__.py")}
        assert rooms, f"{place.stem} is in no layer"
        assert rooms <= listed, f"{sorted(rooms - listed)} are in no layer"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_function_that_a_document_names_exists(document: Path) -> None:
    missing = []
    for text in code_in(document):
        for path, name in _FUNCTION.findall(text):
            file = file_of(path)
            if file is None or name not in definitions(ast.parse(file.read_text())):
                missing.append(f"{path}:{name}")
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    texts = [text.partition(":")[0] for text in code_in(document)]
    files = [text for text in texts if "/" in text and _FILE.fullmatch(text)]
    missing = [text for text in files if file_of(text) is None]
    assert not missing


def test_every_type_that_the_design_names_exists() -> None:
    texts = code_in(ROOT / "DESIGN.md")
    types = {match[1] for text in texts if (match := _TYPE.fullmatch(text))}
    sources = "\n".join(file.read_text() for file in SOURCE.rglob("*.py"))
    defined = set(re.findall(r"^(?:class )?(\w+)", sources, re.MULTILINE))
    missing = types - HTTP_HEADERS - defined
    assert not missing


def test_life_of_an_event_and_of_a_hold_name_functions() -> None:
    """The checks above would pass for a document that names nothing."""
    text = (ROOT / "DESIGN.md").read_text()
    for heading in ("The life of an event", "The life of a hold"):
        section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        assert len(_FUNCTION.findall(section)) >= 15, heading
