"""An issuer of tokens for OAUTHBEARER, with its keys."""

import base64
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ISSUER, AUDIENCE = "https://issuer.test", "kafka"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_json(document: Any) -> str:
    return encoded(json.dumps(document).encode())


def _number(value: int) -> str:
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class Issuer:
    """Signs tokens with a key of its own."""

    def __init__(self, algorithm: str = "RS256", key_id: str = "key-1", bits: int = 2048) -> None:
        self.algorithm = algorithm
        self.key_id = key_id
        self._key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
        if algorithm.startswith("ES"):
            curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
            self._key = ec.generate_private_key(curves[algorithm])
        else:
            self._key = rsa.generate_private_key(65537, bits)

    def jwk(self) -> dict[str, str]:
        common = {"kid": self.key_id, "alg": self.algorithm, "use": "sig"}
        if isinstance(self._key, ec.EllipticCurvePrivateKey):
            point = self._key.public_key().public_numbers()
            name = {256: "P-256", 384: "P-384", 521: "P-521"}[self._key.key_size]
            return {
                **common, "kty": "EC", "crv": name, "x": _number(point.x), "y": _number(point.y),
            }  # fmt: skip
        numbers = self._key.public_key().public_numbers()
        return {**common, "kty": "RSA", "n": _number(numbers.n), "e": _number(numbers.e)}

    def claims(self, user: str = "admin", seconds: float = 600, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": ISSUER, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + seconds, **more,
        }  # fmt: skip

    def token(self, user: str = "admin", seconds: float = 600, **more: Any) -> str:
        return self.sign(self.claims(user, seconds, **more))

    def sign(self, claims: Any, **header: Any) -> str:
        head = {"alg": self.algorithm, "kid": self.key_id, "typ": "JWT", **header}
        text = f"{encoded_json(head)}.{encoded_json(claims)}"
        return f"{text}.{encoded(self._signature(text.encode()))}"

    def _signature(self, text: bytes) -> bytes:
        digest = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[
            self.algorithm[2:]
        ]
        if isinstance(self._key, ec.EllipticCurvePrivateKey):
            size = (self._key.key_size + 7) // 8
            numbers = decode_dss_signature(self._key.sign(text, ec.ECDSA(digest)))
            return b"".join(number.to_bytes(size, "big") for number in numbers)
        if self.algorithm.startswith("PS"):
            return self._key.sign(
                text, padding.PSS(padding.MGF1(digest), digest.digest_size), digest
            )
        return self._key.sign(text, padding.PKCS1v15(), digest)


def key_set(*issuers: Issuer) -> bytes:
    return json.dumps({"keys": [issuer.jwk() for issuer in issuers]}).encode()


def write_key_set(path: Path, *issuers: Issuer) -> Path:
    """Replaces the file in one step, as tools do that rotate keys."""
    new = path.with_suffix(".new")
    new.write_bytes(key_set(*issuers))
    new.replace(path)
    return path


def initial_message(token: str, user: str | None = None, more: bytes = b"") -> bytes:
    """The message of a client (RFC 7628)."""
    name = b"" if user is None else b"a=" + user.encode()
    return b"n," + name + b",\x01auth=Bearer " + token.encode() + b"\x01" + more + b"\x01"
