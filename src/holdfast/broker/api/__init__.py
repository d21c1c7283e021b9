"""The APIs of the protocol, one per file: `handle(broker, request, context)` gives the response."""
