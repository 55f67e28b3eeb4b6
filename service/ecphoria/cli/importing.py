"""The command `import`: episodes from a file, or another product's memory."""

import contextlib
import io
import json
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated, Final, cast

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, Option

from ecphoria.cli.connection import connected
from ecphoria.cli.progress import watching
from ecphoria.cli.terminal import AsJson, counted, if_interrupted, print_json, stderr, stdout
from ecphoria.client import Client
from ecphoria.errors import (
    EcphoriaError,
    EncoderUnavailable,
    InvalidInput,
    Misconfigured,
    TooLarge,
    install,
)
from ecphoria.imports.exports import Opened, opened, opened_stream
from ecphoria.imports.formats import Format
from ecphoria.imports.records import Batch, Record, batches
from ecphoria.records.episode import Load, NewEpisode
from ecphoria.wire.episodes import BatchAnswer

commands = typer.Typer(add_completion=False)

_BATCH_BYTES = 4_000_000
_AT_ONCE = 2
"""Parts of a load that are under way: while one is written, the next one is encoded."""
_WITHOUT_ANSWER = 3
_PATIENCE_S = 5.0
"""Seconds for which Graphiti's Neo4j is asked again if it does not answer."""
_TOLD = 20
_RESUME = "Run the same command again to go on from here; nothing is stored twice."


_Refused = tuple[Record, str]
"""A record and the reason why it was not stored."""


@dataclass(slots=True, kw_only=True)
class _Tally:
    created: int = 0
    existed: int = 0
    refused: int = 0
    without_answer: int = 0
    lock: Lock = field(default_factory=Lock)

    def add(self, answer: BatchAnswer) -> None:
        """Count an answer; parts of a load are answered in several threads."""
        with self.lock:
            self.created += answer.created
            self.existed += answer.existed
            self.without_answer = 0

    def failed(self, error: EcphoriaError) -> None:
        """Count a text that the encoder did not answer."""
        with self.lock:
            self.without_answer += isinstance(error, EncoderUnavailable)

    @property
    def seen(self) -> int:
        return self.created + self.existed + self.refused


SourceUser = Annotated[
    str, Option(envvar="ECPHORIA_SOURCE_USER", metavar="NAME", help="User of Graphiti's Neo4j.")
]
SourcePassword = Annotated[
    str,
    Option(
        envvar="ECPHORIA_SOURCE_PASSWORD",
        metavar="PASSWORD",
        help="Password of Graphiti's Neo4j; other users see options, so prefer the variable.",
    ),
]


@commands.command("import")
@connected
def import_file(
    client: Client,
    *,
    source: Annotated[
        str,
        Argument(
            metavar="SOURCE",
            help="File, ZIP archive or folder; `-` reads stdin; bolt://HOST:PORT is Graphiti.",
        ),
    ],
    form: Annotated[
        Format | None, Option("--format", help="The format. Default: told by the content.")
    ] = None,
    batch: Annotated[
        int | None,
        Option(
            min=1,
            max=1_000,
            help="Number of episodes in a request. Default: 200; with --bulk 1,000.",
            show_default=False,
        ),
    ] = None,
    bulk: Annotated[
        bool, Option("--bulk", help="First load of an empty tenant: encode while writing.")
    ] = False,
    group: Annotated[str | None, Option(metavar="ID", help="Only this group of Graphiti.")] = None,
    source_user: SourceUser = "neo4j",
    source_password: SourcePassword = "",
    source_database: Annotated[
        str, Option(metavar="NAME", help="Database of Graphiti's Neo4j.")
    ] = "neo4j",
    as_json: AsJson = False,
) -> None:
    """Import episodes or another product's memory; run it again to resume."""
    graph = partial(
        _graphiti,
        user=source_user,
        password=source_password,
        database=source_database,
        group=group,
    )
    tally, load = _Tally(), _load_of(source, form, group) if bulk else None
    with (
        if_interrupted(lambda: f"Sent {counted(tally.seen, 'episode')}. {_RESUME}"),
        _opened(source, form, graph) as found,
    ):
        client.stats()
        if form is None and found.form is not Format.EPISODES:
            stderr().print(f"Read as {found.form}; --format chooses another format.")
            if found.form is Format.DOCUMENTS and source.lower().endswith(_TABLES):
                stderr().print(
                    "The table becomes one document; for an episode a row, write each row as a "
                    'line {"text": "..."}.',
                    markup=False,
                )
        _import(client, found, tally, batch or (1_000 if bulk else 200), load)
    left_out = found.reading.left_out.total()
    if as_json:
        counts = {"created": tally.created, "existed": tally.existed, "refused": tally.refused}
        more = {"left_out": found.reading.left_out, "parts_left_out": found.reading.parts}
        print_json(counts | more)
    else:
        total = f" Left out {left_out:,} of {tally.seen + left_out:,}." if left_out else ""
        stdout().print(
            f"Imported {tally.created:,} new, {tally.existed:,} known before,"
            f" {tally.refused:,} refused.{total}"
        )
    if tally.refused:
        stderr().print("Mend the refused records and run the same command again.")
        raise typer.Exit(1)
    if not tally.seen + left_out:
        stderr().print("The source holds nothing to import.")
        raise typer.Exit(1)


def _load_of(source: str, form: Format | None, group: str | None) -> str:
    """Name the load of a source, so that the same command resumes it and another one does not."""
    place = source if source == "-" or "://" in source else str(Path(source).resolve())
    return sha256(json.dumps([place, form, group]).encode()).hexdigest()


def _import(client: Client, found: Opened, tally: _Tally, batch: int, load: str | None) -> None:
    parts = batches(found.records, items=batch, size=_BATCH_BYTES)
    try:
        with _progress(found.size) as advance:
            for part, refused in _sent(client, parts, tally, load):
                _tell_refused(part, refused, tally)
                advance(part.size, tally)
    except EcphoriaError as error:
        error.message = f"{error.message.removesuffix('.')}. {_RESUME}"
        raise
    reading = found.reading
    for what, counts in (("Left out", reading.left_out), ("Parts left out", reading.parts)):
        for reason, times in counts.most_common():
            stderr().print(f"{what}: {times:,} {escape(reason)}", soft_wrap=True)


def _opened(
    source: str,
    form: Format | None,
    graphiti: Callable[[str], contextlib.AbstractContextManager[Opened]],
) -> contextlib.AbstractContextManager[Opened]:
    if "://" in source:
        if form not in {None, Format.GRAPHITI}:
            raise InvalidInput(
                "Only Graphiti is read from an address; name a file, or leave out --format.",
                field="--format",
            )
        return graphiti(source)
    if source == "-":
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        return contextlib.nullcontext(opened_stream(stdin, form))
    return opened(Path(source), form)


def _graphiti(
    uri: str, *, user: str, password: str, database: str, group: str | None
) -> contextlib.AbstractContextManager[Opened]:
    try:
        from ecphoria.imports.graphiti import opened_graph  # noqa: PLC0415 (extra `server`)
        from ecphoria.neo4j_store.session import GraphOptions  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"Reading Graphiti needs {missing.name}: {install('server')}."
        ) from missing
    # The driver logs each attempt in its own words; our error says once that there is no answer.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    options = GraphOptions(
        uri=uri, user=user, password=password, database=database, retry_s=_PATIENCE_S
    )
    return opened_graph(options, group)


def _sent(
    client: Client, parts: Iterable[Batch], tally: _Tally, load: str | None
) -> Iterator[tuple[Batch, list[_Refused]]]:
    """Send parts in order, those of a load each before the answer to the one before it."""
    if load is None:
        for part in parts:
            yield part, _append(client, part.good, tally)
        return
    under_way: deque[tuple[Batch, Future[list[_Refused]]]] = deque()
    start = 0
    for part in parts:
        place = Load(id=load, start=start, end=start + len(part.good))
        start = place.end
        under_way.append((part, _begin(partial(_append, client, part.good, tally, place))))
        if len(under_way) == _AT_ONCE:
            oldest, answer = under_way.popleft()
            yield oldest, answer.result()
    for part, answer in under_way:
        yield part, answer.result()


def _begin(work: Callable[[], list[_Refused]]) -> Future[list[_Refused]]:
    """Work in a thread that does not keep the process alive after an error or Ctrl-C."""
    future: Future[list[_Refused]] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 (raised where the result is read)
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _tell_refused(part: Batch, more: list[_Refused], tally: _Tally) -> None:
    refused = [(record, error.message) for record, error in part.bad] + more
    for record, why in sorted(refused, key=lambda told: told[0].number):
        tally.refused += 1
        if tally.refused <= _TOLD:
            place = f" ({record.place})" if record.place else ""
            stderr().print(
                f"[error]Record {record.number}{escape(place)}:[/error] {escape(why)}",
                soft_wrap=True,
            )
        elif tally.refused == _TOLD + 1:
            stderr().print("Further refused records are only counted.")


def _append(
    client: Client,
    good: Sequence[tuple[Record, NewEpisode]],
    tally: _Tally,
    load: Load | None = None,
) -> list[_Refused]:
    """Send records; give those that were refused, and why.

    If one text may have caused a failure, the batch is sent again in halves, so that only this
    text is refused. An embedder that fails for several texts in a row is down.
    """
    if not good:
        return []
    try:
        answer = client.append_batch([request for _, request in good], load=load)
    except (InvalidInput, TooLarge, EncoderUnavailable) as error:
        middle = len(good) // 2
        if middle:
            first, second = _halved(load, middle)
            return [
                *_append(client, good[:middle], tally, first),
                *_append(client, good[middle:], tally, second),
            ]
        tally.failed(error)
        if tally.without_answer > _WITHOUT_ANSWER:
            raise
        if load is not None:  # the next parts wait for this place
            client.append_batch([], load=load)
        return [(good[0][0], error.message)]
    tally.add(answer)
    return [
        (good[result.index][0], result.problem.detail)
        for result in answer.results
        if result.problem is not None
    ]


def _halved(load: Load | None, middle: int) -> tuple[Load | None, Load | None]:
    if load is None:
        return None, None
    return replace(load, end=load.start + middle), replace(load, start=load.start + middle)


_IMPORTING: Final = "importing"
_TABLES: Final = (".csv", ".tsv")


@contextlib.contextmanager
def _progress(size: int | None) -> Iterator[Callable[[int, _Tally], None]]:
    """Show how far the import is: a bar on a terminal, else a line a tenth."""
    if not stderr().is_terminal:
        done = 0
        with watching(in_percent=True) as watch:
            if size:
                watch(_IMPORTING, 0, size)  # the time left is reckoned from now

            def tell(advance: int, _: _Tally) -> None:
                nonlocal done
                done += advance
                if size:
                    watch(_IMPORTING, min(done, size), size)

            yield tell
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=stderr(),
    ) as progress:
        task = progress.add_task("0 episodes", total=size)
        yield lambda advance, tally: progress.update(
            task, advance=advance, description=f"{tally.seen:,} episodes"
        )
