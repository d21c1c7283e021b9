"""Who asks, unless somebody says otherwise."""

import getpass


def user_name() -> str:
    """The name of the user whose process this is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without a user entry, as in many containers
        return "unknown"
