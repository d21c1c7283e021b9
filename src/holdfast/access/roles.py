"""Roles, and those who act in them."""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """What somebody may do. Each role may do what those below it may."""

    VIEWER = 1
    """Looks at everything, with values masked where the flow says so."""
    OPERATOR = 2
    """Also holds, releases and dead-letters keys, sends events, and sees values unmasked."""
    ADMIN = 3
    """Also creates and changes flows."""

    @property
    def label(self) -> str:
        """The role as people write it.

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
    """Whoever is behind a request; the name is what commands are signed with."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether this actor may do what needs that role."""
        return self.role >= role
