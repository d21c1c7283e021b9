"""Random requests before the login, after it, and of a user with a few permissions."""

import random
import socket
import struct
import time
from collections import Counter
from pathlib import Path

from tests.access_table import CLUSTER, Caller, Needed
from tests.brokers import EmbeddedBroker, free_ports
from tests.frames import sized
from tests.fuzz.attack import BrokerBroken
from tests.fuzz.requests import GROUPS, TOPICS, TRANSACTIONS, Requests
from tests.fuzz.witness import connect, read_frame
from tests.secured import PASSWORD, add_users
from tests.tokens import Issuer, encoded_json, initial_message, write_key_set

from holdfast.broker.security.acls import OPERATIONS, ResourceType

ISSUER = Issuer("ES256")
REACTION_S = 20.0
USERS = ("nobody", "somebody")
REQUESTS_OF_A_LOGIN = 20


class SecuredTarget(EmbeddedBroker):
    """A plaintext address for the administrator, and one with a login for the attacker."""

    def __init__(self, directory: Path) -> None:
        port, self.login_port = free_ports(2)
        super().__init__(
            directory,
            {
                "listen": f"127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{self.login_port}",
                "sasl_mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
                "oauth_jwks": self._write_keys(directory),
                "access_control": True,
                "super_users": "User:ANONYMOUS",
                "idle_connection_seconds": 30,
            },
        )
        add_users(self.data_dir, *USERS)

    @staticmethod
    def _write_keys(directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        return write_key_set(directory / "keys.json", ISSUER)


class AccessAttack:
    """Sends random requests. A seed repeats them."""

    def __init__(self, broker: SecuredTarget, seed: int) -> None:
        self._broker = broker
        self._seed = seed
        self._requests = Requests()
        self.rounds: Counter[str] = Counter()

    def run(self, seconds: float) -> None:
        self._grant()
        end = time.monotonic() + seconds
        number = 0
        while time.monotonic() < end:
            number += 1
            source = random.Random(f"{self._seed} {number}")
            chosen = source.choice((self._before_login, self._odd_login, self._after_login))
            self.rounds[chosen.__name__.strip("_")] += 1
            try:
                chosen(source)
            except (AssertionError, OSError) as error:
                place = f"seed {self._seed}, round {number} ({chosen.__name__})"
                raise BrokerBroken(
                    f"{error!r} ({place})\n{self._broker.log_text()[-3000:]}"
                ) from error
        self._check()

    def _grant(self) -> None:
        """One user may do many things with a few of the resources that requests name."""
        names = {
            ResourceType.TOPIC: TOPICS[0],
            ResourceType.GROUP: GROUPS[0],
            ResourceType.TRANSACTIONAL_ID: TRANSACTIONS[0],
            ResourceType.CLUSTER: CLUSTER,
        }
        needed: list[Needed] = [
            (kind, name, operation)
            for kind, name in names.items()
            for operation in sorted(OPERATIONS[kind])
        ]
        admin = Caller(self._broker.port)
        admin.grant("User:somebody", *needed[::2])
        admin.close()

    def _before_login(self, source: random.Random) -> None:
        """Any request: it is answered or the connection is closed, and nothing else happens."""
        with connect(self._broker.login_port, REACTION_S) as connection:
            for _ in range(3):
                _, _, frame = self._requests.any(source)
                if not _exchange(connection, frame):
                    return

    def _odd_login(self, source: random.Random) -> None:
        mechanism = source.choice(
            (b"PLAIN", b"OAUTHBEARER", b"SCRAM-SHA-256", b"SCRAM-SHA-512", b"X", b"")
        )
        with connect(self._broker.login_port, REACTION_S) as connection:
            handshake = struct.pack(">hhihh", 17, 1, 1, -1, len(mechanism)) + mechanism
            if not _exchange(connection, handshake):
                return
            for _ in range(2):
                token = _token(source)
                message = struct.pack(">hhihi", 36, 1, 1, -1, len(token)) + token
                # Failed logins wait for up to five seconds: half of them are not awaited.
                if source.random() < 0.5:
                    connection.sendall(sized(message))
                    return
                if not _exchange(connection, message):
                    return

    def _after_login(self, source: random.Random) -> None:
        caller = Caller(self._broker.login_port, source.choice(USERS), PASSWORD)
        try:
            for _ in range(REQUESTS_OF_A_LOGIN):
                _, _, frame = self._requests.any(source)
                if not _exchange(caller.connection, frame):
                    return
        finally:
            caller.close()

    def _check(self) -> None:
        assert self._broker.running, "the broker has ended"
        text = self._broker.log_text()
        if "Traceback" in text:
            raise BrokerBroken(f"an error nobody handled (seed {self._seed})\n{text[-3000:]}")
        Caller(self._broker.login_port, USERS[0], PASSWORD).close()


def _token(source: random.Random) -> bytes:
    return source.choice(
        (
            source.randbytes(source.randint(0, 60)),
            b"\0nobody\0" + source.randbytes(5),
            b"n,,n=nobody,r=" + source.randbytes(3).hex().encode(),
            b"n,,n=" + source.randbytes(4) + b",r=abc",
            _bearer(source),
            b"c=biws,r=" + source.randbytes(3).hex().encode() + b",p=AAAA",
        )
    )


def _bearer(source: random.Random) -> bytes:
    """A token with a flaw: it is expired, its claims are odd, or some of its bytes are others."""
    claims = ISSUER.claims("somebody", seconds=-600)
    claims[source.choice(("exp", "nbf", "aud", "sub", "x"))] = source.choice(
        (None, 0, -1, 1e308, [], {}, ["kafka"], "x" * 5_000, True)
    )
    token = ISSUER.sign({**claims, "exp": 1})
    if source.random() < 0.3:
        token = f"{encoded_json(claims)}.{token}"
    message = bytearray(initial_message(token, source.choice((None, "somebody", "x" * 300))))
    for _ in range(source.choice((0, 0, 1, 5))):
        message[source.randrange(len(message))] = source.randrange(256)
    return bytes(message)


def _exchange(connection: socket.socket, frame: bytes) -> bool:
    """Returns False if the broker closes the connection. Requests without an answer end it, too."""
    try:
        connection.settimeout(REACTION_S)
        connection.sendall(sized(frame))
        if frame[:2] == b"\0\0":  # Produce may ask for no answer
            connection.settimeout(0.5)
        read_frame(connection)
    except (EOFError, ConnectionError):
        return False
    except TimeoutError:
        assert frame[:2] == b"\0\0", f"API {frame[:2]!r} was not answered"
        return False
    return True
