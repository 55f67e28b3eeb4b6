"""The terminal: answers, JSON, errors, questions, and what Ctrl-C says."""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from rich.theme import Theme
from typer import Option

from ecphoria.errors import BadFile, EcphoriaError, InvalidInput, unusable_place

FAILED: Final = 1
WRONGLY_USED: Final = 2
INTERRUPTED: Final = 130

# Python's iterators take no number beyond 2^63.
MOST_ROWS: Final = 1_000_000_000
Limit = Annotated[
    int, Option("--limit", "-n", min=1, max=MOST_ROWS, metavar="N", help="Maximum number of rows.")
]
AsJson = Annotated[bool, Option("--json", help="Print JSON; of a list, one object a line.")]

_THEME = Theme(
    {
        "cue": "bold",
        "speaker": "cyan",
        "when": "dim",
        "score": "green",
        "edge": "magenta",
        "rail": "dim",
        "address": "cyan",
        "verdict.answer": "green",
        "verdict.verify": "yellow",
        "verdict.refuse": "yellow",
        "verdict.empty": "yellow",
        "error": "bold red",
        "bar.back": "grey23",
        "bar.complete": "cyan",
        "bar.finished": "green",
        "progress.remaining": "dim",
    }
)
_UNWRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_MAX_WIDTH = 100
_PIPED_WIDTH = 10_000
_ID_LENGTH = 32


def stdout() -> Console:
    """Open the console for answers; in a pipe, each row is one whole line."""
    return _console(stderr=False)


def stderr() -> Console:
    """Open the console for progress and errors, so that answers can be piped."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(theme=_THEME, stderr=stderr, highlight=False)
    if not console.is_terminal:
        # Another program reads it: nothing is cut or wrapped, least of all an id.
        console.width = _PIPED_WIDTH
    elif console.width > _MAX_WIDTH:
        console.width = _MAX_WIDTH
    return console


def print_json(answer: object) -> None:
    """Print an answer as the API gives it; of a list, one object a line."""
    from ecphoria.records.answered import to_json  # noqa: PLC0415 (costly; not for --help)

    if isinstance(answer, list | tuple | Iterator):
        for item in answer:
            typer.echo(to_json(item))
    else:
        typer.echo(to_json(answer, indent=2))


def id_column(name: str = "id") -> Column:
    """Make a column of ids, which are whole at any width because commands need them whole."""
    return Column(name, no_wrap=True, min_width=_ID_LENGTH)


def table(*columns: Column | str) -> Table:
    """Make a table of rows under dim headings."""
    return Table(*columns, box=None, header_style="dim", pad_edge=False)


def pairs(rows: Iterable[tuple[str, str | None]]) -> Table:
    """Lay out names and values side by side; without a value, a name is left out."""
    found = Table.grid(padding=(0, 3, 0, 0))
    found.add_column(style="dim")
    for name, value in rows:
        if value is not None:
            found.add_row(Text(name), Text(value))
    return found


def print_table(found: Table, *, empty: str) -> None:
    """Print a table, or a sentence if it has no row."""
    stdout().print(found if found.row_count else empty)


def print_rows(
    columns: Iterable[Column | str], rows: Iterable[Iterable[str]], *, empty: str
) -> None:
    """Print a table of texts, or a sentence if it has no row."""
    found = table(*columns)
    for row in rows:
        found.add_row(*map(Text, row))
    print_table(found, empty=empty)


def print_entries(
    headings: Sequence[str],
    entries: Iterable[tuple[Sequence[str], Mapping[str, str]]],
    *,
    empty: str,
) -> None:
    """Print entries of short cells with further values, or a sentence if there is none.

    In a pipe each is a row of a table. On a terminal the further values are named below the
    cells, so that no id is cut and no cell wraps.
    """
    rows, console = list(entries), stdout()
    if not rows or not console.is_terminal:
        names = (*headings, *(rows[0][1] if rows else ()))
        print_rows(names, ((*cells, *more.values()) for cells, more in rows), empty=empty)
        return
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in rows), strict=True)]
    for cells, more in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        told = ", ".join(f"{name} {text}" if name else text for name, text in more.items() if text)
        for line in (Text("  ".join(padded).rstrip()), Text(f"  {told}", style="dim")):
            line.truncate(console.width, overflow="ellipsis")
            if line.plain.strip():
                console.print(line)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Say a number of things: `1 row`, `2 rows`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def counted_kinds(counts: Mapping[str, int]) -> str:
    """Say how many there are of each kind, named in the plural, but for those with none."""
    return ", ".join(counted(n, kind.removesuffix("s"), kind) for kind, n in counts.items() if n)


def whole_id(given: str, known: Callable[[], Iterable[str]], kind: str) -> str:
    """Complete the beginning of an id of a kind; a whole one costs no search.

    If no id begins like this, it is given back; InvalidInput if several do.
    """
    if len(given) >= _ID_LENGTH:
        return given
    found = [ident for ident in known() if ident.startswith(given)]
    if len(found) > 1 and given not in found:
        raise InvalidInput(
            f"{len(found):,} ids of {kind} begin with `{given}`; give more of the id.", field="id"
        )
    return found[0] if len(found) == 1 else given


def read_input() -> str:
    """Read standard input to its end; BadFile if it is not text in the terminal's encoding."""
    try:
        text = sys.stdin.read()
        # Where no locale is set, Python keeps unreadable bytes as halves of surrogate pairs.
        text.encode()
    except UnicodeError as error:
        raise BadFile(f"Standard input is not text in {sys.stdin.encoding}.") from error
    return text


def confirm(question: str) -> None:
    """Ask for a yes; any other answer ends the command with 1."""
    stderr().print(Text(f"{question} [y/N] "), end="")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        stderr().print("Nothing was changed.")
        raise typer.Exit(FAILED)


def say_error(error: EcphoriaError) -> None:
    """Print an error and its remedy."""
    line = Text.assemble(("Error: ", "error"), error.message)
    if request := error.fields.get("request_id"):
        line.append(f" (request {request})", style="dim")
    stderr().print(line)


def say_failure(error: Exception) -> int:
    """Print the error that ended a command, and give its exit code.

    It is 2 if the caller must correct the call, otherwise 1.
    """
    known = error if isinstance(error, EcphoriaError) else _known(error)
    if known is None:
        said = f"this is a fault in Ecphoria, please report it: {type(error).__name__}: {error}"
        stderr().print(Text.assemble(("Error: ", "error"), said))
    else:
        say_error(known)
    return WRONGLY_USED if isinstance(known, InvalidInput) else FAILED


def _known(error: Exception) -> EcphoriaError | None:
    """Tell what to do about an error of Python's own; None for a fault of ours."""
    if isinstance(error, ModuleNotFoundError):
        from ecphoria.cli.extras import missing_extra  # noqa: PLC0415 (costly)

        return missing_extra(error)
    if isinstance(error, OSError) and error.errno in _UNWRITTEN and error.filename is None:
        return EcphoriaError(f"The output cannot be written: {error.strerror}.")
    return unusable_place(error)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a sentence about what goes on or how to resume."""


@contextmanager
def if_interrupted(said: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C in this block end the command with this sentence."""
    from asyncio import CancelledError  # noqa: PLC0415 (costly; not for each command)

    try:
        yield
    except Interrupted:
        raise
    except (KeyboardInterrupt, CancelledError) as ended:
        raise Interrupted(said()) from ended


def say_interrupted(ended: KeyboardInterrupt) -> None:
    """Say that Ctrl-C ended the command, and what its block has to say about that."""
    stderr().print(Text(" ".join(("Interrupted.", *map(str, ended.args)))))


def check_targets(*targets: Path | None) -> None:
    """Refuse paths that could not be written at the end."""
    places = [target.resolve() for target in targets if target is not None]
    for place in places:
        if not place.parent.is_dir():
            raise BadFile(f"There is no folder {place.parent}; make it before.")
        if place.is_dir():
            raise BadFile(f"{place} is a folder; name a file to write.")
        if not os.access(place if place.exists() else place.parent, os.W_OK):
            raise BadFile(f"{place} may not be written here; name another file.")
    if len(places) > len(set(places)):
        raise BadFile(f"{places[0]} is named for two files, and would hold only the last.")
