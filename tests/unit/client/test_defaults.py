"""Which service a client calls, and as whom, if its caller does not say."""

from pathlib import Path

import httpx
import pytest

from ecphoria import Client
from ecphoria.client.defaults import DEFAULT_URL, Target, target
from ecphoria.client.exchange import error_of
from ecphoria.errors import BadFile

ELSEWHERE = "https://memory.example.org"
ENVIRONMENT = ("ECPHORIA_URL", "ECPHORIA_API_KEY", "ECPHORIA_TENANT")
OF_THE_SERVICE = (
    "ECPHORIA_SERVER__HOST",
    "ECPHORIA_SERVER__PORT",
    "ECPHORIA_SERVER__TLS_CERTIFICATE",
    "ECPHORIA_AUTH__BOOTSTRAP_KEY",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ENVIRONMENT + OF_THE_SERVICE:
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


def refused(called: Target) -> str:
    problem = {"type": "/errors/unauthenticated", "title": "t", "status": 401, "detail": "No key."}
    return error_of(httpx.Response(401, json=problem), called.about_key).message


def test_a_refused_key_that_nobody_gave_is_told_with_its_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"No key. No key was given, and there is no {home / 'admin.key'}: ECPHORIA_HOME names"
    assert refused(target(None, None, None)).startswith(said)
    (home / "admin.key").write_text("eck_local\n")
    told = refused(target(None, None, None))
    assert told.startswith(f"No key. The key is from {home / 'admin.key'}: ECPHORIA_HOME names")
    assert "eck_local" not in told
    for given in (target(None, "eck_given", None), target(ELSEWHERE, None, None)):
        assert refused(given) == "No key."
    monkeypatch.setenv("ECPHORIA_API_KEY", "eck_set")
    assert refused(target(None, None, None)) == "No key."


def test_a_key_that_cannot_be_read_is_told(home: Path) -> None:
    (home / "admin.key").mkdir()
    with pytest.raises(BadFile, match=r"admin\.key"):
        Client()


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({}, DEFAULT_URL),
        ({"PORT": "38765"}, "http://127.0.0.1:38765"),
        ({"PORT": "0"}, DEFAULT_URL),
        ({"PORT": "38765", "HOST": "0.0.0.0"}, "http://127.0.0.1:38765"),  # noqa: S104
        ({"HOST": "::1"}, "http://[::1]:8765"),
        ({"HOST": "192.168.7.9", "PORT": "80"}, "http://192.168.7.9:80"),
        ({"TLS_CERTIFICATE": "own.pem"}, "https://127.0.0.1:8765"),
    ],
)
def test_a_client_finds_the_service_with_the_settings_of_its_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], url: str
) -> None:
    (home / "admin.key").write_text("eck_local\n")
    for name, value in given.items():
        monkeypatch.setenv(f"ECPHORIA_SERVER__{name}", value)
    assert target(None, None, None) == Target(url=url, key="eck_local", tenant="default")
    monkeypatch.setenv("ECPHORIA_URL", ELSEWHERE)
    assert target(None, None, None).url == ELSEWHERE


def test_the_bootstrap_key_of_the_environment_is_used_for_its_own_service_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "admin.key").write_text("eck_local\n")
    monkeypatch.setenv("ECPHORIA_AUTH__BOOTSTRAP_KEY", "b" * 32)
    assert target(None, None, None) == Target(url=DEFAULT_URL, key="b" * 32, tenant="default")
    assert target(ELSEWHERE, None, None).key is None
    monkeypatch.setenv("ECPHORIA_API_KEY", "eck_set")
    assert target(None, None, None).key == "eck_set"
