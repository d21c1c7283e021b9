"""Tokens of OAUTHBEARER: JSON Web Tokens (RFC 7519) with a signature (RFC 7515).

Only signatures with a private key are accepted: one with a shared secret, or none at all, would
let everyone who knows the public keys write tokens.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from holdfast.broker.security.scram import LoginFailed

CLOCK_SKEW_SECONDS = 30.0
"""How far the clocks of broker and issuer may differ. The default of Kafka."""
LEAST_RSA_BITS = 2048
LONGEST_NAME = 255

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

_HASHES: dict[str, hashes.HashAlgorithm] = {
    "256": hashes.SHA256(),
    "384": hashes.SHA384(),
    "512": hashes.SHA512(),
}
_CURVES: dict[str, ec.EllipticCurve] = {
    "ES256": ec.SECP256R1(),
    "ES384": ec.SECP384R1(),
    "ES512": ec.SECP521R1(),
}
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", *_CURVES)


class Key(NamedTuple):
    """A public key of the issuer."""

    key_id: str | None
    algorithm: str | None
    """The only algorithm of the key; None for any that fits."""
    public: PublicKey


class Claims(NamedTuple):
    """The claims that a token must have. None means that it does not matter."""

    issuer: str | None = None
    audience: str | None = None
    scope: str | None = None
    principal: str = "sub"
    """The claim with the name of the user."""


class Signed(NamedTuple):
    """A token that is not verified yet."""

    key_id: str | None
    algorithm: str
    claims: Mapping[str, Any]
    text: bytes
    signature: bytes


class Login(NamedTuple):
    user: str
    expires_at: float
    """Seconds since 1970."""


def parse_token(token: str) -> Signed:
    """Raises LoginFailed if the text is no signed token."""
    parts = token.split(".")
    if len(parts) != 3:
        raise LoginFailed("The token is not a signed JSON Web Token.")
    header, claims = _object(parts[0]), _object(parts[1])
    algorithm, key_id = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise LoginFailed(f"The token is not signed by one of {', '.join(ALGORITHMS)}.")
    if "crit" in header or not isinstance(key_id, str | None):
        raise LoginFailed("The header of the token is not understood.")
    return Signed(key_id, algorithm, claims, ".".join(parts[:2]).encode(), _bytes(parts[2]))


def verify(signed: Signed, key: Key) -> bool:
    """Returns True if the key has signed the token."""
    algorithm, public = signed.algorithm, key.public
    if key.algorithm not in (None, algorithm):
        return False
    digest = _HASHES[algorithm[2:]]
    try:
        if isinstance(public, ec.EllipticCurvePublicKey):
            curve = _CURVES.get(algorithm)
            if curve is None or public.curve.name != curve.name:
                return False
            public.verify(_dss(signed.signature, public.key_size), signed.text, ec.ECDSA(digest))
        elif algorithm.startswith("RS"):
            public.verify(signed.signature, signed.text, padding.PKCS1v15(), digest)
        elif algorithm.startswith("PS"):
            salted = padding.PSS(padding.MGF1(digest), digest.digest_size)
            public.verify(signed.signature, signed.text, salted, digest)
        else:
            return False
    except (InvalidSignature, ValueError):
        return False
    return True


def _dss(signature: bytes, bits: int) -> bytes:
    """RFC 7518 writes both numbers of a signature one after the other."""
    size = (bits + 7) // 8
    if len(signature) != 2 * size:
        raise ValueError("a signature of another length")
    first, second = signature[:size], signature[size:]
    return encode_dss_signature(int.from_bytes(first, "big"), int.from_bytes(second, "big"))


def check_claims(found: Mapping[str, Any], wanted: Claims, now: float) -> Login:
    """Who the token is for, and until when. Raises LoginFailed if it does not suffice."""
    expires_at = _number(found, "exp")
    if expires_at is None:
        raise LoginFailed("The token has no time of expiry (exp).")
    if now >= expires_at + CLOCK_SKEW_SECONDS:
        raise LoginFailed("The token has expired (exp).")
    for name in ("nbf", "iat"):
        begin = _number(found, name)
        if begin is not None and now < begin - CLOCK_SKEW_SECONDS:
            raise LoginFailed(f"The token is not valid yet ({name}).")
    if wanted.issuer is not None and found.get("iss") != wanted.issuer:
        raise LoginFailed("The token is of another issuer (iss).")
    if wanted.audience is not None and wanted.audience not in _words(found.get("aud"), False):
        raise LoginFailed("The token is for another audience (aud).")
    scopes = _words(found.get("scope", found.get("scp")), True)
    if wanted.scope is not None and not set(wanted.scope.split()) <= scopes:
        raise LoginFailed(f"The token lacks the scope {wanted.scope!r}.")
    user = found.get(wanted.principal)
    if not isinstance(user, str) or not 0 < len(user) <= LONGEST_NAME or not user.isprintable():
        raise LoginFailed(f"The token has no user name ({wanted.principal}).")
    return Login(user, expires_at)


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise LoginFailed(f"The token has no time in {name}.")
    return float(value)


def _words(value: Any, is_spaced: bool) -> set[str]:
    if isinstance(value, str):
        return set(value.split()) if is_spaced else {value}
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()


def parse_keys(data: bytes) -> list[Key]:
    """The usable keys of a JWK set (RFC 7517). Raises ValueError if it is none."""
    document = json.loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("it is not a JWK set")
    keys = []
    reason = "none is for signatures"
    for each in document["keys"]:
        # Sets may have keys for encryption, of kinds that this version does not know, and old ones
        # that are too weak. The others are used (RFC 7517, section 5).
        if isinstance(each, dict) and each.get("use", "sig") == "sig":
            make = _MAKERS.get(str(each.get("kty")))
            try:
                public = None if make is None else make(each)
            except (ValueError, KeyError, TypeError) as error:
                reason = str(error)
                continue
            if public is not None:
                keys.append(Key(each.get("kid"), each.get("alg"), public))
    if not keys:
        raise ValueError(f"it has no usable RSA or EC key: {reason}")
    return keys


def _rsa(document: Mapping[str, Any]) -> PublicKey | None:
    exponent, modulus = (_integer(document[name]) for name in ("e", "n"))
    if modulus.bit_length() < LEAST_RSA_BITS:
        raise ValueError(f"an RSA key has fewer than {LEAST_RSA_BITS} bits")
    return rsa.RSAPublicNumbers(exponent, modulus).public_key()


def _ec(document: Mapping[str, Any]) -> PublicKey | None:
    names = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
    algorithm = names.get(str(document.get("crv")))
    if algorithm is None:
        return None
    x, y = (_integer(document[name]) for name in ("x", "y"))
    return ec.EllipticCurvePublicNumbers(x, y, _CURVES[algorithm]).public_key()


_MAKERS: dict[str, Callable[[Mapping[str, Any]], PublicKey | None]] = {"RSA": _rsa, "EC": _ec}


def _integer(text: Any) -> int:
    return int.from_bytes(_decode(str(text)), "big")


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _bytes(text: str) -> bytes:
    try:
        return _decode(text)
    except (binascii.Error, ValueError):
        raise LoginFailed("The token is not a signed JSON Web Token.") from None


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(_bytes(text))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise LoginFailed("The token is not a signed JSON Web Token.")
    return document
