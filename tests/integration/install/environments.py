"""Empty virtual environments with the wheel and no more packages than an extra installs."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]


def build(folder: Path, target: Path) -> tuple[Path, Path]:
    """Builds the project in `folder`. Returns the wheel and the sdist."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(target)],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return wheel, sdist


class Environment:
    """A virtual environment that has the wheel, and what it declares for an extra.

    The wheel is installed by pip. The other packages are links to those of the environment in which
    the tests run, so that nothing is downloaded.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.bin = folder / "bin"
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "-q",
             "--no-deps", "--no-index", str(wheel)],
            check=True,
        )  # fmt: skip
        (packages,) = folder.glob("lib/python*/site-packages")
        (metadata,) = packages.glob("holdfast-*.dist-info")
        for package in set(_needed(Distribution.at(metadata), extra, set())):
            _link(package, packages)


def _needed(package: Distribution, extra: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    for text in package.requires or ():
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            if (requirement.name, wanted) in seen:
                continue
            seen.add((requirement.name, wanted))
            yield requirement.name
            yield from _needed(distribution(requirement.name), wanted, seen)


def _link(name: str, packages: Path) -> None:
    """Links the packages and modules of a distribution. Folders that several share are made."""
    found = distribution(name)
    for file in found.files or ():
        if file.parts[0] == ".." or file.suffix == ".pyc" or re.search(r"[<>]", str(file)):
            continue
        target = packages / file.parts[0]
        if not target.exists():
            target.symlink_to(Path(str(found.locate_file(file.parts[0]))))
