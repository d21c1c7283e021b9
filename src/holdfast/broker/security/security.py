"""All that the broker knows of its clients: users, access control, logins."""

from holdfast.broker.metrics import Metrics
from holdfast.broker.security.access_file import AccessFile, Entries
from holdfast.broker.security.authorizer import Authorizer
from holdfast.broker.security.endpoints import Protocol
from holdfast.broker.security.logins import OAUTHBEARER, Logins, parse_mechanisms
from holdfast.broker.security.session import Session
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.work import STAY, Work
from holdfast.errors import ConfigError


class Security:
    """Made once for a broker. Makes the session of each connection."""

    def __init__(self, settings: BrokerSettings, metrics: Metrics) -> None:
        self.file = AccessFile(settings.data_dir)
        self.mechanisms = parse_mechanisms(settings.sasl_mechanisms)
        self.reauth_ms = settings.connections_max_reauth_ms
        tokens = None
        if OAUTHBEARER in self.mechanisms:
            from holdfast.broker.security.oauth import token_logins  # a large library

            tokens = token_logins(settings)
        self.logins = Logins(self.file, metrics, tokens)
        self.authorizer: Authorizer | None = None
        super_users = parse_principals(settings.super_users)
        if settings.access_control:
            self.authorizer = Authorizer(super_users, self.file.entries.acls)
            self.file.on_change = self._reload

    def session(self, protocol: Protocol, host: str) -> Session | None:
        """The session of a new connection; None if it has nothing to check."""
        if protocol is Protocol.PLAINTEXT and self.authorizer is None:
            return None
        return Session(self, host, protocol.has_login)

    def close(self) -> None:
        self.logins.close()

    def _reload(self, entries: Entries) -> Work[None]:
        assert self.authorizer is not None
        self.authorizer.load(entries.acls)
        yield STAY


def parse_principals(text: str) -> frozenset[str]:
    """The principals of the setting `super_users`."""
    principals = frozenset(each.strip() for each in text.split(";") if each.strip())
    for principal in principals:
        if not principal.startswith("User:") or principal == "User:*":
            raise ConfigError(
                f"super_users has {principal!r}: write each as User:NAME, with semicolons between."
            )
    return principals
