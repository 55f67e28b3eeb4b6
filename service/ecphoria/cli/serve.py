"""Run the service, and show it with a demo."""

import asyncio
import contextlib
import faulthandler
import shlex
import shutil
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ecphoria.app import Reports, build
from ecphoria.cli.engine import drawn
from ecphoria.cli.progress import counting
from ecphoria.cli.render import draw_hits, draw_timings, draw_verdict, path_nodes
from ecphoria.cli.terminal import counted, stderr, stdout
from ecphoria.client import AsyncClient
from ecphoria.client.defaults import DEFAULT_URL, admin_key, explorer_address
from ecphoria.demo.sample import (
    SampleQuestion,
    sample_conversation,
    sample_facts,
    sample_questions,
    with_facts,
)
from ecphoria.errors import Conflict, Misconfigured, NotFound
from ecphoria.http.app import Started
from ecphoria.http.app import serve as serve_api
from ecphoria.records.episode import Episode
from ecphoria.records.job import ConsolidationReport
from ecphoria.records.recall import RecallResult
from ecphoria.runtime import in_parts, tune_garbage_collection
from ecphoria.settings import Settings
from ecphoria.succession import Succession
from ecphoria.telemetry import configure_logging

_NEO4J_STOP_S = 30.0
"""Time of a clean stop of the local Neo4j, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A service that takes requests; `ended` is done when it has stopped."""

    started: Started
    ended: asyncio.Task[None]


async def serve(settings: Settings) -> None:
    """Serve until interrupted or terminated."""
    async with running(settings) as service:
        _say_addresses(service.started)
        await asyncio.wait({service.ended})


async def work(settings: Settings) -> None:
    """Take jobs until interrupted or terminated; those that run are given back at a rest."""
    configure_logging(settings.log.level, settings.log.format)
    with _cancelled_by_signals(settings) as signals:
        jobs = asyncio.create_task(_take_jobs(settings))
        try:
            await asyncio.wait({jobs})
        finally:
            jobs.cancel()
            await signals.wait(jobs)
            await jobs


async def _take_jobs(settings: Settings) -> None:
    with drawn(stderr()) as engine:
        reports = Reports(engine=engine, weights=_weights())
        succession = Succession(await build(settings, reports))
    tune_garbage_collection()
    try:
        at_once = settings.jobs.workers
        stdout().print(f"taking jobs, up to {at_once} at once; Ctrl-C stops it")
        await asyncio.Event().wait()
    finally:
        await succession.close()


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Bring everything up, and afterwards take it down in the reverse order.

    An interrupt or a termination cancels the task that uses this. After that task, open requests
    are waited for; a further signal ends this wait.

    Raises:
        Misconfigured: The address cannot be listened on; said before anything is started.
        EngineError: The local Neo4j cannot be fetched or started.
    """
    configure_logging(settings.log.level, settings.log.format)
    ready: asyncio.Future[Started] = asyncio.get_running_loop().create_future()
    with _cancelled_by_signals(settings) as signals:
        with drawn(stderr(), then="starting the service") as engine:
            reports = Reports(
                # Neo4j's start goes on after a signal; its reports would read as progress.
                engine=lambda step: None if signals.came else engine(step),
                weights=_weights(),
            )

            def begin(started: Started) -> None:
                tune_garbage_collection()
                ready.set_result(started)

            task = asyncio.create_task(serve_api(settings, reports=reports, started=begin))
            either: set[asyncio.Future[Any]] = {task, ready}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                stderr().print("Stopping, as soon as what is being started can be.", style="dim")
                task.cancel()
                await signals.wait(task)
                raise
        if not ready.done():
            await task
        started = ready.result()
        try:
            yield Running(started=started, ended=task)
        finally:
            started.stop()
            await signals.wait(task, again=started.stop)
            await task


class _Signals:
    """Cancels the task that made this at each signal, until that task waits for an end.

    Attributes:
        came: Whether a signal was sent.
    """

    def __init__(self, settings: Settings) -> None:
        owner = asyncio.current_task()
        assert owner is not None, "it runs in one"
        self.came = False
        self._settings = settings
        self._do: Callable[[], object] = owner.cancel

    def heed(self) -> None:
        """Take a signal."""
        self.came = True
        self._do()

    async def wait(
        self, task: asyncio.Task[None], *, again: Callable[[], object] = lambda: None
    ) -> None:
        """Wait for the end of a task that was told to end; a signal meanwhile calls `again`.

        Where a signal began this, the process ends within the time of a stop.
        """
        self._do = again
        if self.came:
            _end_within(self._settings)
        await asyncio.wait({task})


@contextlib.contextmanager
def _cancelled_by_signals(settings: Settings) -> Iterator[_Signals]:
    """Cancel this task at an interrupt or a termination."""
    loop, signals = asyncio.get_running_loop(), _Signals(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signals.heed)
    try:
        yield signals
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            if signals.came:
                # Python waits for threads at its end; a signal there would print a traceback.
                signal.signal(number, signal.SIG_IGN)


def _end_within(settings: Settings) -> None:
    """End this process when the time of a stop is over, whatever still runs.

    A thread cannot be stopped, and Python waits for its threads. What was acknowledged is in
    Neo4j, and the watcher of a local Neo4j stops it after its last user.
    """
    seconds = settings.server.shutdown_s
    if settings.neo4j.uri is None:
        seconds += _NEO4J_STOP_S
    # Its thread needs no turn of Python's lock, and it prints where each thread was.
    faulthandler.dump_traceback_later(seconds, exit=True)


def free_port(host: str, wanted: int) -> int:
    """Take the port that is wanted, or let the system choose (0) if it is in use."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError:
            return 0
    return wanted


def _weights() -> Callable[[int, int], None]:
    """Tell, a line per quarter, how far the model's weights have come."""
    console = stderr()
    told: set[int] = set()

    def report(done: int, total: int) -> None:
        quarter = 4 * done // total if total else 0
        if total and quarter not in told:
            told.add(quarter)
            amount = f"{done / 1e6:.0f}/{total / 1e6:.0f} MB"
            console.print(f"fetching the embedding model {amount}", style="dim")

    return report


def _address(url: str) -> Text:
    # As Text: the brackets of an IPv6 address would be read as markup.
    return Text(url, style="address")


def _say_addresses(started: Started) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_row("service", _address(started.url))
    table.add_row("API docs", _address(f"{started.url}/docs"))
    if endpoint := started.services.engine:
        table.add_row("Neo4j", _address(endpoint.bolt_uri))
        table.add_row("browser", _address(f"{endpoint.http_url}/browser"))
    if key := started.services.admin_key_file:
        table.add_row("admin key", Text(f"made now, in {key}"))
    table.add_row("", "Ctrl-C stops it")
    stdout().print(table)


TENANT = "demo"
_BATCH = 50
_SHOWN = 3
_WARM_CUE = "What did Mara say about the house in March?"
_WIDTH = 80
_TIMEOUT_S = 600.0
"""Longer than a first query takes on a slow machine."""


async def show(settings: Settings, *, keep: bool) -> None:
    """Tell the whole story once; on a terminal, or with `keep`, stay until the reader ends it."""
    console = stdout()
    console.width = min(console.width, _WIDTH)
    console.print()
    console.print("[bold]Ecphoria[/bold]  [dim]a cue wakes a stored trace[/dim]")
    start = time.monotonic()
    async with running(settings) as service:
        started = service.started
        stays = keep or (console.is_terminal and sys.stdin.isatty())
        key = _operator_key(settings)
        async with AsyncClient(started.url, key, tenant=TENANT, timeout=_TIMEOUT_S) as client:
            with contextlib.suppress(Conflict):
                await client.admin.create_tenant(TENANT)
            if stays:
                await _say_explorer(console, client, started.url)
            _say_ready(console, started, time.monotonic() - start)
            await remember(console, client)
            # Neo4j plans a query when it first runs (decision 0039), so one recall is not shown.
            await client.recall(_WARM_CUE, k=10, explain=True, record=False)
            for number, question in enumerate(sample_questions(), start=1):
                await _ask(console, client, number, question)
        if stays:
            _say_next(console, started, settings)
            await _until_done(console, service, keep=keep)
    if not stays:
        _say_ended(console, settings)


def _operator_key(settings: Settings) -> str | None:
    """Find the key that may create the demo's tenant: the operator's own, or the one made.

    Raises:
        Misconfigured: The store is in use, and its key is not here.
    """
    if settings.auth.bootstrap_key is not None:
        return settings.auth.bootstrap_key.get_secret_value()
    key = admin_key(settings.home)
    if key is None and settings.auth.enabled:
        raise Misconfigured(
            f"This store is in use already, and {settings.home} does not hold its admin key. Give "
            "the home folder of its service with --home, or an operator's key in "
            "ECPHORIA_AUTH__BOOTSTRAP_KEY."
        )
    return key


def _say_ready(console: Console, started: Started, seconds: float) -> None:
    engine = started.services.engine
    store = engine.bolt_uri if engine else started.services.settings.neo4j.uri
    said = f"Neo4j at {store}, service at {started.url} ({seconds:.0f} s)"
    console.print(Text(said, style="dim"))


async def _say_explorer(console: Console, client: AsyncClient, url: str) -> None:
    made = await client.admin.explorer_ticket(write=True)
    console.print(
        "[bold]See it in a browser[/bold]  [dim]this address works once, for 2 min[/dim]"
    )
    # Never broken: a reader clicks on it, or copies it as one line.
    console.print(_address(explorer_address(url, made.ticket)), soft_wrap=True)


async def remember(console: Console, client: AsyncClient) -> None:
    """Store the sample with its facts, consolidate, and put some turns to sleep; once a tenant."""
    start = time.monotonic()
    known = (await client.stats()).episodes >= len(sample_conversation())
    asleep = () if known else await _store(console, client)
    stats = await client.stats()
    took = "already there" if known else f"{time.monotonic() - start:.1f} s"
    console.print(
        f"[dim]{stats.episodes} turns of {stats.speakers} friends,"
        f" {_period(stats.first_occurred_at, stats.last_occurred_at)}:"
        f"\n{stats.next_edges:,} NEXT edges, {stats.concepts} concepts ({took})[/dim]"
    )
    if not known:
        report = await client.consolidate(timeout_s=_TIMEOUT_S)
        console.print(f"[dim]{_consolidated(report)}[/dim]")
        await client.archive.sleep(asleep)
        console.print(f"[dim]{len(asleep)} turns that hold little were put to sleep[/dim]")


async def _store(console: Console, client: AsyncClient) -> Sequence[str]:
    """Store the sample with its facts; return the ids of what shall sleep."""
    facts = sample_facts()
    for predicate, kind in facts.predicates.items():
        await client.facts.set_predicate_class(predicate, kind)
    turns = with_facts(sample_conversation(), facts.extractions)
    ids: list[str | None] = []
    with counting(console) as progress:
        task = progress.add_task("remembering", total=len(turns))
        for part in in_parts(turns, _BATCH):
            stored = await client.append_batch(part)
            ids += [one.id for one in stored.results]
            progress.update(task, completed=len(ids))
    return [
        ident
        for turn, ident in zip(turns, ids, strict=True)
        if ident is not None and turn.idempotency_key in facts.asleep
    ]


def _consolidated(report: ConsolidationReport) -> str:
    """Say in one line what a consolidation did."""
    counts = {f"{step.name}.{name}": n for step in report.steps for name, n in step.counts.items()}
    summaries = counts.get("engrams.made", 0) + counts.get("clusters.made", 0)
    names = counted(counts.get("merge.proposed", 0), "pair")
    alike = counted(report.after.edges.get("SIMILAR", 0) if report.after else 0, "pair")
    return (
        f"consolidated: {counted(summaries, 'summary', 'summaries')},"
        f" {names} of names that may mean the same,\n{alike} of memories that are alike,"
        f" {counts.get('prior.episodes', 0)} ranked by PageRank ({report.seconds:.1f} s)"
    )


def _period(first: datetime | None, last: datetime | None) -> str:
    return f"{first:%B} to {last:%B %Y}" if first and last else ""


async def _ask(
    console: Console, client: AsyncClient, number: int, question: SampleQuestion
) -> None:
    answer = await client.recall(question.question, k=10, explain=True)
    shown = best_of(question, answer)
    episodes: dict[str, Episode] = {}
    for node in sorted(path_nodes(shown)):
        with contextlib.suppress(NotFound):
            episodes[node] = await client.get(node)
    console.print()
    console.rule(Text(f"{number}  {question.question}", style="cue"), align="left", style="rail")
    console.print(Text(question.why, style="dim italic"))
    console.print(draw_verdict(answer))
    console.print(Padding(draw_hits(shown, explain=True, episodes=episodes), (1, 0, 0, 0)))
    console.print(_evidence(question, answer))
    console.print(draw_timings(answer))


def best_of(question: SampleQuestion, answer: RecallResult) -> RecallResult:
    """Keep the first three hits of a recall, and all hits with evidence for the question."""
    hits = tuple(
        hit for hit in answer.hits if hit.rank <= _SHOWN or hit.episode.text in question.evidence
    )
    return replace(answer, hits=hits)


def _evidence(question: SampleQuestion, answer: RecallResult) -> Text:
    """Compare with what the sample says is right: which hits hold the answer, if any can."""
    if not question.evidence:
        right = answer.verdict.refused
        said = f"{'Right' if right else 'Not right'}: nothing in the sample answers this."
        return Text(said, style="green" if right else "yellow")
    ranks = [str(hit.rank) for hit in answer.hits if hit.episode.text in question.evidence]
    if not ranks:
        return Text(f"The answer is not among the best {len(answer.hits)}.", style="yellow")
    noun = "memory" if len(ranks) == 1 else "memories"
    return Text(f"The answer is in {noun} {' and '.join(ranks)}.", style="green")


def _command() -> str:
    """Name the command as the reader can call it."""
    return "ecphoria" if shutil.which("ecphoria") else sys.argv[0]


def _of_home(settings: Settings) -> str:
    """Give the option of the home folder, unless it is the usual one; its key is there."""
    told = "home" in settings.model_fields_set
    return f" --home {shlex.quote(str(settings.home))}" if told else ""


def _say_ended(console: Console, settings: Settings) -> None:
    """Say how to keep the service running; no address of it answers any more."""
    console.print()
    console.print(
        Text.assemble(
            "The service has ended; what it stored stays. To look at it in a browser, or to ask a"
            " question of your own, keep the service running:\n",
            (f"{_command()} demo --keep{_of_home(settings)}", "address"),
        )
    )


def _say_next(console: Console, started: Started, settings: Settings) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    there = "" if started.url == DEFAULT_URL else f" --server {started.url}"
    there += _of_home(settings)
    command = _command()
    table.add_row("explorer", Text(f"{command} explore --tenant {TENANT} --write{there}"))
    table.add_row("API docs", _address(f"{started.url}/docs"))
    if endpoint := started.services.engine:
        table.add_row("Neo4j Browser", _address(f"{endpoint.http_url}/browser"))
        table.add_row("", f"connect to {endpoint.bolt_uri}")
        table.add_row("", f"user {endpoint.user}, password {endpoint.password}")
    table.add_row("its style", _address(f"{started.url}/browser-guide/ecphoria.grass"))
    table.add_row("its queries", _address(f"{started.url}/v1/browser"))
    asked = f"{command} recall 'Who has a parrot?' --explain --tenant {TENANT}{there}"
    table.add_row("ask yourself", Text(asked))
    table.add_row("start afresh", Text(f"{command} tenants erase {TENANT}{there}"))
    table.add_row("everything is in", Text(str(settings.home)))
    console.print()
    console.print(Panel(table, title="Where to look next", title_align="left", style="none",
                        border_style="rail", padding=(0, 1)))  # fmt: skip


async def _until_done(console: Console, service: Running, *, keep: bool) -> None:
    said = "Ctrl-C ends the demo." if keep else "Enter ends the demo; what it stored stays."
    console.print(f"[dim]These addresses work while this runs. {said}[/dim]")
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()
    if not keep:
        loop.add_reader(sys.stdin, entered.set)
    waiting = asyncio.create_task(entered.wait())
    try:
        await asyncio.wait({waiting, service.ended}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        console.print("[dim]Stopping.[/dim]")  # the way out that was offered
    finally:
        waiting.cancel()
        if not keep:
            loop.remove_reader(sys.stdin)
