"""The systems that Holdfast is compared with."""
