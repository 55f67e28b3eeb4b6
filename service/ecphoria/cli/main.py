"""The `ecphoria` command: all commands by topic, and the exit codes."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from ecphoria.cli.extras import needed
from ecphoria.errors import EcphoriaError

if TYPE_CHECKING:
    # Typer has its own copy of Click, which it exports nowhere else.
    from typer._click import Command, Context


@dataclass(frozen=True, slots=True)
class Listed:
    """A command as the list of commands shows it, and the module that has it."""

    module: str
    help: str
    panel: str


def _topic(panel: str, *commands: tuple[str, str, str]) -> dict[str, Listed]:
    return {name: Listed(module, text, panel) for name, module, text in commands}


# The list of commands costs no import of their modules; a test compares it with the docstrings.
COMMANDS: Final = {
    **_topic(
        "Use a memory",
        ("remember", "memory", "Append one episode; the next recall can find it."),
        ("recall", "memory", "Recall memories for a question, best first."),
        ("ask", "memory", "Answer a question in words, with a quote for each sentence."),
        (
            "import",
            "memory",
            "Import episodes or another product's memory; run it again to resume.",
        ),
        ("list", "look", "List episodes in the order of their append."),
        ("show", "look", "Show one episode with everything that was stored with it."),
        ("sessions", "look", "List the sessions by name."),
        ("context", "look", "Print what a session of an agent should start with."),
        ("trace", "look", "Show how a recall found its memories."),
        (
            "strategies",
            "look",
            "List the recall strategies and their presets; with --json the options too.",
        ),
        (
            "forget",
            "memory",
            "Erase episodes by id, or those that pass all filters given; this cannot be undone.",
        ),
        ("facts", "facts", "List facts with the times they held."),
        (
            "predicates",
            "facts",
            "List the predicates with a class, which says whether a new fact ends the old one.",
        ),
        ("fact", "facts", "Show the history of a fact, or decide about it."),
        ("mcp", "mcp", "Serve the memory to agents by the Model Context Protocol."),
        ("engrams", "facts", "Show the summaries of sessions and of similar memories."),
        ("stats", "memory", "Count a tenant's graph by kind."),
    ),
    **_topic(
        "Look after it",
        (
            "consolidate",
            "upkeep",
            "Consolidate a tenant's memory now; repeating it changes nothing.",
        ),
        ("extract", "upkeep", "Read names and facts in stored episodes by a language model."),
        ("passages", "upkeep", "Cut old long episodes into passages; new ones need no command."),
        (
            "doctor",
            "upkeep",
            "Check a tenant's graph; changes nothing, and exits with 1 if anything is wrong.",
        ),
        ("archive", "dormancy", "Move long dormant memories to the files of the archive."),
        ("restore", "dormancy", "Make archived memories dormant again, byte for byte."),
        (
            "scrub",
            "dormancy",
            "Check every record of the archive; exits with 1 if one is damaged.",
        ),
        ("jobs", "upkeep", "Manage background jobs."),
        ("dormancy", "dormancy", "Manage dormant memories and the dormancy policy."),
        ("schedule", "upkeep", "Manage the schedule of consolidation."),
        ("eval", "evaluate", "Measure recall on public data sets."),
        (
            "calibrate",
            "admin",
            "Fit the gate, which decides whether the hits answer, and show its quality.",
        ),
        ("gate", "admin", "Manage the gate, which decides whether the hits hold an answer."),
        ("shadow", "admin", "Compare another strategy with the live one."),
        ("learning", "facts", "Manage learning from recalls."),
        ("merges", "facts", "Manage proposed merges of concepts."),
        ("tenants", "tenants", "Manage tenants; needs an operator's key."),
        ("keys", "tenants", "Manage the API keys of a tenant."),
        ("backup", "tenants", "Back up the whole store to a file, and restore it."),
        ("reembed", "upkeep", "Change the embedding model of the whole store while it is in use."),
    ),
    **_topic(
        "Run the service",
        (
            "serve",
            "local",
            "Run the service, with a local Neo4j unless ECPHORIA_NEO4J__URI names another.",
        ),
        (
            "worker",
            "local",
            "Run background jobs of services on the same Neo4j, without answering requests.",
        ),
        ("demo", "local", "Remember a sample conversation and recall five questions from it."),
    ),
    **_topic(
        "The local Neo4j",
        (
            "up",
            "engine",
            "Start the local Neo4j and leave it running; the first time, fetch it (180 MB).",
        ),
        ("down", "engine", "Stop the local Neo4j cleanly; its data stays."),
        (
            "status",
            "engine",
            "Show whether the local Neo4j runs and how to reach it; exit code 3 when it does not.",
        ),
        ("logs", "engine", "Print the log of the local Neo4j, of this run or of the last."),
        (
            "shell",
            "engine",
            "Ask the local Neo4j in Cypher: one statement, standard input, or a prompt.",
        ),
    ),
}


def load(name: str) -> "Command":
    """Import the module of a command, and give the command."""
    listed = COMMANDS[name]
    with needed():
        module = import_module(f"ecphoria.cli.{listed.module}")
    commands = typer.main.get_command(module.commands)
    assert isinstance(commands, TyperGroup), "a module has several commands"
    return commands.commands[name]


class LazyGroup(TyperGroup):
    """All commands, each imported when it is called or its own help is asked."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {
            name: TyperCommand(name, help=listed.help, rich_help_panel=listed.panel)
            for name, listed in COMMANDS.items()
        }
        super().__init__(**attributes)

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Find the command that is called; what the group lists has only its help."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, None if listed is None or name is None else load(name), rest

    def invoke(self, ctx: "Context") -> Any:
        """Run a command; after Ctrl-C, say what goes on or how to resume."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as ended:
            from ecphoria.cli.terminal import INTERRUPTED, say_interrupted  # noqa: PLC0415 (costly)

            say_interrupted(ended)
            raise typer.Exit(INTERRUPTED) from ended


app = typer.Typer(
    cls=LazyGroup,
    name="ecphoria",
    help="A memory service for LLM agents, backed by Neo4j.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 (costly)

        typer.echo(version("ecphoria"))
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
    """Run the command line and end the process.

    The exit code is 0 if it is done, 1 if it failed, 2 if it was wrongly used, and 130 after
    Ctrl-C. What goes wrong is one sentence on standard error, never a traceback.
    """
    try:
        app(args=arguments, prog_name="ecphoria")
    except EcphoriaError as error:
        from ecphoria.cli.terminal import exit_code, say_error  # noqa: PLC0415 (costly)

        say_error(error)
        sys.exit(exit_code(error))
    except Exception as error:  # noqa: BLE001 (the top of the process)
        from ecphoria.cli.terminal import FAILED, say_fault  # noqa: PLC0415 (costly)

        say_fault(error)
        sys.exit(FAILED)
