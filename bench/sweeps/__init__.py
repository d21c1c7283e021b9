"""How cost grows: each part of the system beside its peer, one setting changed at a time."""
