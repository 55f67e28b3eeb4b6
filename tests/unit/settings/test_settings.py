import os
from pathlib import Path

import pytest

from ecphoria.errors import Misconfigured
from ecphoria.settings import INNER, Settings, read_settings, variables


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets."""
    for name in os.environ:  # noqa: TID251
        if name.upper().startswith("ECPHORIA_"):
            monkeypatch.delenv(name)


def test_groups_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECPHORIA_HOME", "~/memories")
    monkeypatch.setenv("ECPHORIA_NEO4J__URI", "bolt://db:7687")
    monkeypatch.setenv("ECPHORIA_NEO4J__PASSWORD", "hush")
    monkeypatch.setenv("ECPHORIA_SERVER__PORT", "0")
    monkeypatch.setenv("ECPHORIA_LIMITS__READ_S", "0.5")
    monkeypatch.setenv("ecphoria_log__level", "debug")
    settings = read_settings()
    assert settings.home == Path.home() / "memories"
    assert settings.neo4j.uri == "bolt://db:7687"
    assert settings.neo4j.password.get_secret_value() == "hush"
    assert settings.server.port == 0
    assert settings.limits.read_s == 0.5
    assert settings.log.level == "debug"


def test_nothing_set_means_a_private_local_service_with_auth() -> None:
    settings = read_settings()
    assert settings.neo4j.uri is None
    assert settings.server.host == "127.0.0.1"
    assert settings.auth.enabled


INNER_FIELDS = [
    (f"{name}__{inner}".upper(), name, inner)
    for name, field in Settings.model_fields.items()
    for inner, setting in getattr(field.annotation, "model_fields", {}).items()
    if INNER in setting.metadata
]


@pytest.mark.parametrize(("variable", "group", "field"), INNER_FIELDS)
def test_what_only_tests_change_is_no_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str, group: str, field: str
) -> None:
    monkeypatch.setenv(f"ECPHORIA_{variable}", "7")
    with pytest.raises(Misconfigured, match=f"ECPHORIA_{variable} is no setting"):
        read_settings()
    monkeypatch.delenv(f"ECPHORIA_{variable}")
    usual = getattr(getattr(read_settings(), group), field)
    monkeypatch.setenv(f"ECPHORIA_TEST_{variable}", "7")
    assert str(getattr(getattr(read_settings(), group), field)).startswith("7")
    with_more = read_settings(log={"level": "debug"}, **{group: {field: usual}})
    assert getattr(getattr(with_more, group), field) == usual


def test_nothing_else_is_read_from_the_environment_of_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ECPHORIA_TEST_SERVER__PORT", "99")
    assert read_settings().server.port == 8765
    assert len(INNER_FIELDS) == 13


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECPHORIA_NEO4J__URI", "")
    assert read_settings().neo4j.uri is None


def test_given_values_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECPHORIA_SERVER__PORT", "1234")
    monkeypatch.setenv("ECPHORIA_SERVER__HOST", "::1")
    settings = read_settings(server={"port": 99})
    assert (settings.server.port, settings.server.host) == (99, "::1")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ECPHORIA_NEO4J__URL", "did you mean ECPHORIA_NEO4J__URI"),
        ("ECPHORIA_POTR", "ECPHORIA_POTR"),
        ("ECPHORIA_NEO4J", "ECPHORIA_NEO4J"),
        ("ECPHORIA_NEO4J__URI__X", "ECPHORIA_NEO4J__URI__X"),
    ],
)
def test_an_unknown_variable_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(Misconfigured, match=told):
        read_settings()


def test_variables_of_the_client_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ECPHORIA_URL", "ECPHORIA_API_KEY", "ECPHORIA_TENANT"):
        monkeypatch.setenv(name, "x")
    assert read_settings() == read_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ECPHORIA_SERVER__PORT", "70000"),
        ("ECPHORIA_SERVER__BODY_LIMIT_MB", "0"),
        ("ECPHORIA_NEO4J__QUERY_TIMEOUT_S", "inf"),
        ("ECPHORIA_LIMITS__READ_S", "3601"),
        ("ECPHORIA_AUTH__BOOTSTRAP_KEY", "short"),
        ("ECPHORIA_EMBEDDER__PROVIDER", "magic"),
        ("ECPHORIA_LOG__FORMAT", "xml"),
        ("ECPHORIA_AUTH__ENABLED", "perhaps"),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=name) as caught:
        read_settings()
    if "KEY" in name:
        assert value not in str(caught.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "memory.example"])  # noqa: S104
def test_without_auth_only_loopback_is_served(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("ECPHORIA_AUTH__ENABLED", "false")
    assert not read_settings().auth.enabled
    monkeypatch.setenv("ECPHORIA_SERVER__HOST", host)
    with pytest.raises(Misconfigured, match="loopback"):
        read_settings()


def test_secrets_are_not_shown() -> None:
    shown = repr(
        Settings.model_validate(
            {"neo4j": {"password": "hush-hush"}, "auth": {"bootstrap_key": "hush-hush" * 5}}
        )
    )
    assert "hush-hush" not in shown


def test_every_variable_is_described() -> None:
    listed = list(variables())
    assert len(listed) == len({name for name, _, _ in listed})
    for name, _, field in listed:
        assert field.description, name
