"""Which page is at which address: a module per page, each with its `add(router)`."""
