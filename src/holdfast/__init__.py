"""Holdfast: streams in which any key can be put on hold and let go again."""
