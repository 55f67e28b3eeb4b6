import gc
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecphoria.engine.assemble import maven_fetch
from ecphoria.engine.home import Jar
from ecphoria.errors import EngineError

JAR = Jar(
    group="org.example",
    artifact="thing",
    version="1.0",
    classifier="linux",
    sha256="0" * 64,
    folder="lib",
)
BODY = b"x" * 20_000


class Shelf(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == f"/maven/{JAR.path}"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(BODY) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        pass


@pytest.fixture
def mirror() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_jar_comes_from_the_mirror_into_its_place(mirror: str, tmp_path: Path) -> None:
    sizes: list[int] = []
    maven_fetch(f"{mirror}/maven/")(JAR, tmp_path, sizes.append)
    assert (tmp_path / JAR.path).read_bytes() == BODY
    assert sum(sizes) == len(BODY)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_mirror_without_the_jar_is_named_as_the_cause(mirror: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=re.escape(JAR.coordinate)) as caught:
        maven_fetch(f"{mirror}/elsewhere")(JAR, tmp_path, lambda _: None)
    assert caught.value.fields["reason"] == "jar-missing"
    del caught
    gc.collect()  # jgo leaves the refused answer open; let its warning fall here


def test_no_network_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="needs the network") as caught:
        maven_fetch("http://127.0.0.1:9")(JAR, tmp_path, lambda _: None)
    assert caught.value.fields["reason"] == "no-network"


def test_a_cache_that_cannot_be_written_is_no_network_failure(mirror: str, tmp_path: Path) -> None:
    (tmp_path / "org").write_text("a file where a directory must be")
    with pytest.raises(EngineError) as caught:
        maven_fetch(f"{mirror}/maven")(JAR, tmp_path, lambda _: None)
    assert caught.value.fields["reason"] == "cannot-write"
