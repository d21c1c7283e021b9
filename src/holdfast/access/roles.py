"""Roles and actors."""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """The permissions of an actor. Each role includes the lower ones."""

    VIEWER = 1
    """Reads everything, with values masked where the flow requires it."""
    OPERATOR = 2
    """Also holds, releases and dead-letters keys, sends events, and sees values unmasked."""
    ADMIN = 3
    """Also creates and changes flows."""

    @property
    def label(self) -> str:
        """The role's name in lower case.

        >>> Role.OPERATOR.label
        'operator'
        """
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> "Role":
        """The role of that label, or ValueError."""
        for role in cls:
            if role.label == text:
                return role
        raise ValueError(f"a role is one of {', '.join(r.label for r in cls)}, not {text!r}")


@dataclass(frozen=True, slots=True)
class Actor:
    """The user or program that makes a request; commands carry the name."""

    name: str
    role: Role
    via: str = ""
    """The program that made the request for the actor, such as `mcp`; empty if none is named."""

    @property
    def signature(self) -> str:
        """The name in the audit.

        >>> Actor("anna", Role.OPERATOR, via="mcp").signature
        'anna via mcp'
        """
        return f"{self.name} via {self.via}" if self.via else self.name

    def may(self, role: Role) -> bool:
        """Returns True if the actor has this role or a higher one."""
        return self.role >= role
