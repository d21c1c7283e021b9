"""TLS of the listeners: certificates, their reload, and the names of clients."""

import asyncio
import logging
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ConfigError

log = logging.getLogger(__name__)

CHECK_SECONDS = 2.0
"""How often the files of certificates are checked for changes."""

_SHORT_NAMES = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
_Stamps = dict[Path, tuple[int, int, int] | None]


class Certificates:
    """The TLS contexts of new connections, made again whenever a file of them changes.

    Open connections keep the context that they were made with. If the new files cannot be used, new
    connections get the last good context, and the reason is logged once.
    """

    def __init__(self, cert: Path, key: Path, client_ca: Path | None) -> None:
        """Raises ConfigError if a file cannot be used. `client_ca`: where a context demands a
        certificate of the client, one of these must have signed it."""
        self._files = (cert, key, client_ca)
        self._stamps = self._stamps_now()
        self._contexts = self._load()

    def context(self, demands_certificate: bool) -> ssl.SSLContext:
        """For one new connection. Without `client_ca` no certificate is demanded."""
        return self._contexts[demands_certificate]

    def refresh(self) -> None:
        """Loads the files again if one has changed. Works on any thread."""
        stamps = self._stamps_now()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            self._contexts = self._load()
        except ConfigError as error:
            log.error("%s The broker continues with the previous certificates", error)
        else:
            log.info("Loaded the certificates again: their files have changed")

    async def keep_fresh(self) -> None:
        """Refreshes until it is cancelled."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await asyncio.to_thread(self.refresh)

    def _load(self) -> dict[bool, ssl.SSLContext]:
        cert, key, client_ca = self._files
        try:
            return {False: _context(cert, key, None), True: _context(cert, key, client_ca)}
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise ConfigError(
                "The certificates cannot be used (tls_cert, tls_key, tls_client_ca under [broker]):"
                f" {error}. They must be PEM files, the key without a password."
            ) from None

    def _stamps_now(self) -> _Stamps:
        return {path: _stamp(path) for path in self._files if path is not None}


def _context(cert: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    # An empty password, because OpenSSL would ask for one on the terminal.
    context.load_cert_chain(cert, key, password="")
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Differs if the file was replaced or written, also through a link."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def subject_name(certificate: Mapping[str, Any] | None) -> str | None:
    """The subject of a verified certificate as RFC 2253 writes it, the last part first; None
    without a certificate.

    >>> subject_name({"subject": ((("organizationName", "Ops"),), (("commonName", "web"),))})
    'CN=web,O=Ops'
    """
    if not certificate or not certificate.get("subject"):
        return None
    return ",".join(
        "+".join(f"{_SHORT_NAMES.get(name, name)}={_escaped(value)}" for name, value in part)
        for part in reversed(certificate["subject"])
    )


def _escaped(value: str) -> str:
    text = "".join(f"\\{each}" if each in ',+"\\<>;' else each for each in value)
    if text.startswith(("#", " ")):
        text = "\\" + text
    if text.endswith(" ") and len(text) > 1:
        text = text[:-1] + "\\ "
    return text
