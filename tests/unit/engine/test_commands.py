import contextlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from ecphoria.cli.engine import Run, add_engine_commands, drawn
from ecphoria.engine import Endpoint, Engine, EngineSettings, Progress, Stage
from tests.unit.engine.doubles import Repository, make_lock, write_java


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def app(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[typer.Typer]:
    """The commands on a home whose server is a pretended one, already assembled and up."""
    monkeypatch.delenv("ECPHORIA_HOME", raising=False)
    monkeypatch.setenv("ECPHORIA_URL", "http://127.0.0.1:9")

    def load(home: Path | None) -> EngineSettings:
        return EngineSettings(
            home=home or tmp_path / "home",
            cache=tmp_path / "cache",
            java=write_java(tmp_path / "java"),
            heap_mb=256,
            page_cache_mb=64,
        )

    @contextlib.contextmanager
    def connect(_: Endpoint) -> Iterator[Run]:
        def run(statement: str) -> Sequence[Mapping[str, object]]:
            asked.append(statement)
            return [
                {"node": {"embedding": [0.5] * 384}} if "node" in statement else {"[n]": [1, 2]}
            ]

        yield run

    app = typer.Typer()
    add_engine_commands(app, load=load, connect=connect)
    engine = Engine(load(None), lock=make_lock("neo4j"), fetch=Repository().fetch)
    engine.up()
    yield app
    engine.down()


def test_status_tells_the_address_but_not_the_password(app: typer.Typer, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 0
    assert "bolt://127.0.0.1:" in result.output
    assert "running" in result.output
    assert (tmp_path / "home" / "password").read_text() not in result.output


def test_status_has_json_without_the_password(app: typer.Typer, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["status", "--json"])
    found = json.loads(result.output)
    assert (found["state"], found["bolt"][:7]) == ("running", "bolt://")
    assert found["service"]["state"] == "does not answer"
    assert (tmp_path / "home" / "password").read_text() not in result.output


def test_down_then_status_says_stopped_with_exit_code_3(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["neo4j", "down"]).output == "stopped\n"
    assert CliRunner().invoke(app, ["neo4j", "down"]).output == "was not running\n"
    result = CliRunner().invoke(app, ["status"])
    assert (result.exit_code, "stopped" in result.output) == (3, True)
    assert "does not answer at http://127.0.0.1:9" in result.output


def test_logs_are_printed_as_they_are(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["neo4j", "logs", "-n", "1"]).output == "INFO  Started.\n"


def test_up_on_a_running_server_shows_it(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["neo4j", "up"])
    assert result.exit_code == 0
    assert "at `ecphoria neo4j down`" in result.output


def test_shell_runs_one_statement_and_keeps_brackets(app: typer.Typer, asked: list[str]) -> None:
    result = CliRunner().invoke(app, ["neo4j", "shell", "RETURN 1"])
    assert asked == ["RETURN 1"]
    assert [line.strip() for line in result.output.splitlines()] == ["[n]", "[1, 2]", "1 row"]


def test_shell_tells_the_length_of_a_vector(app: typer.Typer) -> None:
    output = CliRunner().invoke(app, ["neo4j", "shell", "RETURN node"]).output
    assert "{embedding: [0.5000, ... 384 numbers]}" in output


def test_shell_cuts_its_input_at_semicolons(app: typer.Typer, asked: list[str]) -> None:
    CliRunner().invoke(
        app, ["neo4j", "shell"], input="RETURN 1;\n\nMATCH (n)\nRETURN n;\nRETURN 'a;b'\n"
    )
    assert asked == ["RETURN 1", "\nMATCH (n)\nRETURN n", "RETURN 'a;b'"]


def test_without_a_terminal_progress_is_a_line_a_stage_and_a_tenth() -> None:
    out = io.StringIO()
    with drawn(Console(file=out, width=200)) as report:
        for done in range(101):
            report(Progress(stage=Stage.FETCH, done=done * 1_000_000, total=100_000_000, eta=5.0))
        report(Progress(stage=Stage.START))
        report(Progress(stage=Stage.READY))
    lines = out.getvalue().splitlines()
    assert lines[1] == "fetching Neo4j and GDS 10/100 MB, 5 s left"
    assert len(lines) == 12
    assert lines[-1] == "starting Neo4j"


def test_on_a_terminal_progress_is_a_bar() -> None:
    out = io.StringIO()
    with drawn(Console(file=out, width=100, force_terminal=True)) as report:
        report(Progress(stage=Stage.FETCH, done=50_000_000, total=100_000_000, eta=5.0))
    assert "50/100 MB, 5 s left" in out.getvalue()
