"""The `ecphoria` command: all commands by topic, and the exit codes."""

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Option
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    # Typer has its own copy of Click, which it exports nowhere else.
    from typer._click import Command, Context
    from typer._click.core import Parameter


@dataclass(frozen=True, slots=True)
class Listed:
    """A command as the list of commands shows it, and the module that has it."""

    module: str
    help: str
    panel: str


ADDED: Final = ""
"""In place of a module: another distribution brings the command."""


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
            "importing",
            "Import episodes or another product's memory; run it again to resume.",
        ),
        ("explore", "look", "Open the explorer in a browser, signed in for one tenant."),
        ("list", "look", "List episodes in the order of their append."),
        (
            "show",
            "look",
            "Show one episode with all that was stored with it, or what is around a node.",
        ),
        ("sessions", "look", "List the sessions by name."),
        ("context", "look", "Print what a session of an agent should start with."),
        (
            "trace",
            "look",
            "Show how a recall found its memories; without an id, list the newest traces.",
        ),
        ("concepts", "look", "List the people, places, things and topics that memories speak of."),
        (
            "forget",
            "memory",
            "Erase episodes by id, or those that pass all filters given; this cannot be undone.",
        ),
        ("facts", "facts", "List facts, and decide about them."),
        ("mcp", "mcp", "Serve the memory to agents by the Model Context Protocol."),
        ("engrams", "facts", "Show the summaries of sessions and of similar memories."),
        ("stats", "memory", "Count a tenant's graph by kind, or its episodes over time."),
    ),
    **_topic(
        "Look after it",
        (
            "consolidate",
            "upkeep",
            "Consolidate a tenant's memory now; repeating it changes nothing.",
        ),
        (
            "doctor",
            "upkeep",
            "Check a tenant's graph and archive; changes nothing, and exits with 1 on any fault.",
        ),
        ("archive", "upkeep", "Manage archived memories."),
        ("jobs", "upkeep", "Manage background jobs."),
        ("dormancy", "upkeep", "Manage dormant memories."),
        ("eval", ADDED, "Measure recall on public data sets; comes with ecphoria-eval."),
        (
            "calibrate",
            "admin",
            "Fit the gate, which decides whether the hits answer, and show its quality.",
        ),
        ("config", "settings", "Show and change the settings of a tenant."),
        ("strategy", "settings", "List recall strategies, try another one, and promote it."),
        ("feedback", "facts", "Mark hits of a recall as useful or not."),
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
        ("neo4j", "engine", "Manage the local Neo4j."),
        (
            "status",
            "engine",
            "Show the state of the service and of the local Neo4j; exit code 3 if neither runs.",
        ),
    ),
}


MOVED: Final = {
    "archive scrub": "`ecphoria doctor`",
    "config list": "`ecphoria config get`",
    "dormancy policy": "`ecphoria config`, keys `dormancy.*`",
    "down": "`ecphoria neo4j down`",
    "extract": "`ecphoria consolidate --step extract`",
    "fact": "`ecphoria facts`",
    "gate": "`ecphoria config get gate`, `config set gate FILE` and `config unset gate`",
    "learning": "`ecphoria config set learning.on true` and `ecphoria feedback`",
    "logs": "`ecphoria neo4j logs`",
    "facts merge": "`ecphoria facts merges`",
    "merges": "`ecphoria facts merges`",
    "neo4j status": "`ecphoria status`",
    "predicates": "`ecphoria facts predicates`",
    "restore": "`ecphoria archive restore`",
    "schedule": "`ecphoria config`, keys `schedule.*`",
    "scrub": "`ecphoria doctor`",
    "shadow": "`ecphoria strategy`",
    "shell": "`ecphoria neo4j shell`",
    "strategies": "`ecphoria strategy list`",
    "traces": "`ecphoria trace`",
    "up": "`ecphoria neo4j up`",
}
"""The new names of commands that moved."""


def load(name: str) -> "Command":
    """Import the module of a command, and give the command."""
    command = typer.main.get_group(_group_of(name)).commands[name]
    _make_plain(command)
    return command


def _group_of(name: str) -> typer.Typer:
    """Import the group that a command belongs to."""
    listed = COMMANDS[name]
    if listed.module == ADDED:
        from ecphoria.cli import extras  # noqa: PLC0415 (costly)

        group: typer.Typer = extras.added(extras.COMMANDS, name)
    else:
        group = import_module(f"ecphoria.cli.{listed.module}").commands
    return group


def _make_plain(command: "Command") -> None:
    """Let the help of a command, and of those below it, show its parameters in plain words."""
    command.get_params = partial(_plain, command.get_params)  # type: ignore[method-assign]
    for below in getattr(command, "commands", {}).values():
        _make_plain(below)


def _plain(
    get_params: "Callable[[Context], list[Parameter]]", ctx: "Context"
) -> "list[Parameter]":
    """Show an argument as `CUE`, not `{CUE}`, and a switch without a type."""
    found = get_params(ctx)
    for parameter in found:
        if isinstance(parameter, TyperOption) and parameter.is_bool_flag:
            parameter.display_type = lambda ctx: ""  # type: ignore[method-assign]  # noqa: ARG005
        if isinstance(parameter, TyperArgument):
            shown = re.sub("[{}]", "", parameter._usage_display_name())  # noqa: SLF001
            parameter._usage_display_name = partial(str, shown)  # type: ignore[method-assign]  # noqa: SLF001
    return found


class LazyGroup(TyperGroup):
    """All commands, each imported when it is called or its own help is asked."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {
            name: TyperCommand(name, help=listed.help, rich_help_panel=listed.panel)
            for name, listed in COMMANDS.items()
        }
        super().__init__(**attributes)

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Give the options, in plain words."""
        return _plain(super().get_params, ctx)

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Find and import the command that is called; the one listed has only its help."""
        for words in (args[:1], args[:2], args[:3]):
            if moved := MOVED.get(" ".join(words)):
                ctx.fail(f"`{' '.join(words)}` moved to {moved}.")
        name, listed, rest = super().resolve_command(ctx, args)
        return name, None if listed is None or name is None else load(name), rest

    def invoke(self, ctx: "Context") -> Any:
        """Run a command; after Ctrl-C, say what goes on or how to resume."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's words
            raise
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
        Option(
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
    _spare_imports()
    _write_all_characters()
    try:
        app(args=arguments, prog_name="ecphoria")
    except Exception as error:  # noqa: BLE001 (the top of the process)
        from ecphoria.cli.terminal import say_failure  # noqa: PLC0415 (costly)

        sys.exit(say_failure(error))


def _write_all_characters() -> None:
    r"""Write a character that the encoding of the output lacks as JSON does: `\u00eb`."""
    codecs.register_error("ecphoria", _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="ecphoria")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def _spare_imports() -> None:
    """Keep libraries from loading what no command of ours uses; it is a tenth of a recall.

    httpx imports its own command line where it can. Pydantic looks for plugins in every package
    that is installed.
    """
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # "cannot be imported"
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # noqa: TID251 (set, not read)
