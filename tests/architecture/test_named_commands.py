"""Every command that a page, a docstring or a message names exists, with its options."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ecphoria.cli.main import COMMANDS, MOVED, app, load
from tests.each import for_each

ROOT = Path(__file__).parents[2]
PAGES = [
    *(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"),  # it names what is gone
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "docker").rglob("*.md"),
]
SOURCES = [*(ROOT / "service").rglob("*.py")]
SHELLS = {"sh", "bash", "console"}
NAMED = re.compile(r"`((?:[\w./]*/)?ecphoria(?:\s+[^`]+)?)`", re.DOTALL)
OWN = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
ENDS = {"|", "||", "&&", ";", ">", "<", "#"}
PLACEHOLDER = re.compile(r"[A-Z][A-Z_-]*|\.\.\.|…|<.*|\[.*")
"""A word that stands for others: `ecphoria COMMAND`, `ecphoria ... --json`."""


def in_page(text: str) -> Iterator[str]:
    """Find the commands of a page: in its blocks for a shell, and in inline code."""
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.info.strip() in SHELLS:
            joined = token.content.replace("\\\n", " ")
            for line in joined.splitlines():
                found = re.search(r"(?:^|[\s(])((?:[\w.]+/)*ecphoria\s.*)", line)
                if found and not line.lstrip().startswith(("#", "docker", "kubectl", "pip", "uv")):
                    yield found[1]
        for child in token.children or ():
            if child.type == "code_inline" and re.match(r"(?:[\w.]+/)*ecphoria\s", child.content):
                yield child.content


def in_source(text: str) -> Iterator[str]:
    """Find the commands that docstrings and messages name between backticks."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from NAMED.findall(node.value)


def words_of(command: str) -> list[str]:
    """Split a command as a shell does, up to a pipe or a comment."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:  # a quotation that goes on in the next line
        words = command.split()
    end = next((place for place, word in enumerate(words) if word in ENDS), len(words))
    return [word.rstrip(";)") for word in words[1:end]]


def fault_of(command: str) -> str | None:
    """Tell what of a command does not exist; None if all of it does."""
    words = words_of(command)
    if not words or words[0].startswith("-") or PLACEHOLDER.fullmatch(words[0]):
        return next((word for word in words[:1] if word.startswith("-") and word not in OWN), None)
    if words[0] not in COMMANDS:
        return words[0]
    found: Any = load(words[0])
    rest = words[1:]
    while rest and rest[0] in getattr(found, "commands", {}):
        found, rest = found.commands[rest[0]], rest[1:]
    below = getattr(found, "commands", {})
    if below and rest and not rest[0].startswith("-") and not PLACEHOLDER.fullmatch(rest[0]):
        return rest[0]
    known = {name for each in found.params for name in (*each.opts, *each.secondary_opts)} | OWN
    options = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    if below and not found.invoke_without_command:
        known |= {
            name
            for one in below.values()
            for each in one.params
            for name in (*each.opts, *each.secondary_opts)
        }
    return next((option for option in options if option not in known), None)


def test_the_parts_of_a_command_are_told_apart() -> None:
    assert app is not None
    assert fault_of("ecphoria recall 'Where?' --explain -k 3") is None
    assert fault_of("ecphoria recall x --explian") == "--explian"
    assert fault_of("ecphoria export acme") == "export"
    assert fault_of("ecphoria tenants exprot acme") == "exprot"
    assert fault_of("ecphoria tenants export acme a.jsonl | cat --nothing") is None
    assert [*in_page("Run `ecphoria serve`.\n\n```sh\n. env; ecphoria stats # --x\n```\n")] == [
        "ecphoria serve", "ecphoria stats # --x",
    ]  # fmt: skip
    assert [*in_source('raise X("Run `ecphoria serve`.")')] == ["ecphoria serve"]


@for_each(MOVED)
def test_a_moved_command_is_where_it_is_said_to_be(target: str) -> None:
    named = NAMED.findall(target)
    assert named
    assert [fault_of(command) for command in named] == [None] * len(named)


@for_each({str(path.relative_to(ROOT)): path for path in (*PAGES, *SOURCES)})
def test_every_command_that_is_named_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = in_page(text) if path.suffix == ".md" else in_source(text)
    faults = {command: fault for command in named if (fault := fault_of(command)) is not None}
    assert not faults


def test_commands_are_found_where_they_are_named() -> None:
    pages = [command for path in PAGES for command in in_page(path.read_text(encoding="utf-8"))]
    sources = [each for path in SOURCES for each in in_source(path.read_text(encoding="utf-8"))]
    assert len(pages) > 100
    assert len(sources) > 20
