"""The dashboard: pages that show flows live, and act on their keys.

The server renders every page with Jinja. htmx reloads the parts of a page that the page's stream
of changes names. Nothing is loaded from other sites, and only scripts in `static/` run.

| module | content |
|---|---|
| `routes/` | which page is at which address |
| `pages/` | one page per module: its content as frozen dataclasses |
| `page_request` | one request for a page: its actor, its time, its responses |
| `rendering` | Jinja and its filters |
| `navigation` | the sections; a new page has its line there |
| `state_styles` | colour, icon and word of every state |
| `formats` | numbers, sizes and times as people read them |
| `sparkline`, `timeline` | series and histories as SVG |
| `templates/`, `static/` | markup, styles, scripts; `static/vendor` is third-party |
| `assets` | static files, by addresses that change with their content |
| `commands` | commands as rows |
| `downloads` | lists as CSV and JSON files |
| `forms` | values of forms |
| `key_name` | a key as it is shown and linked to |
| `lanes` | the three lanes of a flow |
| `live` | the stream of server-sent events of a page |
| `receipts` | receipts of commands |
| `values` | values of records as they are shown |
"""
