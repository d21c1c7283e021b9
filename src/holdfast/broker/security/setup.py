"""`holdfast broker --secure`: a CA, certificates, an admin user and the settings of clients.

Everything is made at the first start, in the folder `secure` of the data directory, and used again
at later ones. Only the broker's own user can read the folder.
"""

import datetime
import getpass
import ipaddress
import json
import logging
import secrets
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.addresses import parse_address
from holdfast.broker.log.files import replace_file
from holdfast.broker.security.access_file import AccessFile, Entries
from holdfast.broker.security.scram import HASHES, new_credential
from holdfast.broker.settings import BrokerSettings

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

log = logging.getLogger(__name__)

ADMIN = "admin"
_FOLDER = "secure"
_PRIVATE = 0o600
_DAY = datetime.timedelta(days=1)
_CA_DAYS = 3650
_CERTIFICATE_DAYS = 397
_RENEWED_BEFORE_DAYS = 30
_SHORTEST_PASSWORD = 8
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104


def secured(settings: BrokerSettings) -> BrokerSettings:
    """The settings with TLS, login and access control, where they do not say otherwise."""
    folder = settings.data_dir / _FOLDER
    addresses = [item.strip() for item in settings.listen.split(",") if item.strip()]
    users = {each.strip() for each in settings.super_users.split(";") if each.strip()}
    return replace(
        settings,
        listen=",".join(a if "://" in a else f"SASL_SSL://{a}" for a in addresses),
        advertised=settings.advertised or _advertised(addresses),
        tls_cert=settings.tls_cert or folder / "broker.pem",
        tls_key=settings.tls_key or folder / "broker.key",
        access_control=True,
        super_users=";".join(sorted(users | {f"User:{ADMIN}"})),
    )


def _advertised(addresses: list[str]) -> str | None:
    """None if a port is chosen later: then the addresses are advertised as they are."""
    reachable = [_reachable(address) for address in addresses]
    return None if any(each.endswith(":0") for each in reachable) else ",".join(reachable)


def _reachable(address: str) -> str:
    """The address as clients reach it: nobody connects to all interfaces."""
    text = address.rpartition("://")[2]
    host, port = parse_address(text, "listen")
    return f"{socket.gethostname()}:{port}" if host in _EVERYWHERE else text


def prepare(settings: BrokerSettings) -> None:
    """Makes what is missing. The data directory must be locked."""
    folder = settings.data_dir / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    if settings.tls_cert == folder / "broker.pem":
        _make_certificates(folder, settings)
    file = AccessFile(settings.data_dir)
    if ADMIN not in file.entries.users:
        password = _ask_password()
        # The settings first: a crash before the user exists makes them again.
        _write_client_settings(folder, _bootstrap(settings), password)
        credentials = {mechanism: new_credential(mechanism, password) for mechanism in HASHES}
        file.save(Entries({**file.entries.users, ADMIN: credentials}, file.entries.acls))
        log.info(
            "Made the user %r. Clients connect with the settings in %s (holdfast, with --config) "
            "or %s (Kafka's tools, with --command-config). Keep both files secret",
            ADMIN,
            folder / "holdfast.toml",
            folder / "client.properties",
        )


def _ask_password() -> str:
    """A password from the terminal, or a random one if there is none or nothing is typed."""
    while sys.stdin.isatty():
        typed = getpass.getpass(f"Password of the new user {ADMIN!r} (empty: make one): ")
        if not typed:
            break
        if len(typed) >= _SHORTEST_PASSWORD:
            return typed
        print(f"A password has at least {_SHORTEST_PASSWORD} characters.", file=sys.stderr)
    return secrets.token_urlsafe(24)


def _bootstrap(settings: BrokerSettings) -> str:
    """The first address that clients are told."""
    return (settings.advertised or settings.listen).split(",")[0].strip().rpartition("://")[2]


def _write_client_settings(folder: Path, bootstrap: str, password: str) -> None:
    ca = (folder / "ca.pem").resolve()
    settings = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": ADMIN,
        "sasl.password": password,
    }
    lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in settings.items()]
    text = f"[client]\nbootstrap = {json.dumps(bootstrap)}\n\n[client.kafka]\n" + "\n".join(lines)
    replace_file(folder / "holdfast.toml", f"{text}\n".encode(), mode=_PRIVATE)
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    login = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{ADMIN}" password="{quoted}";'
    )
    properties = {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": login.replace("\\", "\\\\"),
    }
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    replace_file(folder / "client.properties", text.encode(), mode=_PRIVATE)


# certificates


def _make_certificates(folder: Path, settings: BrokerSettings) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    ca_cert, ca_key = folder / "ca.pem", folder / "ca.key"
    if not ca_cert.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        # The key first: without its certificate both are made again.
        replace_file(ca_key, _key_pem(key), mode=_PRIVATE)
        pem = _certificate(key, None, settings).public_bytes(serialization.Encoding.PEM)
        replace_file(ca_cert, pem)
    cert = folder / "broker.pem"
    if cert.exists() and _is_fresh(cert):
        return
    signer = serialization.load_pem_private_key(ca_key.read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    issuer = x509.load_pem_x509_certificate(ca_cert.read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    made = _certificate(key, (issuer, signer), settings)
    replace_file(folder / "broker.key", _key_pem(key), mode=_PRIVATE)
    replace_file(cert, made.public_bytes(serialization.Encoding.PEM))


def _is_fresh(cert: Path) -> bool:
    from cryptography import x509

    left = x509.load_pem_x509_certificate(cert.read_bytes()).not_valid_after_utc - _now()
    return left > _RENEWED_BEFORE_DAYS * _DAY


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _key_pem(key: "ec.EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _certificate(
    key: "ec.EllipticCurvePrivateKey",
    issuer: "tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None",
    settings: BrokerSettings,
) -> "x509.Certificate":
    """A certificate of the broker, signed by the issuer; or of a CA, signed by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    is_ca = issuer is None
    common_name = "Holdfast CA" if is_ca else "Holdfast broker"
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    signer = key if issuer is None else issuer[1]
    days = _CA_DAYS if is_ca else _CERTIFICATE_DAYS
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer[0].subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_now() - _DAY)
        .not_valid_after(_now() + days * _DAY)
        .add_extension(x509.BasicConstraints(is_ca, 0 if is_ca else None), critical=True)
        .add_extension(
            x509.KeyUsage(not is_ca, False, False, False, False, is_ca, is_ca, False, False),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if not is_ca:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_general_name(host) for host in _hosts(settings)]),
            critical=False,
        ).add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _general_name(host: str) -> "x509.GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _hosts(settings: BrokerSettings) -> list[str]:
    """The names under which clients may reach the broker."""
    addresses = f"{settings.listen},{settings.advertised or ''}".split(",")
    hosts = {
        parse_address(address.rpartition("://")[2].strip(), "listen")[0]
        for address in addresses
        if address.strip()
    }
    hosts |= {"localhost", "127.0.0.1", "::1", socket.gethostname()}
    return sorted(hosts - _EVERYWHERE)
