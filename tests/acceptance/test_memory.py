"""`Memory()`: the whole service in the caller's process, without server, key or tenant."""

import asyncio
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ecphoria import AsyncMemory, Memory
from ecphoria.app import engine_settings
from ecphoria.engine import Engine, EngineState
from ecphoria.errors import InvalidInput, Misconfigured
from ecphoria.settings import Settings
from scripts.archive_classes import with_schema
from tests.conftest import SMALL_ENGINE_VARIABLES

FORKED = """
import os
from concurrent.futures import ThreadPoolExecutor
from ecphoria import Memory

memory = Memory(home={home!r})
memory.remember("The kettle is green.", speaker="Ana")

def asked(_):
    return memory.recall("What colour is the kettle?").hits[0].episode.text

for answers in (0, 1):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if not answers or asked(0) == "The kettle is green." else 1
            memory.close()  # of no effect on the parent's service
        finally:
            os._exit(code)  # as multiprocessing ends its children
    assert os.waitpid(child, 0)[1] == 0
with ThreadPoolExecutor(3) as pool:
    print(*pool.map(asked, range(3)))
# The process ends without closing its memory.
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all: the first start of a home is slow."""
    home = tmp_path_factory.mktemp("memory") / "home"
    with_schema(home / "engine")
    return home


@pytest.fixture
def home(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in SMALL_ENGINE_VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ECPHORIA_NEO4J__URI", raising=False)
    return shared


def state(home: Path) -> EngineState:
    return Engine(engine_settings(Settings(home=home))).status().state


def services() -> int:
    return sum(thread.name == "ecphoria" for thread in threading.enumerate())


def test_memories_of_a_process_share_a_service_and_find_everything_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a machine that has a service, too.
    monkeypatch.setenv("ECPHORIA_SERVER__HOST", "192.0.2.1")
    monkeypatch.setenv("ECPHORIA_SERVER__TLS_CERTIFICATE", "/nowhere/cert.pem")
    monkeypatch.setenv("ECPHORIA_SERVER__TLS_KEY", "/nowhere/key.pem")
    # It holds Neo4j for both services, which saves a start.
    with Engine(engine_settings(Settings(home=home))).running():
        shared_and_again(home)
    assert state(home) is EngineState.STOPPED, "no memory uses it still"


def shared_and_again(home: Path) -> None:
    with Memory(home=home) as memory, Memory("acme", home=home) as other:
        assert services() == 1
        memory.remember("I moved to Lisbon in March.", speaker="Ana", session="2026-03-14")
        answer = memory.recall("Where does Ana live now?")
        assert answer.hits[0].episode.text == "I moved to Lisbon in March."
        assert answer.hits[0].score > 0
        assert other.recall("Where does Ana live now?").hits == ()
        with pytest.raises(InvalidInput):
            memory.remember("")
        folder = memory._service.socket.parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        memory.close()
        assert other.stats().episodes == 0
    assert services() == 0
    assert not folder.exists()
    assert state(home) is EngineState.RUNNING

    async def again() -> list[str]:
        async with AsyncMemory(home=home) as memory:
            hits = (await memory.recall("Where does Ana live now?")).hits
        return [hit.episode.text for hit in hits]

    assert asyncio.run(again()) == ["I moved to Lisbon in March."]
    assert services() == 0


def test_a_forked_child_leaves_the_service_to_its_parent_whose_end_leaves_nothing_running(
    home: Path, tmp_path: Path
) -> None:
    # So deep that no socket fits into it.
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED.format(home=str(home))],
        env={**os.environ, "TMPDIR": str(deep)},  # noqa: TID251
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    said = " ".join(["The kettle is green."] * 3)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{said}\n", "")
    until = time.monotonic() + 30
    while state(home) is not EngineState.STOPPED and time.monotonic() < until:
        time.sleep(0.1)
    assert state(home) is EngineState.STOPPED


def test_a_start_that_fails_tells_why_and_leaves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECPHORIA_RECALL__STRATEGY", "magic")
    with pytest.raises(Misconfigured, match="magic"):
        Memory(home=home)
    with pytest.raises(Misconfigured, match="magic"):
        asyncio.run(AsyncMemory(home=home).__aenter__())
    monkeypatch.delenv("ECPHORIA_RECALL__STRATEGY")
    file = home.with_name("file")
    file.touch()
    with pytest.raises(Misconfigured, match="file: File exists; choose another place"):
        Memory(home=file)
    for kind in (Memory, AsyncMemory):
        with pytest.raises(InvalidInput, match="`tenant` is empty"):
            kind("", home=home)
    assert services() == 0
    assert state(home) is EngineState.STOPPED
