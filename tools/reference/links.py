"""Links that work in the repository, rewritten so that they work on the site."""

import posixpath
import re

DOCUMENTS = {
    "README.md": "index.md",
    "DESIGN.md": "design.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "model/README.md": "model.md",
    "tests/compat/FINDINGS.md": "findings.md",
}
"""Documents outside of `docs` by their place on the site."""
SOURCES = {place: source for source, place in DOCUMENTS.items()}
LINK = re.compile(r"(\]\()([^)#\s]+)")


def relinked(markdown: str, source: str, place: str) -> str:
    """The text of the file `source` of the repository, with links for its place on the site."""

    def rewrite(link: re.Match[str]) -> str:
        before, target = link.groups()
        if ":" in target:
            return link[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = DOCUMENTS.get(file, file.removeprefix("docs/"))
        return before + posixpath.relpath(there, posixpath.dirname(place) or ".")

    return LINK.sub(rewrite, markdown)
