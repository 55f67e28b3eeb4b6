"""Read the tables of words beside this module."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any


def read_table(name: str) -> Mapping[str, Any]:
    """Read `NAME.toml` of this package."""
    return tomllib.loads(files("ecphoria.text").joinpath(f"{name}.toml").read_text("utf-8"))


def split_phrases(listed: str) -> list[str]:
    """Part phrases at each `/` and line break; a line that begins with `|` goes on."""
    return [one.strip() for one in re.split(r"[/\n]", listed.strip().replace("\n|", "|"))]


def any_of(spellings: Iterable[str]) -> str:
    """Write the alternation of some patterns, the longest first."""
    return "|".join(sorted(spellings, key=len, reverse=True))
