"""Accessibility problems of a page, found by axe-core."""

from pathlib import Path

from playwright.sync_api import Page

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()


def serious(page: Page, rules: list[str] | None = None) -> list[str]:
    """The serious violations, of all rules or of these."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(AXE)
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = rules
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {violation['help']}: {[n['html'][:200] for n in violation['nodes']]}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


def serious_in_both_themes(page: Page) -> list[str]:
    """Checks a page in the light theme, and what differs in the dark theme."""
    light = serious(page)
    page.emulate_media(color_scheme="dark")
    dark = serious(page, ["color-contrast"])
    page.emulate_media(color_scheme="light")
    return light + [f"dark: {found}" for found in dark]
