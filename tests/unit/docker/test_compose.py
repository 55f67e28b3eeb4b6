"""What compose.yaml and the Dockerfile set exists, and what a user must set is written down."""

import re
from pathlib import Path
from typing import Any

import yaml

from ecphoria.settings import variables

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"


def compose() -> dict[str, Any]:
    text = (DOCKER / "compose.yaml").read_text("utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def test_every_variable_stands_in_the_example_and_in_the_docs() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DOCKER / "compose.yaml").read_text("utf-8")))
    example = (DOCKER / ".env.example").read_text("utf-8")
    given = dict(re.findall(r"^(\w+)=(.*)$", example, flags=re.MULTILINE))
    assert given.keys() == asked
    page = (ROOT / "docs" / "howto" / "docker.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in asked)
    for name, default in re.findall(
        r"\$\{(\w+):-([^}]+)\}", (DOCKER / "compose.yaml").read_text("utf-8")
    ):
        assert given[name] == default


def test_what_the_service_is_given_are_settings_of_it() -> None:
    known = {name for name, _, _ in variables()}
    in_compose = compose()["services"]["service"]["environment"]
    dockerfile = (DOCKER / "Dockerfile").read_text("utf-8")
    in_image = re.findall(r"\b(ECPHORIA_\w+)=", dockerfile)
    assert in_image
    assert {*in_compose, *in_image} <= known


def test_nothing_is_open_to_the_network_and_nobody_is_root() -> None:
    for service in compose()["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert compose()["services"]["service"]["cap_drop"] == ["ALL"]
    for file in (DOCKER / "Dockerfile", DOCKER / "neo4j" / "Dockerfile"):
        (user,) = re.findall(r"^USER (\w+)$", file.read_text("utf-8"), flags=re.MULTILINE)
        assert user != "root"


def test_the_archive_of_the_build_holds_what_the_dockerfile_copies() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.*) \S+$",
        (DOCKER / "Dockerfile").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    named = {part.removeprefix("./") for line in copied for part in line.split()}
    script = (DOCKER / "build-service.sh").read_text("utf-8")
    allowed = re.findall(
        r"^!(\S+)$", (DOCKER / "Dockerfile.dockerignore").read_text("utf-8"), flags=re.MULTILINE
    )
    assert named == set(allowed)
    assert all(name in script for name in named)
