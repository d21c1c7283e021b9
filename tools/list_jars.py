"""Writes `src/holdfast/jars.json`, the jars that users fetch, from `pom.xml` and `.jars`.

python -m tools.list_jars            # after `make jars`; a test compares
"""

import hashlib
import json
import sys
from pathlib import Path

from tools.supply_chain.locked import ROOT, jars

from holdfast.jars import SPARK, jar_folder

TARGET = ROOT / "src" / "holdfast" / "jars.json"


def document() -> str:
    """The list as JSON."""
    folder = jar_folder(SPARK)
    listed = [
        {
            "group": jar.group,
            "artifact": jar.artifact,
            "version": jar.version,
            **_file(folder / f"{jar.artifact}-{jar.version}.jar"),
        }
        for jar in jars()
        if jar.profile == SPARK
    ]
    return json.dumps(listed, indent=2) + "\n"


def _file(path: Path) -> dict[str, object]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    TARGET.write_text(document())
    sys.exit()
