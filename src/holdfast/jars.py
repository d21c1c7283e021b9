"""The jars that Spark needs beside its own: which they are, and where they are.

`jars.json` lists them with their SHA-256. `tools.list_jars` writes it from `pom.xml`.
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from holdfast.errors import ConfigError

VARIABLE = "HOLDFAST_JARS"
SPARK = "spark"


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar by its Maven coordinates, and what its file must be."""

    group: str
    artifact: str
    version: str
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Its path in a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"


@cache
def listed() -> tuple[Jar, ...]:
    """The jars of the profile `spark`, which users of the pipeline need."""
    return tuple(Jar(**each) for each in json.loads((files("holdfast") / "jars.json").read_text()))


def jars(profile: str) -> list[Path]:
    """The jars of a profile of `pom.xml` (`spark` or `kafka`), in a stable order.

    A folder that people fill is taken as it is, so that they can add jars. From the cache come
    those that are listed, because it may also have those of another version of Holdfast.
    """
    folder = jar_folder(profile)
    found = sorted(folder.glob("*.jar"))
    if folder.is_relative_to(_cache()):
        names = {jar.name for jar in listed()} if profile == SPARK else set()
        found = [jar for jar in found if jar.name in names]
        if len(found) < len(names):
            found = []
    if not found:
        how = "`holdfast jars` fetches" if profile == SPARK else "In a clone, `make jars` copies"
        raise ConfigError(
            f"The jars of {profile!r} are not in {folder}. {how} them there. "
            f"If they are elsewhere, set {VARIABLE} to the folder that contains {profile!r}."
        )
    return found


def jar_folder(profile: str) -> Path:
    """Where the jars of a profile are, or belong."""
    return _root() / profile


def class_path(profile: str) -> str:
    """The jars of a profile as a Java class path."""
    return os.pathsep.join(str(jar) for jar in jars(profile))


def shared_classes() -> Path:
    """The path of the archive of Spark's classes that a JVM can map (class data sharing)."""
    return _root() / "spark.jsa"


def _root() -> Path:
    folder = os.environ.get(VARIABLE)
    if folder:
        return Path(folder)
    checkout = Path(__file__).resolve().parents[2] / ".jars"  # beside src
    return checkout if checkout.is_dir() else _cache()


def _cache() -> Path:
    """The user's cache, by the convention of freedesktop.org."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "holdfast" / "jars"
