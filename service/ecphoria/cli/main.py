"""The `ecphoria` command: all commands by topic, and the exit codes."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer
from rich.text import Text

from ecphoria.cli.admin import calibrate, gate, keys, shadow, tenants
from ecphoria.cli.connection import say_error, stderr, stdout
from ecphoria.cli.embedding import reembed
from ecphoria.cli.evaluate import evaluation
from ecphoria.cli.facts import engrams, fact, facts, learning, merges
from ecphoria.cli.local import add_local_commands, backup
from ecphoria.cli.look import list_episodes, sessions, show, strategies, trace
from ecphoria.cli.mcp import mcp
from ecphoria.cli.memory import ask, forget, import_file, recall, remember, stats
from ecphoria.cli.upkeep import (
    archive,
    consolidate,
    doctor,
    dormancy,
    extract,
    jobs,
    passages,
    restore,
    schedule,
    scrub,
)
from ecphoria.errors import EcphoriaError

_USE = "Use a memory"
_KEEP = "Look after it"

app = typer.Typer(
    name="ecphoria",
    help="A memory service for LLM agents, backed by Neo4j.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(rich_help_panel=_USE)(remember)
app.command(rich_help_panel=_USE)(recall)
app.command(rich_help_panel=_USE)(ask)
app.command("import", rich_help_panel=_USE)(import_file)
app.command("list", rich_help_panel=_USE)(list_episodes)
app.command(rich_help_panel=_USE)(show)
app.command(rich_help_panel=_USE)(sessions)
app.command(rich_help_panel=_USE)(trace)
app.command(rich_help_panel=_USE)(strategies)
app.command(rich_help_panel=_USE)(forget)
app.command(rich_help_panel=_USE)(facts)
app.add_typer(fact, name="fact", rich_help_panel=_USE)
app.add_typer(mcp, name="mcp", rich_help_panel=_USE)
app.command(rich_help_panel=_USE)(engrams)
app.command(rich_help_panel=_USE)(stats)
app.command(rich_help_panel=_KEEP)(consolidate)
app.command(rich_help_panel=_KEEP)(extract)
app.command(rich_help_panel=_KEEP)(passages)
app.command(rich_help_panel=_KEEP)(reembed)
app.command(rich_help_panel=_KEEP)(doctor)
app.command(rich_help_panel=_KEEP)(archive)
app.command(rich_help_panel=_KEEP)(restore)
app.command(rich_help_panel=_KEEP)(scrub)
app.add_typer(jobs, name="jobs", rich_help_panel=_KEEP)
app.add_typer(dormancy, name="dormancy", rich_help_panel=_KEEP)
app.add_typer(schedule, name="schedule", rich_help_panel=_KEEP)
add_local_commands(app, service="Run the service", engine="The local Neo4j")
app.add_typer(evaluation, name="eval", rich_help_panel=_KEEP)
app.command(rich_help_panel=_KEEP)(calibrate)
app.add_typer(gate, name="gate", rich_help_panel=_KEEP)
app.add_typer(shadow, name="shadow", rich_help_panel=_KEEP)
app.add_typer(learning, name="learning", rich_help_panel=_KEEP)
app.add_typer(merges, name="merges", rich_help_panel=_KEEP)
app.add_typer(tenants, name="tenants", rich_help_panel=_KEEP)
app.add_typer(keys, name="keys", rich_help_panel=_KEEP)
app.add_typer(backup, name="backup", rich_help_panel=_KEEP)


def _tell_version(*, wanted: bool) -> None:
    if wanted:
        stdout().print(version("ecphoria"))
        raise typer.Exit


@app.callback()
def options(
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda value: _tell_version(wanted=value),
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """A memory service for agents, on Neo4j."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process: 0 done, 1 failed, 2 wrongly used.

    What goes wrong is one sentence on standard error, never a traceback.
    """
    try:
        app(args=arguments, prog_name="ecphoria")
    except EcphoriaError as error:
        say_error(error)
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 (the top of the process)
        stderr().print(
            Text.assemble(
                ("Error: ", "error"),
                "this is a fault in Ecphoria, please report it: ",
                f"{type(error).__name__}: {error}",
            )
        )
        sys.exit(1)
