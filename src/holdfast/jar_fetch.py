"""Fetches the jars that `jars` lists, from a Maven repository or a folder, and checks them."""

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from holdfast.backoff import Backoff
from holdfast.errors import ConfigError, NotFoundError, TerminalError, UnreachableError
from holdfast.jars import SPARK, VARIABLE, Jar, jar_folder, listed

Watch = Callable[[int, int], None]
"""Called with the bytes that are there, and those that will be."""

_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 16
_PART = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class JarSettings:
    """Where `holdfast jars` and the first `holdfast up` get Spark's jars from."""

    repository: str = "https://repo1.maven.org/maven2"
    """A Maven repository over HTTPS, such as a mirror; or a folder that has the jars."""


def fetch(source: str, watch: Watch) -> list[Path]:
    """Put the listed jars that are missing or damaged into their folder. Returns the paths of all.

    A jar gets its name only when it is whole and has its SHA-256, so a process that is killed
    leaves none that is not. Of two processes at once, the second waits and finds them there.
    """
    if "://" in source and not source.startswith("https://"):
        raise ConfigError(f"{source} cannot be used: give an address with https://, or a folder.")
    folder = jar_folder(SPARK)
    if any(not _is_whole(folder, jar) for jar in listed()):
        try:
            with _alone_in(folder):
                _fetch_into(folder, source, watch)
        except OSError as error:
            raise TerminalError(
                f"The jars cannot be put into {folder}: {error}. Make room or give access there, "
                f"or set {VARIABLE} to another folder."
            ) from None
    return [folder / jar.name for jar in listed()]


def _fetch_into(folder: Path, source: str, watch: Watch) -> None:
    for left in folder.glob(f"*{_PART}"):  # of a process that was killed: the lock is ours
        left.unlink()
    wanted = [jar for jar in listed() if not _is_whole(folder, jar)]
    total, done = sum(jar.bytes for jar in wanted), 0
    for jar in wanted:
        _fetch_one(folder, source, jar, partial(_watch_one, watch, done, total))
        done += jar.bytes


def _watch_one(watch: Watch, before: int, total: int, count: int) -> None:
    watch(before + count, total)


def _fetch_one(folder: Path, source: str, jar: Jar, watch: Callable[[int], None]) -> None:
    backoff = Backoff(1.0, 8.0)
    for attempt in range(1, _ATTEMPTS + 1):
        with tempfile.NamedTemporaryFile(dir=folder, suffix=_PART, delete=False) as file:
            part = Path(file.name)
            try:
                _copy(source, jar, file, watch)
                file.flush()
                os.fsync(file.fileno())
                part.chmod(0o644)
                part.replace(folder / jar.name)
            except UnreachableError:
                if attempt == _ATTEMPTS:
                    raise
            else:
                return
            finally:
                part.unlink(missing_ok=True)
        time.sleep(backoff.next())


def _copy(source: str, jar: Jar, file: IO[bytes], watch: Callable[[int], None]) -> None:
    """Writes the jar; raises if it is not the listed one."""
    digest, count = hashlib.sha256(), 0
    for chunk in _chunks(source, jar):
        file.write(chunk)
        digest.update(chunk)
        count += len(chunk)
        watch(min(count, jar.bytes))
        if count > jar.bytes:
            break
    if count < jar.bytes and "://" in source:
        raise UnreachableError(f"{source} has ended in the middle of {jar.name}.")
    if digest.hexdigest() != jar.sha256:
        raise TerminalError(
            f"{jar.name} of {source} is not the file that this version of Holdfast was built with: "
            f"its SHA-256 is not {jar.sha256}. It was not kept. Use another repository."
        )


def _chunks(source: str, jar: Jar) -> Iterator[bytes]:
    if "://" not in source:
        with _in_folder(Path(source), jar).open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
        return
    address = f"{source.rstrip('/')}/{jar.path}"
    request = Request(address, headers={"User-Agent": "holdfast"})  # noqa: S310  # https only
    try:
        with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
            while chunk := answer.read(_CHUNK_BYTES):
                yield chunk
    except HTTPError as error:
        if error.code in (404, 410):
            raise NotFoundError(f"{address} does not exist. Use another repository.") from None
        raise UnreachableError(f"{address} answered {error.code} {error.reason}.") from None
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        raise UnreachableError(
            f"{address} cannot be read: {getattr(error, 'reason', None) or error}. Without "
            "network, copy the jars from a machine that has them, and use `holdfast jars --from "
            "FOLDER`."
        ) from None


def _in_folder(folder: Path, jar: Jar) -> Path:
    """The jar in a folder of jars, one that has them by profile, or a local Maven repository."""
    for path in (folder / jar.name, folder / SPARK / jar.name, folder / jar.path):
        if path.is_file():
            return path
    raise NotFoundError(f"{jar.name} is not in {folder}.")


def _is_whole(folder: Path, jar: Jar) -> bool:
    try:
        with (folder / jar.name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time; the lock of a process that dies is free."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
