"""Read the tables of words beside this module."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def read_table(name: str) -> Mapping[str, Any]:
    """Read `NAME.toml` of this package."""
    return tomllib.loads(files("ecphoria.text").joinpath(f"{name}.toml").read_text("utf-8"))
