"""`server.json` describes the package and the server for registries of MCP servers."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from ecphoria.cli.connection import Key, Server, TenantName
from ecphoria.cli.main import COMMANDS
from ecphoria.mcp.tools import Tools

ROOT = Path(__file__).parents[3]
ARGUMENT = {"type", "name", "value", "description"}
VARIABLE = {"name", "description", "default", "isSecret"}


@pytest.fixture
def described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def project() -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = read["project"]
    return found


def test_it_keeps_the_rules_of_its_schema(described: dict[str, Any]) -> None:
    """The schema of 2025-12-11: members, patterns and lengths of those that are used."""
    assert described["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", described["name"])
    assert 3 <= len(described["name"]) <= 200
    assert 1 <= len(described["description"]) <= 100
    assert set(described["_meta"]) == {"io.modelcontextprotocol.registry/publisher-provided"}
    (package,) = described["packages"]
    assert package["transport"] == {"type": "stdio"}
    (of_runtime,) = package["runtimeArguments"]
    assert set(of_runtime) == ARGUMENT
    assert of_runtime["type"] == "named"
    (of_package,) = package["packageArguments"]
    assert set(of_package) == ARGUMENT - {"name"}
    assert of_package["type"] == "positional"
    for variable in package["environmentVariables"]:
        assert {"name", "description"} <= set(variable) <= VARIABLE


def test_it_names_the_package_and_the_command(
    described: dict[str, Any], project: dict[str, Any]
) -> None:
    (package,) = described["packages"]
    assert described["version"] == package["version"] == project["version"]
    assert (package["registryType"], package["identifier"]) == ("pypi", project["name"])
    assert package["runtimeHint"] == "uvx"
    (of_runtime,) = package["runtimeArguments"]
    assert "mcp" in project["optional-dependencies"]
    wanted = f"{project['name']}[mcp]=={project['version']}"
    assert (of_runtime["name"], of_runtime["value"]) == ("--from", wanted)
    assert project["name"] in project["scripts"]
    assert package["packageArguments"][0]["value"] in COMMANDS
    offered = {get_args(option)[1].envvar for option in (Server, Key, TenantName)}
    assert {variable["name"] for variable in package["environmentVariables"]} == offered
    (key,) = (each for each in package["environmentVariables"] if each.get("isSecret"))
    assert key["name"] == "ECPHORIA_API_KEY"


def test_it_lists_the_tools(described: dict[str, Any]) -> None:
    (ours,) = described["_meta"].values()
    assert ours["tools"] == [name for name in vars(Tools) if not name.startswith("_")]
