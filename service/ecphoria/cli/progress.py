"""Progress of long work: a bar on a terminal, otherwise lines."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from ecphoria.cli.terminal import if_interrupted, stderr
from ecphoria.records.job import Job

Watch = Callable[[str, int, int], None]
"""Told a stage of long work, how much of it is done, and how much there is."""


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
def following() -> Iterator[Callable[[Job], None]]:
    """Draw how far a job has come, a step at a time, with the time left."""
    with counting(stderr()) as progress:
        drawn = progress.add_task("waiting", total=None)

        def watch(job: Job) -> None:
            progress.update(
                drawn,
                description=escape(job.progress.place) or job.state.value,
                completed=job.progress.done,
                total=job.progress.total or None,
            )

        yield watch


def goes_on(job: str) -> AbstractContextManager[None]:
    """Let Ctrl-C say that the job goes on, and how to follow or cancel it."""
    return if_interrupted(
        lambda: (
            f"Job {job} goes on: `ecphoria jobs show {job} --wait` follows it, "
            f"`ecphoria jobs cancel {job}` cancels it."
        )
    )


@contextmanager
def watching(*, in_percent: bool = False) -> Iterator[Watch]:
    """Show how far each stage of long work has come: a bar on a terminal, else lines.

    With `in_percent` the lines have no counts, which may be of bytes.
    """
    console = stderr()
    if not console.is_terminal:
        yield _told_in_lines(console, in_percent=in_percent)
        return
    with counting(console) as progress:
        tasks: dict[tuple[str, int], TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if (stage, total) not in tasks:
                tasks[stage, total] = progress.add_task(stage, total=total)
            progress.update(tasks[stage, total], completed=done)

        yield watch


def _told_in_lines(console: Console, *, in_percent: bool) -> Watch:
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
        much = f"{100 * done // total} %" if in_percent else f"{done:,}/{total:,}"
        console.print(f"{stage} {much}, {left:.0f} s left")

    return watch
