"""The dependencies that the locks and `pom.xml` name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
LOCKS = (ROOT / "requirements" / "dev.txt", ROOT / "requirements" / "docs.txt")
POM = ROOT / "pom.xml"

PROJECT = "holdfast (pyproject.toml)"
"""How a lock names the project where it asks for a package in use, not for work on it alone."""

_VIA = re.compile(r"^ +#(?: via)? +(\S.*)$", re.MULTILINE)
_NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}


@dataclass(frozen=True, slots=True)
class Package:
    """A Python package at its locked version."""

    name: str
    version: str
    via: tuple[str, ...]
    """Its dependents: other packages, or the project."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar of `pom.xml`."""

    group: str
    artifact: str
    version: str
    profile: str


def packages() -> dict[str, Package]:
    """All locked packages by name. One that several locks name has one version in all of them."""
    found: dict[str, Package] = {}
    for lock in LOCKS:
        for package in packages_in(lock.read_text()):
            known = found.setdefault(package.name, package)
            if known.version != package.version:
                raise ValueError(
                    f"{package.name} is locked twice: {known.version} and {package.version}"
                )
    return found


def packages_in(lock: str) -> Iterator[Package]:
    """The packages of a lock that uv has written."""
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        head = re.match(r"([A-Za-z0-9_.-]+)==(\S+)", entry)
        if head is None:
            raise ValueError(f"This line of the lock names no version: {entry!r}")
        via = tuple(name for name in _VIA.findall(entry) if name != "via")
        yield Package(head[1], head[2], via)


def needed(found: dict[str, Package]) -> set[str]:
    """The names of those that run with the product; the others are for work on it."""
    names: set[str] = set()
    asking = {PROJECT}
    while asking:
        asked = {one.name for one in found.values() if asking.intersection(one.via)}
        asking = asked - names
        names |= asked
    return names


def jars() -> list[Jar]:
    """The jars that `pom.xml` names, by profile."""
    project = ElementTree.parse(POM).getroot()
    return [
        Jar(
            _text(one, "groupId"),
            _text(one, "artifactId"),
            _text(one, "version"),
            _text(profile, "id"),
        )
        for profile in project.iterfind("m:profiles/m:profile", _NAMESPACE)
        for one in profile.iterfind("m:dependencies/m:dependency", _NAMESPACE)
    ]


def _text(element: ElementTree.Element, name: str) -> str:
    found = element.findtext(f"m:{name}", namespaces=_NAMESPACE)
    assert found is not None, f"{name} is missing in {POM.name}"
    return found
