"""Who may do what: tokens, roles, and what a role does not see.

| module | idea |
|---|---|
| `roles` | `Role` and `Actor` |
| `require` | `require(role)`: the FastAPI dependency that every route declares |
| `credentials` | what a request says about who makes it |
| `gatekeeper` | who is behind a request: a token, a session, or anyone at all in open mode |
| `tokens` | a token as a record: its secret, its hash, its form on the topic |
| `token_log` | the topic `holdfast.tokens`: written, and read as a whole |
| `token_view` | the tokens as they are now, in memory |
| `masks` | values as a viewer may see them |
"""
