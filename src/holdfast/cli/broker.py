"""`holdfast broker`: run the embedded broker until SIGTERM or Ctrl-C.

Written with argparse, because a broker that must answer within half a second of its start cannot
spend a quarter of it on importing typer.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast import config
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError, HoldfastError

_EPILOG = """\
examples:
  holdfast broker
  holdfast broker --listen 127.0.0.1:0 --data-dir /tmp/broker
  holdfast broker --secure --listen 0.0.0.0:9093
  holdfast broker --flush os --set default_partitions=6

Any setting can also be given as HOLDFAST_BROKER_<NAME> or under [broker] in holdfast.toml.
"""


def run(name: str, arguments: Sequence[str]) -> int:
    """Parses the flags and runs a broker. Returns its exit code."""
    flags = vars(parser().parse_args(arguments))
    file: Path | None = flags.pop("config")
    try:
        for setting, value in flags.pop("set"):
            flags[setting] = value
        settings = config.load(BrokerSettings, "broker", flags=flags, file=file)
        from holdfast.broker import server

        return server.run(settings)
    except HoldfastError as error:
        print(f"holdfast broker: {error}", file=sys.stderr)
        return 2 if isinstance(error, ConfigError) else 1


def parser() -> argparse.ArgumentParser:
    """The flags of the command."""
    parser = argparse.ArgumentParser(
        prog="holdfast broker",
        description="Run the embedded broker until SIGTERM or Ctrl-C.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESSES",
        help="[PROTOCOL://]HOST:PORT to listen on, with commas between; port 0 takes a free one",
    )
    parser.add_argument(
        "--advertised",
        metavar="ADDRESSES",
        help="HOST:PORT that clients are told to use, one for each address",
    )
    parser.add_argument(
        "--secure",
        action="store_const",
        const=True,
        help="encrypt, demand a login and control access; makes all that is needed for it",
    )
    parser.add_argument(
        "--insecure-listen",
        action="store_const",
        const=True,
        help="listen beyond loopback without encryption and login, on a network that is trusted",
    )
    parser.add_argument("--data-dir", metavar="DIR", help="where records are kept")
    parser.add_argument(
        "--flush",
        choices=("sync", "os"),
        help="when a record is acknowledged: once it is on disk, or in the page cache",
    )
    parser.add_argument("--http", metavar="HOST:PORT", help="address of /metrics and /healthz")
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="settings file (default: holdfast.toml, if there is one)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="any other setting; may be repeated",
    )
    return parser


def _setting(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    known = BrokerSettings.__dataclass_fields__
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} must be written as NAME=VALUE")
    if name not in known:
        raise argparse.ArgumentTypeError(f"there is no setting {name!r}; known: {', '.join(known)}")
    return name, value
