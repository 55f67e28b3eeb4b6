"""The real server, assembled and run: slow starts, so each test tells one whole story."""

import asyncio
import contextlib
import dataclasses
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from ecphoria.engine import Endpoint, Engine, EngineSettings, EngineState
from ecphoria.engine.assemble import silent
from ecphoria.engine.service import supervised
from ecphoria.errors import EngineError
from scripts.archive_classes import ARCHIVE
from tests.conftest import quick_engine

pytestmark = pytest.mark.engine

PROGRAM = """
import sys, time
from pathlib import Path
from ecphoria.engine import Engine, EngineSettings
engine = Engine(
    EngineSettings(
        home=Path(sys.argv[1]), cache=Path(sys.argv[2]), heap_mb=512, page_cache_mb=128,
        java_options=sys.argv[4],
    )
)
if sys.argv[3] == "up":
    print(engine.up().pid, flush=True)
else:
    with engine.running() as endpoint:
        print(endpoint.pid, flush=True)
        time.sleep(300)
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> EngineSettings:
    """One home for all, as its first start is slow; each test has a label of its own."""
    return quick_engine(tmp_path_factory.mktemp("engine") / "home", heap_mb=512)


@pytest.fixture
def engine(settings: EngineSettings) -> Iterator[Engine]:
    made = Engine(settings)
    yield made
    made.down()


def ask(endpoint: Endpoint, statement: str) -> list[list[object]]:
    answer = httpx.post(
        f"{endpoint.http_url}/db/neo4j/query/v2",
        json={"statement": statement},
        auth=(endpoint.user, endpoint.password),
        timeout=60,
    )
    rows: list[list[object]] = answer.raise_for_status().json()["data"]["values"]
    return rows


def command(settings: EngineSettings, what: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(settings.home), str(settings.cache), what,
            settings.java_options]  # fmt: skip


def second_server(settings: EngineSettings) -> object:
    """Start another server on the same store, under another name for it, and tell its end."""
    alias = settings.home.with_name("alias")
    alias.mkdir()
    (alias / "data").symlink_to(settings.home / "data")
    (alias / "password").write_text((settings.home / "password").read_text())
    with pytest.raises(EngineError) as caught:
        Engine(dataclasses.replace(settings, home=alias)).up()
    return caught.value.fields["reason"]


def wait_gone(pid: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.1)


def test_two_processes_one_server_that_survives_kill_and_goes_with_its_last_user(
    engine: Engine, settings: EngineSettings
) -> None:
    def up(_: int) -> int:
        done = subprocess.run(
            command(settings, "up"), capture_output=True, text=True, check=True, timeout=250
        )
        return int(done.stdout)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(up, range(2))
    assert first == second
    found = engine.status()
    assert found.state is EngineState.RUNNING
    assert found.endpoint is not None
    assert found.endpoint.pid == first
    assert stat.S_IMODE((settings.home / "password").stat().st_mode) == 0o600
    assert ask(found.endpoint, "RETURN gds.version()") == [["2.26.0"]]
    ask(found.endpoint, "CREATE (:Kept {n: 1})")
    if ARCHIVE.exists():
        assert str(ARCHIVE) in Path(f"/proc/{first}/maps").read_text(), "Java left it aside"
    assert second_server(settings) == "store-locked"

    os.kill(first, signal.SIGKILL)
    with subprocess.Popen(command(settings, "use"), stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        pid = int(user.stdout.readline())
        assert pid != first
        again = engine.status().endpoint
        assert again is not None
        assert again.bolt_uri == found.endpoint.bolt_uri
        assert ask(again, "MATCH (k:Kept) RETURN k.n") == [[1]]
        user.kill()
    wait_gone(pid, 60)
    assert engine.logs()[-1].endswith("Stopped.")
    assert engine.status().state is EngineState.STOPPED


async def test_a_server_that_dies_or_fails_is_started_again_until_it_is_taken_down(
    engine: Engine,
) -> None:
    async with supervised(engine, silent) as endpoint:
        await asyncio.to_thread(ask, endpoint, "CREATE (:Outlived {n: 1})")
        os.kill(endpoint.pid, signal.SIGKILL)
        again = await running_again(engine, endpoint.pid)
        assert again.bolt_uri == endpoint.bolt_uri
        assert await asyncio.to_thread(ask, again, "MATCH (k:Outlived) RETURN k.n") == [[1]]

        await fill_its_disk(engine, again)
        after = await running_again(engine, again.pid)
        assert after.bolt_uri == endpoint.bolt_uri
        assert await asyncio.to_thread(ask, after, "MATCH (k:Outlived) RETURN k.n") == [[1]]
        await asyncio.to_thread(ask, after, "CREATE (:Outlived {n: 2})")

        began = time.monotonic()
        assert await asyncio.to_thread(engine.down)
        assert time.monotonic() - began < 30
        assert engine.logs()[-1].endswith("Stopped.")
        await asyncio.sleep(3)
        assert engine.status().state is EngineState.STOPPED, "it was taken down on purpose"
    assert engine.status().state is EngineState.STOPPED


async def fill_its_disk(engine: Engine, endpoint: Endpoint) -> None:
    """Limit the size of its files, which stops its database as a full disk does."""
    psutil.Process(endpoint.pid).rlimit(psutil.RLIMIT_FSIZE, (65_536, 65_536))
    much = "UNWIND range(1, 20000) AS n CREATE (:Much {n: n, text: toString(n) + 'xxxxxxxxxxx'})"
    for _ in range(60):
        with contextlib.suppress(httpx.HTTPError, KeyError):
            await asyncio.to_thread(ask, endpoint, much)
        if engine.status().endpoint != endpoint or engine.status().state is EngineState.FAILED:
            return


async def running_again(engine: Engine, before: int) -> Endpoint:
    for _ in range(600):
        found = engine.status()
        if found.state is EngineState.RUNNING and found.endpoint and found.endpoint.pid != before:
            return found.endpoint
        await asyncio.sleep(0.1)
    raise AssertionError(engine.logs())


def test_a_taken_port_is_told_before_the_server_is_started(settings: EngineSettings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = int(listener.getsockname()[1])
        taken = EngineSettings(home=settings.home, cache=settings.cache, http_port=port)
        with pytest.raises(EngineError, match=str(port)) as caught:
            Engine(taken).up()
    assert caught.value.fields["reason"] == "port-taken"


def test_a_heap_that_the_machine_lacks_is_told(settings: EngineSettings) -> None:
    greedy = EngineSettings(
        home=settings.home, cache=settings.cache, heap_mb=2**30, page_cache_mb=128
    )
    with pytest.raises(EngineError) as caught:
        Engine(greedy).up()
    assert caught.value.fields["reason"] == "not-enough-memory"
