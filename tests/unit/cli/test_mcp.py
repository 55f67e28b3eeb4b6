"""The configuration that `ecphoria mcp config` prints."""

import json
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ecphoria.cli.mcp import Agent
from ecphoria.errors import install
from tests.unit.cli.conftest import Command, StubService


def entry_of(agent: Agent, text: str) -> dict[str, Any]:
    """Read what was printed as the agent does."""
    if agent is Agent.CODEX:
        entry = tomllib.loads(text)["mcp_servers"]["ecphoria"]
    else:
        key = {Agent.VSCODE: "servers", Agent.OPENCODE: "mcp"}.get(agent, "mcpServers")
        entry = json.loads(text)[key]["ecphoria"]
    found: dict[str, Any] = entry
    return found


def words_of(entry: dict[str, Any]) -> list[str]:
    command = entry["command"]
    return [*command] if isinstance(command, list) else [command, *entry["args"]]


@pytest.mark.parametrize("agent", Agent)
def test_the_configuration_of_each_agent_can_be_read(command: Command, agent: Agent) -> None:
    done = command("mcp", "config", agent.value)
    entry = entry_of(agent, done.out)
    assert words_of(entry)[1] == "mcp"
    assert not {"env", "environment", "env_vars"} & entry.keys(), "on this machine it is found"
    assert entry.get("type") == {Agent.VSCODE: "stdio", Agent.OPENCODE: "local"}.get(agent)
    assert done.err.startswith("Add this to ")
    assert done.err.count("\n") == 1


def test_the_home_that_is_named_is_passed_on(command: Command, tmp_path: Path) -> None:
    named = ("--home", str(tmp_path / "own home"))
    words = words_of(entry_of(Agent.CURSOR, command("mcp", "config", "cursor", *named).out))
    assert words[1:4] == ["mcp", *named]
    hooks = json.loads(command("mcp", "config", "claude-code", "--hooks", *named).out)["hooks"]
    said = shlex.split(hooks["Stop"][0]["hooks"][0]["command"])
    assert said[1:5] == ["mcp", "hook", *named]
    elsewhere = command("mcp", "config", "cursor", "--server", "https://memory.example.org")
    assert "--home" not in elsewhere.out, "it is a folder of this machine"


@pytest.mark.parametrize("agent", Agent)
def test_a_service_elsewhere_gets_its_key_from_the_environment(
    command: Command, monkeypatch: pytest.MonkeyPatch, agent: Agent
) -> None:
    monkeypatch.setenv("ECPHORIA_API_KEY", "eck_secret")
    text = command("mcp", "config", agent.value, "--server", "https://memory.example.org").out
    assert "eck_secret" not in text
    entry = entry_of(agent, text)
    assert words_of(entry)[-2:] == ["--server", "https://memory.example.org"]
    written = {
        Agent.CODEX: ["ECPHORIA_API_KEY"],
        Agent.CLAUDE_DESKTOP: {"ECPHORIA_API_KEY": "eck_..."},
        Agent.OPENCODE: {"ECPHORIA_API_KEY": "{env:ECPHORIA_API_KEY}"},
        Agent.CLAUDE_CODE: {"ECPHORIA_API_KEY": "${ECPHORIA_API_KEY}"},
        Agent.GEMINI_CLI: {"ECPHORIA_API_KEY": "${ECPHORIA_API_KEY}"},
    }
    found = entry.get("env") or entry.get("environment") or entry.get("env_vars")
    assert found == written.get(agent, {"ECPHORIA_API_KEY": "${env:ECPHORIA_API_KEY}"})


def test_an_unknown_agent_is_told_in_plain_words(command: Command) -> None:
    done = command("mcp", "config", "emacs")
    assert done.code == 2
    assert "'emacs' is not one of" in done.err
    assert "Value error" not in done.err


def test_without_the_sdk_it_tells_what_to_install(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A loaded part of a package is found without the package, so all of them go.
    for name in [name for name in sys.modules if name.startswith(("ecphoria.mcp", "mcp."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = command("mcp")
    assert done.code == 1
    assert install("mcp") in done.err


RECALLED = {
    "hits": [], "strategy": "ecphoria", "verdict": "answer", "answerable": True, "confidence": 0.9,
    "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4}, "reasons": [],
    "misses": [], "context": "Ana lives in Lisbon.",
    "context_tokens": 5, "timings_ms": {}, "trace_id": "f" * 32, "degraded": [],
}  # fmt: skip
STORED = {"id": "a" * 32, "turn": 1, "outcome": "created"}


def test_the_hook_gives_the_context_of_a_prompt_and_stores_it(
    command: Command, service: StubService
) -> None:
    service.routes["POST /v1/recall"] = 200, RECALLED
    service.routes["POST /v1/episodes"] = 201, STORED
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Where is Ana?"}
    assert command("mcp", "hook", feed=json.dumps(event)).out == "Ana lives in Lisbon.\n"
    assert [path for _, path, _ in service.seen] == ["/v1/recall", "/v1/episodes"]
    sent = service.seen[-1][2]
    assert (sent["text"], sent["role"], sent["session"]) == ("Where is Ana?", "user", "s")

    service.routes["POST /v1/recall"] = 200, RECALLED | {"answerable": False, "verdict": "refuse"}
    assert command("mcp", "hook", feed=json.dumps(event)).out == ""
    stop = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "In Lisbon."}
    assert command("mcp", "hook", feed=json.dumps(stop)).out == ""
    assert service.seen[-1][2]["role"] == "assistant"
    before = len(service.seen)
    assert command("mcp", "hook", feed=json.dumps(stop | {"hook_event_name": "Other"})).code == 0
    assert len(service.seen) == before
    del service.routes["POST /v1/recall"]
    assert command("mcp", "hook", feed=json.dumps(event)).code == 1, "2 would block the prompt"


def test_a_hook_without_an_event_tells_how_to_set_it(command: Command) -> None:
    for feed in ("", "[]", "{}"):
        done = command("mcp", "hook", feed=feed)
        assert (done.code, "--hooks" in done.err) == (1, True)
    hooks = json.loads(command("mcp", "config", "claude-code", "--hooks").out)["hooks"]
    assert hooks["UserPromptSubmit"][0]["hooks"][0]["command"].split()[1:3] == ["mcp", "hook"]
    assert "Only claude-code" in command("mcp", "config", "codex", "--hooks").err
