"""The engine's whole life, with a Java that only pretends to be a server."""

import asyncio
import errno
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from ecphoria.engine import Endpoint, Engine, EngineSettings, EngineState, Progress, Stage
from ecphoria.engine.assemble import silent
from ecphoria.engine.service import supervised
from ecphoria.errors import EngineError
from tests.unit.engine.doubles import STARTS, Repository, make_lock, write_java

LOCK = make_lock("neo4j", "gds-proc")
Make = Callable[..., Engine]
USER = """
import sys, time
from pathlib import Path
from ecphoria.engine import Engine, EngineSettings
from tests.unit.engine.doubles import Repository, make_lock
base = Path(sys.argv[1])
settings = EngineSettings(
    home=base / "home", cache=base / "cache", java=base / "java", heap_mb=256, page_cache_mb=64
)
with Engine(
    settings, lock=make_lock("neo4j", "gds-proc"), fetch=Repository().fetch
).running() as endpoint:
    print(endpoint.pid, flush=True)
    time.sleep(60)
"""
DYING = """
import ctypes, os, threading, time
threading.Thread(target=lambda: (time.sleep(1.0), os._exit(0))).start()
ctypes.CDLL(None).pthread_exit(None)
"""
"""Its first thread ends at once, another one later."""


FAILS = f"""{STARTS}
(while [ ! -e "$NEO4J_HOME/fail" ]; do kill -0 $$ || exit; sleep 0.02; done; rm "$NEO4J_HOME/fail"
echo 'ERROR The database has encountered a critical error, and needs to be restarted.') &"""
"""Starts well; its database stops when the file `fail` appears."""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Engine] = []

    def build(
        *, behaviour: str = STARTS, bolt_port: int | None = None, timeout: float = 20.0
    ) -> Engine:
        settings = EngineSettings(
            home=tmp_path / "home",
            cache=tmp_path / "cache",
            java=write_java(tmp_path / "java", behaviour=behaviour),
            heap_mb=256,
            page_cache_mb=64,
            bolt_port=bolt_port,
            start_timeout_s=timeout,
        )
        made.append(Engine(settings, lock=LOCK, fetch=Repository().fetch))
        return made[-1]

    yield build
    for engine in made:
        engine.down()


def reason_of(engine: Engine) -> object:
    with pytest.raises(EngineError) as caught:
        engine.up()
    return caught.value.fields["reason"]


def gone(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_up_reports_its_stages_and_status_tells_the_endpoint(make: Make) -> None:
    engine = make()
    seen: list[Progress] = []
    endpoint = engine.up(seen.append)
    stages = [step.stage for step in seen if step.stage not in {Stage.CHECK, Stage.FETCH}]
    assert stages == [Stage.PREPARE, Stage.START, Stage.READY]
    now = engine.status()
    assert (now.state, now.endpoint, now.keep) == (EngineState.RUNNING, endpoint, True)
    assert now.memory_bytes > 0
    assert endpoint.password not in repr(now)


def test_the_password_is_private_and_not_on_a_command_line(make: Make, tmp_path: Path) -> None:
    endpoint = make().up()
    assert stat.S_IMODE((tmp_path / "home" / "password").stat().st_mode) == 0o600
    seen = (tmp_path / "home" / "password.seen").read_text().split()
    assert seen == ["dbms", "set-initial-password", endpoint.password]
    assert list((tmp_path / "home" / "run" / "tmp").iterdir()) == []


def test_up_again_finds_the_running_server(make: Make) -> None:
    first = make().up()
    assert make().up() == first


def test_down_stops_cleanly_and_the_next_start_keeps_ports_and_password(make: Make) -> None:
    engine = make()
    first = engine.up()
    assert engine.down()
    assert engine.logs()[-1] == "Stopped."
    assert engine.status().state is EngineState.STOPPED
    assert not engine.down()
    again = engine.up()
    assert (again.bolt_uri, again.password) == (first.bolt_uri, first.password)
    assert again.pid != first.pid


def test_a_killed_server_is_noticed_and_replaced(make: Make) -> None:
    engine = make()
    first = engine.up()
    os.kill(first.pid, signal.SIGKILL)
    assert gone(first.pid)
    assert engine.status().state is EngineState.STOPPED
    assert engine.up().pid != first.pid


def failed(engine: Engine, home: Path) -> Endpoint:
    first = engine.up()
    (home / "fail").touch()
    deadline = time.monotonic() + 10
    while engine.status().state is not EngineState.FAILED:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return first


def test_a_server_whose_database_stopped_is_replaced(make: Make, tmp_path: Path) -> None:
    engine = make(behaviour=FAILS)
    assert engine.revive() is None
    first = failed(engine, tmp_path / "home")
    second = engine.up()
    assert second.pid != first.pid
    assert failed(engine, tmp_path / "home") == second
    third = engine.revive()
    assert third is not None
    assert third.bolt_uri == second.bolt_uri
    assert engine.status().state is EngineState.RUNNING
    assert engine.revive() is None


def test_a_server_whose_database_stopped_waits_for_space(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make(behaviour=FAILS)
    first = failed(engine, tmp_path / "home")
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))
        for start in (engine.up, engine.revive):
            with pytest.raises(EngineError) as caught:
                start()
            assert caught.value.fields["reason"] == "disk-full"
        now = engine.status()
        assert (now.state, now.endpoint) == (EngineState.FAILED, first)
    assert engine.up().pid != first.pid


def test_a_server_that_dies_while_it_is_waited_for_is_replaced(make: Make, tmp_path: Path) -> None:
    engine = make()
    first = engine.up()
    (tmp_path / "home" / "logs" / "console.log").write_text("")  # as if it were still starting
    killing = threading.Timer(0.3, os.kill, (first.pid, signal.SIGKILL))
    killing.start()
    assert engine.up().pid != first.pid
    killing.join()


def test_a_server_is_not_gone_before_its_last_thread(make: Make, tmp_path: Path) -> None:
    engine = make()
    engine.up()
    engine.down()
    with subprocess.Popen([sys.executable, "-c", DYING]) as dying:
        process = psutil.Process(dying.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        state = tmp_path / "home" / "run" / "state.json"
        state.write_text(state.read_text().replace('"pid": null', f'"pid": {dying.pid}'))
        assert engine.up().pid != dying.pid
        assert dying.poll() is not None, "all of it is gone before the next is started"


def test_a_reused_process_number_is_not_taken_for_the_server(make: Make, tmp_path: Path) -> None:
    engine = make()
    engine.up()
    engine.down()
    state = tmp_path / "home" / "run" / "state.json"
    state.write_text(state.read_text().replace('"pid": null', f'"pid": {os.getpid()}'))
    assert engine.status().state is EngineState.STOPPED
    assert not engine.down()
    assert engine.up().pid != os.getpid()


def test_a_running_server_whose_note_is_lost_is_left_alone(make: Make, tmp_path: Path) -> None:
    engine = make()
    pid = engine.up().pid
    state = tmp_path / "home" / "run" / "state.json"
    note = state.read_text()
    state.unlink()
    with pytest.raises(EngineError, match=str(pid)) as caught:
        engine.up()
    assert caught.value.fields["reason"] == "store-locked"
    state.write_text(note)
    assert engine.status().state is EngineState.RUNNING


def test_two_at_once_get_one_server(make: Make) -> None:
    engines = [make(behaviour=f"sleep 0.5; {STARTS}") for _ in range(2)]
    found: list[Endpoint] = []
    seen: list[Stage] = []
    threads = [
        threading.Thread(
            target=lambda e=engine: found.append(e.up(lambda step: seen.append(step.stage)))
        )
        for engine in engines
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert seen.count(Stage.START) == 1
    assert Stage.WAIT in seen


def test_a_server_started_to_be_used_ends_with_its_last_user(make: Make) -> None:
    with make().running() as first:
        with make().running() as second:
            assert second == first
        assert make().status().state is EngineState.RUNNING
        assert not make().status().keep
    assert make().status().state is EngineState.STOPPED


async def test_the_watch_outlives_a_system_that_starts_no_process(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawn, refusals = os.posix_spawn, [OSError(errno.ENOMEM, "Cannot allocate memory")]

    def start(*given: Any, **how: Any) -> int:
        if refusals:
            raise refusals.pop()
        return spawn(*given, **how)

    engine = make()
    async with supervised(engine, silent) as first:
        monkeypatch.setattr(os, "posix_spawn", start)
        os.kill(first.pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while refusals or engine.status().state is not EngineState.RUNNING:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


def test_an_error_of_the_user_stops_the_server_too(make: Make) -> None:
    engine = make()
    with pytest.raises(KeyError), engine.running():
        raise KeyError
    assert engine.status().state is EngineState.STOPPED


def test_a_server_that_was_up_stays_after_its_users(make: Make) -> None:
    engine = make()
    first = engine.up()
    with engine.running() as used:
        assert used == first
    assert engine.status().endpoint == first


def test_up_keeps_a_server_that_was_started_to_be_used(make: Make) -> None:
    engine = make()
    with engine.running() as first:
        assert make().up() == first
    assert engine.status().endpoint == first


def test_a_killed_user_leaves_no_server_behind(make: Make, tmp_path: Path) -> None:
    make()
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=Path(__file__).parents[3],
    ) as user:
        assert user.stdout is not None
        pid = int(user.stdout.readline())
        user.kill()
    assert gone(pid)
    assert make().status().state is EngineState.STOPPED


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("exit 2", "store-locked"),
        ("echo 'FileLockException: Store and its lock file'; exit 1", "store-locked"),
        ("echo 'Invalid value'; exit 3", "bad-configuration"),
        ("echo 'Could not reserve enough space for object heap'; exit 1", "not-enough-memory"),
        ("echo 'java.net.BindException: Address already in use'; exit 1", "port-taken"),
        ("echo 'java.io.IOException: No space left on device'; exit 1", "disk-full"),
        ("echo 'something else'; exit 1", "start-failed"),
    ],
)
def test_an_early_end_is_explained(make: Make, behaviour: str, reason: str) -> None:
    engine = make(behaviour=behaviour)
    assert reason_of(engine) == reason
    assert engine.status().state is EngineState.STOPPED


def test_the_last_words_are_in_the_message(make: Make) -> None:
    with pytest.raises(EngineError, match="the reason why"):
        make(behaviour="echo 'the reason why'; exit 1").up()


def test_a_server_that_does_not_start_in_time_is_stopped(make: Make, tmp_path: Path) -> None:
    behaviour = 'echo $$ > "$NEO4J_HOME/pid"; echo still thinking'
    with pytest.raises(EngineError, match="still thinking") as caught:
        make(behaviour=behaviour, timeout=0.5).up()
    assert caught.value.fields["reason"] == "start-timeout"
    assert gone(int((tmp_path / "home" / "pid").read_text()))


def test_a_server_is_waited_for_as_long_as_its_log_grows(make: Make) -> None:
    slow = f"for i in 1 2 3 4 5 6; do echo step $i; sleep 0.5; done; {STARTS}"
    assert make(behaviour=slow, timeout=1.5).up().pid


def test_a_port_asked_for_that_is_taken_is_refused(make: Make) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = int(listener.getsockname()[1])
        assert reason_of(make(bolt_port=port)) == "port-taken"


def test_a_store_whose_password_is_lost_is_refused(make: Make, tmp_path: Path) -> None:
    engine = make()
    engine.up()
    engine.down()
    (tmp_path / "home" / "password").unlink()
    assert reason_of(engine) == "password-lost"


def test_asking_a_home_that_never_was_makes_none(make: Make, tmp_path: Path) -> None:
    engine = make()
    assert not engine.down()
    assert engine.logs() == []
    assert engine.status().state is EngineState.STOPPED
    assert not (tmp_path / "home").exists()
