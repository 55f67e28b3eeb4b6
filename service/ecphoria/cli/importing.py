"""The command that imports a file, in batches that may be sent again."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stderr, stdout
from ecphoria.cli.records import Batch, batches, read_records
from ecphoria.client import Client
from ecphoria.errors import BadFile, EcphoriaError

__all__ = ["import_file"]

_BATCH_BYTES = 4_000_000
_TOLD = 20


@dataclass(slots=True, kw_only=True)
class _Tally:
    created: int = 0
    existed: int = 0
    refused: int = 0

    @property
    def seen(self) -> int:
        return self.created + self.existed + self.refused


def import_file(
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A JSON object a line; `-` reads stdin.")
    ],
    batch: Annotated[int, typer.Option(min=1, max=1_000, help="Episodes sent together.")] = 200,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Import a file of episodes; run it again to go on where it stopped."""
    tally = _Tally()
    with connect(server, key, tenant, home) as client, _opened(file) as (lines, size):
        # Ask first, so that a wrong address or key is told before the file is read.
        client.stats()
        with _progress() as progress:
            task = progress.add_task(_counted(tally), total=size)
            try:
                for part in batches(read_records(lines), items=batch, size=_BATCH_BYTES):
                    _send(client, part, tally)
                    progress.update(task, advance=part.size, description=_counted(tally))
            except EcphoriaError as error:
                error.message += " Run the same command again to go on from here."
                raise
    stdout().print(
        f"Imported {tally.created:,} new, {tally.existed:,} known before,"
        f" {tally.refused:,} refused."
    )
    if tally.refused:
        stderr().print("Mend the refused records and run the same command again.")
        raise typer.Exit(1)


def _send(client: Client, part: Batch, tally: _Tally) -> None:
    refused = [(number, error.message) for number, error in part.bad]
    if part.good:
        answer = client.append_batch([request for _, request in part.good])
        tally.created += answer.created
        tally.existed += answer.existed
        refused += [
            (part.good[result.index][0], result.problem.detail)
            for result in answer.results
            if result.problem is not None
        ]
    for number, why in sorted(refused):
        tally.refused += 1
        if tally.refused <= _TOLD:
            stderr().print(f"[error]Record {number}:[/error] {escape(why)}", soft_wrap=True)
        elif tally.refused == _TOLD + 1:
            stderr().print("Further refused records are only counted.")


def _counted(tally: _Tally) -> str:
    return f"{tally.seen:,} episodes"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=stderr(),
    )


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[tuple[BinaryIO, int | None]]:
    if str(file) == "-":
        yield sys.stdin.buffer, None
        return
    try:
        lines = file.open("rb")
        size = file.stat().st_size
    except OSError as error:
        raise BadFile(f"{file} cannot be read: {error.strerror}.", path=str(file)) from error
    with lines:
        yield lines, size
