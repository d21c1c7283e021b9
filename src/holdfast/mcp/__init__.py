"""A Model Context Protocol server over the REST API: what `holdfast mcp` runs.

Every tool is a request with the caller's token, so roles, masks, rate limits and the audit are
those of the API. The protocol is small (JSON-RPC, four methods), and each message stands by itself:
there are no sessions. The official package would bring 30 others.

| module | content |
|---|---|
| `http` | the streamable HTTP transport |
| `key_story` | why a key is held, since when, by whom, and what waits |
| `flow_findings` | what is wrong with a flow |
| `messages` | messages of the protocol: what each method answers |
| `stdio` | the transport over standard input and output |
| `tool` | a tool: its schema, and the check of its arguments |
| `tools` | tools that read |
| `verbs` | tools that change something |
"""
