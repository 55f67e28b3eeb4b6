"""Every command that does something, and words that it requires."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from ecphoria.cli.main import COMMANDS, load


def leaves(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    """List a command, or those of a group, with the words that call them."""
    if not isinstance(found, TyperGroup) or found.invoke_without_command:
        yield name, found
    for below, command in getattr(found, "commands", {}).items():
        yield from leaves(f"{name} {below}", command)


LEAVES = {words: leaf for name in COMMANDS for words, leaf in leaves(name, load(name))}


def fillers(command: Any, file: Path) -> list[str]:
    """Give a value to everything that a command requires."""
    words: list[str] = []
    for parameter in command.params:
        if parameter.required:
            kind = parameter.type_descriptor.annotation
            value = str(file) if kind is Path else "x"
            if isinstance(kind, type) and issubclass(kind, Enum):
                value = next(iter(kind)).value
            if parameter.param_type_name == "option":
                words.append(parameter.opts[-1])
            words += [value] * max(parameter.nargs, 1)
    return words
