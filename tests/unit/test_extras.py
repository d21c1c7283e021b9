"""Each extra of the package is known with the modules that it installs."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from holdfast import extras

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
DECLARED = {
    name: {re.split(r"[^A-Za-z0-9-]", each)[0] for each in packages}
    for name, packages in PROJECT["optional-dependencies"].items()
    if name != "all"
}


def test_modules_are_those_of_the_declared_packages() -> None:
    packages = packages_distributions()
    assert extras.MODULES.keys() == DECLARED.keys()
    for name, modules in extras.MODULES.items():
        installed = {p.lower().replace("_", "-") for module in modules for p in packages[module]}
        assert installed - {"starlette"} == DECLARED[name]  # FastAPI brings that one


def test_all_names_every_extra() -> None:
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert everything == f"holdfast[{','.join(sorted(DECLARED))}]"


def test_missing_extras_and_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.missing(DECLARED) == []
    absent = {"uvloop", "fastapi"}
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module in absent else module)
    assert extras.missing(DECLARED) == ["broker", "web"]
    assert extras.install_command(["broker", "web"]) == "pip install 'holdfast[broker,web]'"


def test_a_module_of_several_extras_belongs_to_the_preferred_one() -> None:
    assert extras.extra_of("prometheus_client", "web") == "web"
    assert extras.extra_of("prometheus_client") == "broker"
    assert extras.extra_of("pyspark.sql", "broker") == "pipeline"
    assert extras.extra_of("holdfast.nothing") is None
