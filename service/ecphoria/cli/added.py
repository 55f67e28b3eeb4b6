"""Parts of the command line that another distribution brings, found by their entry points."""

from typing import Any

from ecphoria.errors import Misconfigured

COMMANDS = "ecphoria.commands"
"""Group of the entry points of whole commands: `NAME = "module:typer_app"`."""
CONVERSATIONS = "ecphoria.conversations"
"""Group of the one that asks the questions of a LoCoMo file for `ecphoria calibrate`."""


def added(group: str, name: str) -> Any:
    """Import what the evaluation adds to the command line.

    Raises:
        Misconfigured: It is not installed; says how to get it.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 (costly)

    for entry in entry_points(group=group, name=name):
        return entry.load()
    raise Misconfigured(
        "The evaluation is a distribution of its own, which is not installed: "
        "pip install ecphoria-eval, or in a checkout pip install -e . -e service/ecphoria_eval.",
        module="ecphoria_eval",
    )
