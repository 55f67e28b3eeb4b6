import stat
import threading
from pathlib import Path

import pytest

from ecphoria.engine.home import Home, ServerState, held, held_if_free
from ecphoria.errors import EngineError

STATE = ServerState(pid=7, bolt_port=1, http_port=2, keep=True)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "deep" / "home")
    made.create()
    return made


def test_the_home_is_closed_to_others(home: Home) -> None:
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    password = home.new_password()
    assert stat.S_IMODE(home.password_file.stat().st_mode) == 0o600
    assert home.read_password() == password
    assert len(password) >= 32


def test_state_survives_and_only_the_process_is_forgotten(home: Home) -> None:
    home.write_state(STATE)
    assert home.read_state() == STATE
    home.write_state(STATE.stopped())
    assert home.read_state() == ServerState(pid=None, bolt_port=1, http_port=2, keep=False)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_state_that_cannot_be_read_is_none(home: Home, text: str) -> None:
    home.write_state(STATE)
    (home.root / "run" / "state.json").write_text(text)
    assert home.read_state() is None


def test_a_place_that_cannot_be_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError) as caught:
        Home(tmp_path / "file" / "home").create()
    assert caught.value.fields["reason"] == "cannot-write"


def test_one_holder_at_a_time_and_the_next_is_told_to_wait(home: Home) -> None:
    waits = threading.Event()
    order: list[str] = []

    def second() -> None:
        with held(home.lock, waiting=waits.set):
            order.append("second")

    thread = threading.Thread(target=second)
    with held(home.lock):
        thread.start()
        assert waits.wait(5)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_users_share_and_keep_others_from_holding_alone(home: Home) -> None:
    shared = held(home.users, shared=True), held(home.users, shared=True)
    with shared[0], shared[1], held_if_free(home.users) as alone:
        assert not alone
    with held_if_free(home.users) as alone:
        assert alone
