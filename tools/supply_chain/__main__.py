"""`python -m tools.supply_chain`: write build/sbom.json, and look for known weaknesses."""

import sys

from tools.supply_chain.audit import audit
from tools.supply_chain.locked import ROOT, jars, packages
from tools.supply_chain.sbom import sbom

_SBOM = ROOT / "build" / "sbom.json"


def main() -> int:
    _SBOM.parent.mkdir(exist_ok=True)
    _SBOM.write_text(sbom())
    print(f"{_SBOM.relative_to(ROOT)}: {len(packages())} packages, {len(jars())} jars")
    found = audit()
    print(f"pip-audit: {found}")
    return 1 if found.weaknesses else 0


if __name__ == "__main__":
    sys.exit(main())
