"""One page per module: what it shows, as frozen dataclasses, made from views."""
