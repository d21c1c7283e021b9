"""Endpoints, TLS, login and access control.

| module | content |
|---|---|
| `access_file` | users and access control lists, durable |
| `acls` | access control lists, in Kafka's terms |
| `authorizer` | decides who may do what |
| `endpoints` | the addresses that the broker listens on |
| `guard` | checks a request before its handler, by the table of `rules` |
| `key_set` | the public keys of the issuer of tokens |
| `logins` | checks of logins, for all connections |
| `oauth` | OAUTHBEARER, the broker's side |
| `scram` | SCRAM, the broker's side |
| `security` | all that the broker knows of its clients |
| `session` | who uses a connection |
| `setup` | `holdfast broker --secure` |
| `tls` | certificates, their reload, and the names of clients |
| `tokens` | signed tokens and their claims |
| `rules/` | what each API demands of its client |
"""
