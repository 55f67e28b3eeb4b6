"""The configuration that `ecphoria mcp config` prints."""

import json
import sys
import tomllib

import pytest

from tests.unit.cli.conftest import Command


def test_the_configuration_of_each_agent_can_be_read(command: Command) -> None:
    for agent in ("claude-code", "cursor"):
        entry = json.loads(command("mcp", "config", agent).out)["mcpServers"]["ecphoria"]
        assert entry["args"][0] == "mcp"
        assert "env" not in entry, "on this machine the key is found"
    entry = tomllib.loads(command("mcp", "config", "codex").out)["mcp_servers"]["ecphoria"]
    assert entry["args"][0] == "mcp"


def test_a_service_elsewhere_gets_its_key_from_the_environment(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECPHORIA_API_KEY", "eck_secret")
    printed = [
        command("mcp", "config", agent, "--server", "https://memory.example.org").out
        for agent in ("claude-code", "cursor", "codex")
    ]
    for text in printed:
        assert "ECPHORIA_API_KEY" in text
        assert "eck_secret" not in text
    assert json.loads(printed[0])["mcpServers"]["ecphoria"]["env"] == {
        "ECPHORIA_API_KEY": "${ECPHORIA_API_KEY}"
    }


def test_without_the_sdk_it_tells_what_to_install(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("ecphoria.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = command("mcp")
    assert done.code == 1
    assert "ecphoria[mcp]" in done.err
