"""A key as it is shown and linked to."""

import base64
from dataclasses import dataclass

from holdfast.control.key_paths import key_to_path
from holdfast.flows.keys import drawn

_BRIEF = 44
"""Characters of a key in a table; all of it is in the tooltip and on its page."""


@dataclass(frozen=True, slots=True)
class KeyName:
    """A key's bytes with their forms for people and for addresses.

    >>> KeyName(b"customer-7").path("orders")
    '/flows/orders/keys/customer-7'
    >>> KeyName(bytes([0, 255])).text, KeyName(bytes([0, 255])).encoded
    ('AP8=', True)
    """

    key: bytes

    @property
    def text(self) -> str:
        """The key as text, or as base64 if it is not text."""
        try:
            return self.key.decode()
        except UnicodeDecodeError:
            return base64.b64encode(self.key).decode()

    @property
    def encoded(self) -> bool:
        """True if the text is base64."""
        try:
            self.key.decode()
        except UnicodeDecodeError:
            return True
        return False

    @property
    def brief(self) -> str:
        """The text with its invisible characters drawn; a long one is shortened in the middle, and
        an empty key gets a name."""
        text = drawn(self.text)
        if not text:
            return "(empty)"
        return text if len(text) <= _BRIEF else f"{text[: _BRIEF - 9]}…{text[-8:]}"

    @property
    def segment(self) -> str:
        """The key in an address or a form field."""
        return key_to_path(self.key)

    def path(self, flow: str) -> str:
        """The address of the key's page."""
        return f"/flows/{flow}/keys/{self.segment}"
