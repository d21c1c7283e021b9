"""What MkDocs calls while it builds: adds pages that are no files of `docs`, and mends links.

Links are written as they work in the repository. On the site the same documents have other places,
so each link is resolved among the files and then written anew.
"""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from tools.reference import PAGES
from tools.reference.links import DOCUMENTS, SOURCES, relinked

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
