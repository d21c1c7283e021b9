"""The Java that Spark runs on: the one of JAVA_HOME, else the first on the path."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import ConfigError

NEEDED = 17
HOW_TO_GET_IT = (
    f"Install JDK {NEEDED} (Debian and Ubuntu: apt-get install openjdk-{NEEDED}-jdk-headless; "
    f"Fedora: dnf install java-{NEEDED}-openjdk-headless; others: https://adoptium.net), and let "
    "JAVA_HOME name its folder if it is not the first on the path."
)
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Java:
    """An installed Java."""

    program: str
    version: int


def require_java() -> Java:
    """The Java that Spark will use. ConfigError says what is wrong with it, and how to get one."""
    program = _program()
    try:
        answer = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{program} does not run: {error}. {HOW_TO_GET_IT}") from None
    version = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if version is None:
        raise ConfigError(f"{program} does not tell its version. {HOW_TO_GET_IT}")
    number = int(version[2] if version[1] == "1" and version[2] else version[1])  # Java 8 is 1.8
    if number < NEEDED:
        raise ConfigError(
            f"Spark needs Java {NEEDED} or newer, and {program} is Java {number}. {HOW_TO_GET_IT}"
        )
    return Java(program, number)


def _program() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.is_file():
            raise ConfigError(
                f"JAVA_HOME is {home}, but there is no {program}. Correct it, or unset it if java "
                f"is on the path. {HOW_TO_GET_IT}"
            )
        return str(program)
    found = shutil.which("java")
    if found is None:
        raise ConfigError(f"Spark needs Java, and there is none on the path. {HOW_TO_GET_IT}")
    return found
