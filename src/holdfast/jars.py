"""Where the jars of `pom.xml` are."""

import os
from pathlib import Path

from holdfast.errors import ConfigError

VARIABLE = "HOLDFAST_JARS"


def jars(profile: str) -> list[Path]:
    """The jars of a profile of `pom.xml` (`spark` or `kafka`), in a stable order."""
    folder = _root() / profile
    found = sorted(folder.glob("*.jar"))
    if not found:
        raise ConfigError(
            f"No jars in {folder}: `make jars` copies them there. "
            f"If they are elsewhere, name the folder above {profile!r} in {VARIABLE}."
        )
    return found


def class_path(profile: str) -> str:
    """The same as one Java class path."""
    return os.pathsep.join(str(jar) for jar in jars(profile))


def shared_classes() -> Path:
    """Spark's classes as a JVM can map them (class data sharing), where they were written."""
    return _root() / "spark.jsa"


def _root() -> Path:
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    # A checkout has them beside src; an installed package is run from the project's folder.
    checkout = Path(__file__).resolve().parents[2] / ".jars"
    return checkout if checkout.is_dir() else Path.cwd() / ".jars"
