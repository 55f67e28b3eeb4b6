"""Which service a client calls, and as whom, if its caller does not say."""

from pathlib import Path

import pytest

from ecphoria import Client
from ecphoria.client.defaults import DEFAULT_URL, Target, target
from ecphoria.errors import BadFile

ELSEWHERE = "https://memory.example.org"
ENVIRONMENT = ("ECPHORIA_URL", "ECPHORIA_API_KEY", "ECPHORIA_TENANT")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ECPHORIA_HOME", str(tmp_path))
    return tmp_path


def test_the_key_of_the_local_service_acts_for_the_default_tenant(home: Path) -> None:
    assert target(None, None, None) == Target(url=DEFAULT_URL, key=None, tenant=None)
    (home / "admin.key").write_text("eck_local\n")
    assert target(None, None, None) == Target(url=DEFAULT_URL, key="eck_local", tenant="default")
    assert target(None, None, "acme").tenant == "acme"
    assert target("http://localhost:9000", None, None).key == "eck_local"


def test_the_local_key_is_not_sent_elsewhere(home: Path) -> None:
    (home / "admin.key").write_text("eck_local\n")
    assert target(ELSEWHERE, None, None) == Target(url=ELSEWHERE, key=None, tenant=None)


def test_the_environment_goes_before_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "admin.key").write_text("eck_local\n")
    monkeypatch.setenv("ECPHORIA_URL", ELSEWHERE)
    monkeypatch.setenv("ECPHORIA_API_KEY", "eck_set")
    assert target(None, None, None) == Target(url=ELSEWHERE, key="eck_set", tenant=None)
    monkeypatch.setenv("ECPHORIA_TENANT", "acme")
    assert target(None, None, None) == Target(url=ELSEWHERE, key="eck_set", tenant="acme")


def test_arguments_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, ELSEWHERE)
    given = Target(url="http://127.0.0.1:1", key="eck_given", tenant=None)
    assert target(given.url, given.key, None) == given


def test_a_key_that_cannot_be_read_is_told(home: Path) -> None:
    (home / "admin.key").mkdir()
    with pytest.raises(BadFile, match=r"admin\.key"):
        Client()
