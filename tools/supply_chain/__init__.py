"""Dependencies of Holdfast: a list of them, and a search for known weaknesses."""
