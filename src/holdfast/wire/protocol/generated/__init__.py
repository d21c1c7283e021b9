"""Written by tools/generate_codecs.py: one module for a message."""
