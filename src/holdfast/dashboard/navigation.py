"""The sections of the dashboard: a new page has its line here, and is then in every menu."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the side bar, and of the tab bar on a phone if it has a short name."""

    title: str
    path: str
    icon: str
    short: str | None = None


SECTIONS = (
    Section("Overview", "/", "home", "Overview"),
    Section("Dead letters", "/dead-letters", "dead", "Dead"),
    Section("Runs", "/runs", "send"),
    Section("Topics", "/topics", "topic", "Topics"),
    Section("Groups and lag", "/groups", "group"),
    Section("Audit", "/audit", "audit", "Audit"),
    Section("Quality", "/quality", "active"),
    Section("Health", "/health", "health", "Health"),
)
