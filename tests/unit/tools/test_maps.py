"""Every package's docstring has a table of its modules, and the table is complete."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "holdfast"
GENERATED = SOURCE / "wire" / "protocol" / "generated"
PACKAGES = sorted(p.parent for p in SOURCE.rglob("__init__.py") if p.parent != GENERATED)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE.parent)))
def test_package_docstring_lists_exactly_its_modules(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    cells = re.findall(r"^\| (`[^|]+`) \|", docstring, re.MULTILINE)
    listed = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    modules = {p.stem for p in package.glob("*.py")} - {"__init__", "__main__"}
    folders = {f"{p.name}/" for p in package.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert sorted(listed) == sorted(modules | folders)
