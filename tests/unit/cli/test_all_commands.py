"""What holds of every command: its line in the list, wrong use, JSON, completion, Ctrl-C."""

import importlib.metadata
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from ecphoria.cli.main import ADDED, COMMANDS, MOVED, load
from tests.each import for_each
from tests.unit.cli.conftest import COUNTS, Answer, Command, StubService, job
from tests.unit.cli.leaves import LEAVES, fillers

HEAVY = ("pydantic", "httpx", "numpy", "ecphoria.client", "ecphoria.records", "ecphoria.wire")
WITHOUT_ANSWER = {
    "serve", "worker", "demo", "neo4j up", "neo4j down", "neo4j logs", "neo4j shell",
    "mcp", "mcp hook", "mcp config", "explore",
    "tenants export", "tenants import", "backup create", "backup restore",
    "keys revoke", "dormancy pin",
}  # fmt: skip
"""Commands that print only a message, or text that is no record."""


def test_the_list_says_what_the_docstrings_say() -> None:
    for name, listed in COMMANDS.items():
        assert (load(name).help or "").split("\n")[0] == listed.help, name
    for module in {listed.module for listed in COMMANDS.values()} - {ADDED}:
        first = next(name for name, listed in COMMANDS.items() if listed.module == module)
        assert load(first).name == first
        commands = sys.modules[f"ecphoria.cli.{module}"].commands
        there = {info.name or info.callback.__name__ for info in commands.registered_commands}
        there |= {info.name for info in commands.registered_groups}
        assert there == {name for name, each in COMMANDS.items() if each.module == module}


@pytest.mark.parametrize("words", ["eval", "eval locomo --data x.json", "calibrate --data mini"])
def test_without_the_evaluation_its_commands_say_how_to_get_it(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    done = command(*words.split())
    assert (done.code, done.out) == (1, "")
    assert "which is not installed: run pip install -e . -e" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys\nfrom ecphoria.cli.main import run\ntry: run(['--help'])\nexcept SystemExit: "
        f"print(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stderr.split() == []


def bad_values(command: Any) -> Iterator[list[str]]:
    """List options with a value that they do not take."""
    for parameter in command.params:
        if parameter.param_type_name != "option" or parameter.is_flag:
            continue
        option, kind = parameter.opts[-1], parameter.type_descriptor.annotation
        if parameter.metavar == "TIME":
            yield [option, "yesterday"]
        elif parameter.metavar == "KEY=VALUE":
            yield [option, "nothing"]
        elif kind in {int, float} or (isinstance(kind, type) and issubclass(kind, Enum)):
            yield [option, "nonsense"]
            if parameter.min is not None:
                yield [option, str(parameter.min - 1)]


@pytest.mark.parametrize("name", LEAVES)
def test_wrong_use_ends_with_two(command: Command, name: str, tmp_path: Path) -> None:
    words, leaf = name.split(), LEAVES[name]
    file = tmp_path / "nowhere" / "missing.json"
    ways = [["--no-such-option"]]
    needed = fillers(leaf, file)
    ways += [needed + bad for bad in bad_values(leaf)]
    if needed:
        ways.append([])
    for way in ways:
        done = command(*words, *way, feed="")
        assert done.code == 2, (way, done)
        assert done.out == ""
        assert done.err


@pytest.mark.parametrize("name", MOVED)
def test_a_moved_command_tells_its_new_name(command: Command, name: str) -> None:
    done = command(*name.split(), "x", "--json")
    assert (done.code, done.out) == (2, "")
    told = " ".join(done.err.replace("│", " ").split())
    assert f"`{name}` moved to {MOVED[name]}." in told, told


@pytest.mark.parametrize(
    "words",
    [
        "import FILE", "config set gate FILE", "calibrate --data FILE.jsonl",
        "calibrate --out FILE", "backup restore FILE", "tenants import FILE",
        "eval locomo --data FILE", "eval all --data FILE", "eval compare FILE FILE",
        "eval dynamics --out FILE",
        "list -n 99999999999999999999", "neo4j logs -n 99999999999999999999",
        "strategy try x --option nothing", "config set schedule.daily_at noon", "forget",
    ],
)  # fmt: skip
def test_a_missing_file_and_a_bad_word_end_with_two(
    command: Command, words: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "nowhere" / "missing.json")
    done = command(*words.replace("FILE", file).split())
    assert (done.code, done.out) == (2, ""), done.err


@for_each({name: (name, leaf) for name, leaf in LEAVES.items()})
def test_a_command_with_an_answer_has_json(named: tuple[str, Any]) -> None:
    name, leaf = named
    has = any("--json" in parameter.opts for parameter in leaf.params)
    assert has is (name not in WITHOUT_ANSWER and not name.startswith("eval "))


def interrupting(_: dict[str, object]) -> Answer:
    """Press Ctrl-C while the command waits for this answer."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    time.sleep(0.3)
    return 404, {"type": "/errors/not-found", "title": "t", "status": 404, "detail": "gone"}


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_says_what_goes_on(command: Command, service: StubService, tmp_path: Path) -> None:
    ident = "c" * 32
    service.routes["POST /v1/consolidation"] = 202, job(id=ident)
    service.routes[f"GET /v1/jobs/{ident}"] = interrupting
    done = command("consolidate")
    assert done.code == 130
    assert f"Interrupted. Job {ident} goes on" in done.err
    assert f"ecphoria jobs show {ident} --wait" in done.err
    service.routes["GET /v1/stats"] = 200, COUNTS
    service.routes["POST /v1/episodes/batch"] = interrupting
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "a"}\n', encoding="utf-8")
    done = command("import", str(file))
    assert done.code == 130
    assert "Run the same command again to go on from here; nothing is stored twice." in done.err
    service.routes["POST /v1/recall"] = interrupting
    done = command("recall", "x")
    assert (done.code, done.out, "Interrupted.\n" in done.err) == (130, "", True)


def test_the_beginning_of_an_id_is_enough(command: Command, service: StubService) -> None:
    jobs = [job(id="ab" * 16, state="done"), job(id="ac" * 16, state="done")]
    service.routes["GET /v1/jobs"] = 200, {"items": jobs}
    service.routes[f"GET /v1/jobs/{'ab' * 16}"] = 200, jobs[0]
    assert json.loads(command("jobs", "show", "ab", "--json").out)["id"] == "ab" * 16
    done = command("jobs", "show", "a")
    assert (done.code, done.out) == (2, "")
    assert "2 ids of jobs begin with `a`; give more of the id." in done.err
    assert command("jobs", "show", "f").code == 1
    listed = command("jobs", "list").out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ["ab" * 16, "ac" * 16]
    assert [json.loads(line)["id"] for line in command("jobs", "list", "--json").out.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(
    command: Command, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("_ECPHORIA_COMPLETE", f"source_{shell}")
    assert "_ECPHORIA_COMPLETE=complete_" in command().out
    monkeypatch.setenv("_ECPHORIA_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", "ecphoria jobs sh")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "ecphoria jobs sh")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert "show" in command().out
    for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS"):
        monkeypatch.setenv(name, "ecphoria rec")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert "recall" in command().out
