"""The sections of the dashboard: a new page has its line here, and is then in every menu."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the side bar, and of the tab bar on a phone if it has a short name."""

    title: str
    path: str
    icon: str
    letter: str
    """The key after `g` that opens it."""
    short: str | None = None


SECTIONS = (
    Section("Overview", "/", "home", "o", "Overview"),
    Section("Dead letters", "/dead-letters", "dead", "d", "Dead"),
    Section("Runs", "/runs", "send", "r"),
    Section("Topics", "/topics", "topic", "t", "Topics"),
    Section("Groups and lag", "/groups", "group", "l"),
    Section("Audit", "/audit", "audit", "a", "Audit"),
    Section("Quality", "/quality", "active", "q"),
    Section("Hooks", "/hooks", "send", "w"),
    Section("Health", "/health", "health", "h", "Health"),
)
