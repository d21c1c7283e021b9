"""Locked packages are listed, and unknown ones are never reported clean."""

import json

import pytest
from tools.supply_chain import __main__ as command
from tools.supply_chain.audit import Findings, findings
from tools.supply_chain.locked import LOCKS, jars, needed, packages_in
from tools.supply_chain.sbom import sbom

LOCK = """\
alpha==1.0 \\
    --hash=sha256:00 \\
    --hash=sha256:01
    # via holdfast (pyproject.toml)
beta==2.0.post1 \\
    --hash=sha256:02
    # via
    #   alpha
    #   gamma
gamma==3.0 ; python_version < "3.12" \\
    --hash=sha256:03
    # via holdfast (pyproject.toml:dev)
"""


def test_lock_file_is_read_with_the_dependents_of_each_package() -> None:
    found = {one.name: one for one in packages_in(LOCK)}
    assert {name: one.version for name, one in found.items()} == {
        "alpha": "1.0", "beta": "2.0.post1", "gamma": "3.0",
    }  # fmt: skip
    assert found["beta"].via == ("alpha", "gamma")
    assert needed(found) == {"alpha", "beta"}


def test_a_line_that_names_no_version_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="names no version"):
        list(packages_in("alpha>=1.0\n"))


def test_every_locked_package_and_jar_is_in_the_sbom() -> None:
    listed = {(one["name"], one["version"]) for one in json.loads(sbom())["components"]}
    lines = [line for lock in LOCKS for line in lock.read_text().splitlines() if "==" in line]
    assert len(lines) > 100
    for line in lines:
        name, _, version = line.split()[0].partition("==")
        assert (name, version) in listed
    assert {(jar.artifact, jar.version) for jar in jars()} <= listed
    assert ("kafka-clients", "3.9.2") in listed


def test_sbom_distinguishes_shipped_and_build_dependencies() -> None:
    document = json.loads(sbom())
    scopes = {one["name"]: one["scope"] for one in document["components"]}
    assert scopes["pyspark"] == scopes["delta-storage"] == scopes["py4j"] == "required"
    assert scopes["mypy"] == scopes["mkdocs"] == scopes["kafka-tools"] == "excluded"
    below = {one["ref"]: one.get("dependsOn", ()) for one in document["dependencies"]}
    assert any(ref.startswith("pkg:pypi/pyspark@") for ref in below["holdfast"])
    (pandas,) = [ref for ref in below if ref.startswith("pkg:pypi/pandas@")]
    assert any(ref.startswith("pkg:pypi/numpy@") for ref in below[pandas])


def test_a_known_weakness_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weak = {"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": ""}
    report = {"dependencies": [{"name": "alpha", "version": "1.0", "vulns": [weak]}], "fixes": []}
    monkeypatch.setattr(command, "audit", lambda: findings(report))
    assert command.main() == 1
    assert "alpha 1.0: PYSEC-1 (fixed in: 1.1)" in capsys.readouterr().out


def test_package_that_was_not_looked_up_is_not_reported_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skipped = {"name": "alpha", "skip_reason": "not found on PyPI"}
    monkeypatch.setattr(command, "audit", lambda: findings({"dependencies": [skipped]}))
    assert command.main() == 0
    assert "SKIPPED: no package was looked up" in capsys.readouterr().out
    clean = {"name": "beta", "version": "2.0", "vulns": []}
    assert str(findings({"dependencies": [skipped, clean]})) == (
        "No known weakness in 1 packages. 1 were NOT looked up: not found on PyPI"
    )
    assert "SKIPPED" in str(Findings(why_not="PyPI does not answer: ConnectionError."))
