"""How the command line looks: one theme, and errors as one sentence."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from rich.theme import Theme

from ecphoria.errors import EcphoriaError, Unauthenticated

__all__ = ["Watch", "counting", "say_error", "stderr", "stdout", "watching"]

Watch = Callable[[str, int, int], None]
"""Told a stage of long work, how much of it is done, and how much there is."""

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
_MAX_WIDTH = 100


def stdout() -> Console:
    """Open the console for answers; lines stay readable on wide terminals."""
    return _console(stderr=False)


def stderr() -> Console:
    """Open the console for progress and errors, so that answers can be piped."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(theme=_THEME, stderr=stderr, highlight=False)
    if console.is_terminal and console.width > _MAX_WIDTH:
        console.width = _MAX_WIDTH
    return console


def counting(console: Console) -> Progress:
    """Make a progress bar that counts things and tells the time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
    )


@contextmanager
def watching() -> Iterator[Watch]:
    """Show how far each stage of long work has come: a bar on a terminal, else lines."""
    console = stderr()
    if not console.is_terminal:
        yield _told_in_lines(console)
        return
    with counting(console) as progress:
        tasks: dict[tuple[str, int], TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if (stage, total) not in tasks:
                tasks[stage, total] = progress.add_task(stage, total=total)
            progress.update(tasks[stage, total], completed=done)

        yield watch


def _told_in_lines(console: Console) -> Watch:
    """Tell, a line per tenth, how far a stage has come and how long the rest will take."""
    begun: dict[tuple[str, int], float] = {}
    told: set[tuple[str, int, int]] = set()

    def watch(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        start = begun.setdefault((stage, total), now)
        tenth = 10 * done // total
        if not tenth or (stage, total, tenth) in told:
            return
        told.add((stage, total, tenth))
        left = (now - start) * (total - done) / done
        console.print(f"{stage} {done:,}/{total:,}, {left:.0f} s left")

    return watch


def say_error(error: EcphoriaError) -> None:
    """Print what went wrong and what to do about it."""
    line = Text.assemble(("Error: ", "error"), error.message)
    if isinstance(error, Unauthenticated):
        line.append(" On the command line: --key, or ECPHORIA_API_KEY.")
    if request := error.fields.get("request_id"):
        line.append(f" (request {request})", style="dim")
    stderr().print(line, soft_wrap=not sys.stderr.isatty())
