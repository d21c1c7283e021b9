"""The dashboard: pages that show flows live, and act on their keys.

Jinja makes every page whole on the server; htmx fetches parts of it anew when the API's stream of
changes says so. Nothing is loaded from elsewhere, and nothing runs that is not in `static/`.

| where | what |
|---|---|
| `routes` | which page is at which address |
| `pages/` | one page per module: what it shows, as frozen dataclasses |
| `actions` | the verbs, from forms |
| `rendering` | Jinja, its filters, and answers in HTML |
| `navigation` | the sections; a new page has its line there |
| `looks` | the state language: colour, glyph and word of every state |
| `words` | numbers, sizes and times as people read them |
| `sparkline`, `timeline` | series and histories as SVG |
| `templates/`, `static/` | markup, style, script; `static/vendor` is not ours |
"""
