"""Measure how often outdated facts outrank current ones, on a generated stream."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ecphoria.cli.progress import Watch
from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import RecallResult
from ecphoria.runtime import in_parts
from ecphoria_eval.datasets.changing import Asked, Stream, make_stream, plain
from ecphoria_eval.rows import write_json
from ecphoria_eval.run import LONGEST_READING_S, Connect, own_tenant, send

_BATCH, _K = 200, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of the questions, the share where ...

    Attributes:
        stale: a value that was over stood above the one that held, or alone among the ten.
        first: the very first hit claims the value that held.
        found: the value that held is among the ten.
    """

    stale: float
    first: float
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactReport:
    """The figures of a stream.

    Attributes:
        stated: With the facts stated, asked now.
        past: The same, asked as of an instant before the last change; None if no question has one.
        words: The same texts without any fact, asked now.
        read: The same texts, with the facts that a language model read in them; None without one.
        model: The model's name.
        unrelated_retired: Facts that hold and are said not to.
        not_retired: Facts that are over and are said to hold.
    """

    keys: int
    episodes: int
    facts: int
    seed: int
    stated: Shares
    past: Shares | None
    words: Shares
    unrelated_retired: int
    not_retired: int
    read: Shares | None = None
    model: str | None = None


def show_facts(report: FactReport, console: Console, out: Path | None) -> None:
    """Print the table, and write the report where asked."""
    table = Table(box=SIMPLE_HEAD)
    for name in ("", "stale", "first", "found"):
        table.add_column(name, justify="right" if name else "left")
    for name, shares in (
        ("facts stated", report.stated),
        ("facts stated, as of before the last change", report.past),
        ("words alone", report.words),
        (f"facts read by {report.model}", report.read),
    ):
        if shares is None:
            continue
        figures = (shares.stale, shares.first, shares.found)
        table.add_row(name, *(f"{100 * share:.1f} %" for share in figures))
    console.print(
        f"{report.keys:,} changing facts among {report.facts:,}, {report.episodes:,} episodes, "
        f"seed {report.seed}"
    )
    console.print(table)
    console.print(f"unrelated facts retired   {report.unrelated_retired}")
    console.print(f"facts over but not ended  {report.not_retired}")
    if out is not None:
        write_json(out, asdict(report))


async def measure_facts(
    connect: Connect,
    watch: Watch,
    *,
    name: str,
    keys: int = 200,
    seed: int = 1,
    model: str | None = None,
) -> FactReport:
    """Send the stream to tenants of their own, ask, and erase them.

    Args:
        connect: Opens a client.
        watch: Told the progress.
        name: Start of the tenants' names.
        keys: Number of changing facts.
        seed: Of the stream.
        model: Name of the service's language model, if it is to read the words.

    Raises:
        ModelMissing: The service has no language model.
        EcphoriaError: The service cannot be used.
    """
    stream = make_stream(keys, seed)
    async with own_tenant(connect, f"{name}-stated") as client:
        sent = stream.episodes.items()
        places = await _append(client, sent, len(stream.episodes), watch)
        stated = await _ask(client, stream.questions, places, watch, past=False)
        past = None
        if any(question.then for question in stream.questions):
            past = await _ask(client, stream.questions, places, watch, past=True)
        wrong, missed, facts = await _check(client, stream)
    async with own_tenant(connect, f"{name}-words") as client:
        places = await _append(client, plain(stream), len(stream.episodes), watch)
        words = await _ask(client, stream.questions, places, watch, past=False)
        read = None
        if model is not None:
            watch("reading", 0, len(stream.episodes))
            await client.consolidate(steps=("extract",), timeout_s=LONGEST_READING_S)
            read = await _ask(client, stream.questions, places, watch, past=False)
    return FactReport(
        keys=keys,
        episodes=len(stream.episodes),
        facts=facts,
        seed=seed,
        stated=stated,
        past=past,
        words=words,
        unrelated_retired=wrong,
        not_retired=missed,
        read=read,
        model=model,
    )


async def _append(
    client: AsyncClient, episodes: Iterable[tuple[str, NewEpisode]], total: int, watch: Watch
) -> dict[str, str]:
    """Send everything; give the ids of the episodes by their names."""
    refused = Counter[str]()
    known: dict[str, str] = {}
    for part in in_parts(list(episodes), _BATCH):
        known |= await send(client, part, refused)
        watch("appending", len(known), total)
    assert not refused, f"the stream holds what cannot be stored: {dict(refused)}"
    return {ident: episode for episode, ident in known.items()}


async def _ask(
    client: AsyncClient,
    questions: Sequence[Asked],
    places: dict[str, str],
    watch: Watch,
    *,
    past: bool,
) -> Shares:
    stale = first = found = 0
    asked = [one for one in questions if not past or one.then is not None]
    for done, question in enumerate(asked, 1):
        at = question.then if past else None
        answer = await client.recall(question.cue, k=_K, as_of=at, record=False, collapse=False)
        claimed = _claimed(answer, question, places)
        held = question.held(at)
        there = [value for value in claimed if value is not None]
        stale += bool(there) and there[0] != held
        first += bool(claimed) and claimed[0] == held
        found += held in there
        watch("asking as of then" if past else "asking", done, len(asked))
    size = len(asked)
    return Shares(stale=stale / size, first=first / size, found=found / size)


def _claimed(answer: RecallResult, question: Asked, places: dict[str, str]) -> list[str | None]:
    """Tell of each hit which of the values it claims."""
    value_of = {places[one]: value for value, told in question.claims.items() for one in told}
    return [value_of.get(hit.episode.id) for hit in answer.hits]


async def _check(client: AsyncClient, stream: Stream) -> tuple[int, int, int]:
    """Count facts that hold and are said not to, the reverse, and all of them."""
    wrong = missed = total = 0
    async for fact in client.facts.list(page_size=1_000):
        total += 1
        named = fact.subject, fact.predicate, fact.object
        wrong += named in stream.standing and not fact.valid
        missed += named in stream.ended and fact.valid
    return wrong, missed, total
