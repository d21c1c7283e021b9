"""The hook of MkDocs: adds generated pages, and rewrites links.

Links are written as they work in the repository. On the site documents have other paths, so
each link is resolved among the files and then rewritten.
"""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from tools.reference import PAGES
from tools.reference.links import DOCUMENTS, SOURCES, relinked
from tools.reference.llms import llms_text

log = logging.getLogger("mkdocs.hooks.reference")  # a warning there ends a strict build

_FOREIGN = re.compile(
    r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*'
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, and the documents at the root."""
    root = Path(config.docs_dir).parent
    for place, write in PAGES.items():
        files.append(File.generated(config, place, content=write()))
    for source, place in DOCUMENTS.items():
        files.append(File.generated(config, place, content=(root / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page's text with links that work on the site."""
    place = page.file.src_uri
    return relinked(markdown, SOURCES.get(place, f"docs/{place}"), place)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The page, which must not load anything from other hosts."""
    for found in _FOREIGN.findall(output):
        log.warning("%s would load something from another host: %s", page.file.src_uri, found)
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Write `llms.txt` beside the pages."""
    root = Path(config.docs_dir).parent

    def read(place: str) -> str:
        if place in PAGES:
            return PAGES[place]()
        return (root / SOURCES.get(place, f"docs/{place}")).read_text("utf-8")

    text = llms_text(config.site_name, config.site_description or "", config.nav or [], read)
    (Path(config.site_dir) / "llms.txt").write_text(text, "utf-8")
