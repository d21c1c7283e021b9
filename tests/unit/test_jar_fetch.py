"""Jars arrive whole and checked, or not at all."""

import hashlib
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.clients import wait_until

from holdfast import jar_fetch
from holdfast.errors import ConfigError, NotFoundError, TerminalError, UnreachableError
from holdfast.jar_fetch import fetch
from holdfast.jars import SPARK, VARIABLE, Jar

CONTENTS = {name: name.encode() * 50_000 for name in ("alpha", "beta")}
JARS = tuple(
    Jar("org.example", name, "1.0", len(content), hashlib.sha256(content).hexdigest())
    for name, content in CONTENTS.items()
)
FETCH = (
    "import sys; sys.path.insert(0, {root!r});"
    "from tests.unit.test_jar_fetch import JARS; from holdfast import jar_fetch;"
    "jar_fetch.listed = lambda: JARS; jar_fetch.fetch({source!r}, lambda *_: None)"
)


class Repository(ThreadingHTTPServer):
    """A Maven repository over HTTPS."""

    def __init__(self, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.files = {jar.path: CONTENTS[jar.artifact] for jar in JARS}
        self.requested: list[str] = []
        self.cut = 0
        """The number of answers that end in the middle."""
        self.going_on = threading.Event()
        """Cleared: an answer stops in the middle and waits."""
        self.going_on.set()
        self.halfway = threading.Event()

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.server.requested.append(path)
        content = self.server.files.get(path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        if self.server.cut:
            self.server.cut -= 1
            return
        if not self.server.going_on.is_set():
            self.server.halfway.set()
            self.server.going_on.wait(60)
        self.wfile.write(content[half:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    certificate = tmp_path / "server.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(certificate), "-out", str(tmp_path / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    with certificate.open("a") as both:
        both.write((tmp_path / "cert.pem").read_text())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    server = Repository(certificate)
    thread = threading.Thread(target=server.serve_forever, name="repository")
    thread.start()
    yield server
    server.going_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "jars"))
    monkeypatch.setattr(jar_fetch, "listed", lambda: JARS)
    monkeypatch.setattr("holdfast.jar_fetch.time.sleep", lambda seconds: None)
    return tmp_path / "jars" / SPARK


def present(folder: Path) -> dict[str, bytes]:
    return {path.stem.partition("-")[0]: path.read_bytes() for path in folder.glob("*.jar")}


def ignore(done: int, total: int) -> None:
    pass


def test_jars_come_over_https_once_with_their_progress(
    repository: Repository, folder: Path
) -> None:
    seen: list[tuple[int, int]] = []
    paths = fetch(repository.address + "/", lambda *progress: seen.append(progress))
    assert [path.parent for path in paths] == [folder] * 2
    assert present(folder) == CONTENTS
    total = sum(map(len, CONTENTS.values()))
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)
    fetch(repository.address, ignore)
    assert repository.requested == [jar.path for jar in JARS]


def test_a_damaged_jar_is_fetched_again(repository: Repository, folder: Path) -> None:
    fetch(repository.address, ignore)
    (folder / "beta-1.0.jar").write_bytes(b"damaged")
    fetch(repository.address, ignore)
    assert present(folder) == CONTENTS
    assert [path.count("beta") for path in repository.requested] == [0, 2, 2]


@pytest.mark.parametrize("change", [b"x", b""])
def test_a_jar_with_another_hash_is_refused(
    repository: Repository, folder: Path, change: bytes
) -> None:
    content = CONTENTS["alpha"]
    repository.files[JARS[0].path] = content + b"x" if change else b"X" + content[1:]
    with pytest.raises(TerminalError, match="not the file that this version"):
        fetch(repository.address, ignore)
    assert [path.name for path in folder.iterdir()] == [".lock"]


def test_an_answer_that_ends_in_the_middle_is_asked_for_again(
    repository: Repository, folder: Path
) -> None:
    repository.cut = 2
    fetch(repository.address, ignore)
    assert present(folder) == CONTENTS
    (folder / "beta-1.0.jar").unlink()
    repository.cut = 3
    with pytest.raises(UnreachableError):
        fetch(repository.address, ignore)
    assert present(folder).keys() == {"alpha"}


def test_a_repository_without_the_jar_or_without_an_answer_is_named(
    repository: Repository, folder: Path
) -> None:
    with pytest.raises(
        NotFoundError, match=r"/other/org/example/alpha/1\.0/alpha-1\.0\.jar does not"
    ):
        fetch(f"{repository.address}/other", ignore)
    with pytest.raises(UnreachableError, match="holdfast jars --from FOLDER"):
        fetch("https://127.0.0.1:1", ignore)
    with pytest.raises(ConfigError, match="https://"):
        fetch("http://127.0.0.1:1", ignore)


def test_a_server_with_an_unknown_certificate_is_not_trusted(
    repository: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "none.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    with pytest.raises(UnreachableError, match="certificate"):
        fetch(repository.address, ignore)


def test_a_killed_fetch_leaves_no_jar_that_is_not_whole(
    repository: Repository, folder: Path
) -> None:
    repository.going_on.clear()
    root = str(Path(__file__).parents[2])
    code = FETCH.format(root=root, source=repository.address)
    process = subprocess.Popen([sys.executable, "-c", code])
    assert repository.halfway.wait(60)
    wait_until(lambda: any(p.stat().st_size for p in folder.glob("*.part")), "half of a jar")
    process.kill()
    process.wait()
    repository.going_on.set()
    assert present(folder) == {}
    fetch(repository.address, ignore)
    assert present(folder) == CONTENTS
    assert not list(folder.glob("*.part"))


def test_two_at_once_fetch_each_jar_once(repository: Repository, folder: Path) -> None:
    repository.going_on.clear()
    both = [threading.Thread(target=fetch, args=(repository.address, ignore)) for _ in range(2)]
    for thread in both:
        thread.start()
    assert repository.halfway.wait(60)
    repository.going_on.set()
    for thread in both:
        thread.join()
    assert present(folder) == CONTENTS
    assert repository.requested == [jar.path for jar in JARS]


@pytest.mark.parametrize("layout", ["flat", "profile", "maven"])
def test_a_folder_gives_them_without_network(folder: Path, tmp_path: Path, layout: str) -> None:
    source = tmp_path / "usb"
    for jar in JARS:
        place = {"flat": jar.name, "profile": f"{SPARK}/{jar.name}", "maven": jar.path}[layout]
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).write_bytes(CONTENTS[jar.artifact])
    fetch(str(source), ignore)
    assert present(folder) == CONTENTS


def test_a_folder_with_a_wrong_or_missing_jar_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alpha-1.0.jar").write_bytes(b"short")
    with pytest.raises(TerminalError, match="SHA-256"):
        fetch(str(tmp_path), ignore)
    (tmp_path / "alpha-1.0.jar").unlink()
    with pytest.raises(NotFoundError, match=r"alpha-1\.0\.jar is not in"):
        fetch(str(tmp_path), ignore)


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    with pytest.raises(TerminalError, match="cannot be put into"):
        fetch("https://127.0.0.1:1", ignore)
