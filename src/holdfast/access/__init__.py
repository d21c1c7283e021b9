"""Access control: tokens, roles, and masked values.

| module | content |
|---|---|
| `roles` | `Role` and `Actor` |
| `require` | `require(role)`: the FastAPI dependency that every route declares |
| `credentials` | the credentials of a request, unverified |
| `authenticator` | finds the actor of a request: by token, by session, or anyone in open mode |
| `tokens` | tokens and their records |
| `token_log` | creating, revoking and listing tokens |
| `token_view` | the present tokens, in memory |
| `masks` | values as a viewer may see them |
"""
