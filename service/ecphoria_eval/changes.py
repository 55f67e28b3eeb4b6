"""Measure whether the newest memory stands above those it makes outdated, on generated talk."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ecphoria.cli.progress import Watch
from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import RecallResult
from ecphoria_eval.datasets.changes import ScriptedQuestion, ScriptedTalk, ScriptedTurn, make_talks
from ecphoria_eval.rows import write_json
from ecphoria_eval.run import Connect, append_all, own_tenant

_K = 10


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts over questions of one kind, or of all.

    Attributes:
        asked: Questions about a change.
        above: Of these, those whose newest memory stands above the outdated one.
        without: The same with `newest_first` off.
        marked: Those whose outdated memory is a hit and marked with the newest one, or no hit.
        unchanged: Questions about what did not change.
        false: Questions of both sorts with a mark on a memory that still holds.
        past: Questions about the past.
        former: Of these, those whose former memory is a hit, and above the newest one.
    """

    asked: int = 0
    above: int = 0
    without: int = 0
    marked: int = 0
    unchanged: int = 0
    false: int = 0
    past: int = 0
    former: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport:
    """The figures of one split; `kinds` has them by language and kind."""

    split: str
    stores: int
    seed: int
    turns: int
    total: Counts = field(default_factory=Counts)
    kinds: dict[str, Counts] = field(default_factory=dict)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of texts that were marked and should not be."""


def show_changes(report: ChangeReport, console: Console, out: Path | None) -> None:
    """Print the table, and write the report where asked."""
    table = Table(box=SIMPLE_HEAD)
    for name in ("kind", "newest above", "option off", "marked", "false marks", "former first"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind, counts in (*sorted(report.kinds.items()), ("all", report.total)):
        everything = counts.asked + counts.unchanged
        table.add_row(
            kind,
            _share(counts.above, counts.asked),
            _share(counts.without, counts.asked),
            _share(counts.marked, counts.asked),
            _share(counts.false, everything),
            _share(counts.former, counts.past),
        )
    console.print(
        f"{report.split}: {report.total.asked:,} changes, {report.total.unchanged:,} groups"
        f" without one, {report.turns:,} turns in {report.stores} stores, seed {report.seed}"
    )
    console.print(table)
    if out is not None:
        write_json(out, asdict(report))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


async def measure_changes(
    connect: Connect, watch: Watch, name: str, split: str, *, stores: int = 20, seed: int = 1
) -> ChangeReport:
    """Send each talk to a tenant of its own, ask its questions, and erase it.

    Args:
        connect: Opens a client.
        watch: Told the progress.
        name: Start of the tenants' names.
        split: The sentences.
        stores: Number of talks, in English and German by turns.
        seed: Of the talks.

    Raises:
        EcphoriaError: The service cannot be used.
        InvalidInput: There is no such split.
    """
    talks = make_talks(split, stores, seed)
    report = ChangeReport(
        split=split, stores=stores, seed=seed, turns=sum(len(talk.turns) for talk in talks)
    )
    for done, talk in enumerate(talks, 1):
        async with own_tenant(connect, f"{name}-{done}") as client:
            places = await _append(client, talk)
            for question in talk.questions:
                await _count(client, talk, question, places, report)
        watch("asking", done, len(talks))
    return report


async def _append(client: AsyncClient, talk: ScriptedTalk) -> dict[str, str]:
    """Send the turns; give the names of the turns by the ids of their episodes."""
    refused = Counter[str]()
    turns = [(turn.name, _request(turn)) for turn in talk.turns]
    places = await append_all(client, turns, refused, lambda _: None)
    assert not refused, f"the talk holds what cannot be stored: {dict(refused)}"
    return places


def _request(turn: ScriptedTurn) -> NewEpisode:
    return NewEpisode(
        text=turn.text,
        speaker=turn.speaker,
        role="user",
        session=turn.session,
        occurred_at=turn.occurred_at,
        idempotency_key=turn.name,
    )


async def _count(
    client: AsyncClient,
    talk: ScriptedTalk,
    asked: ScriptedQuestion,
    places: dict[str, str],
    report: ChangeReport,
) -> None:
    counts = report.kinds.setdefault(f"{talk.language} {asked.kind}", Counts())
    both = (counts, report.total)
    now = await _ask(client, asked.cue, asked.asker)
    wrong = _wrong(now, talk, places)
    report.wrong.extend(wrong)
    for one in both:
        one.false += bool(wrong)
    if not asked.changed or asked.past is None:
        for one in both:
            one.unchanged += 1
        return
    off = await _ask(client, asked.cue, asked.asker, newest_first=False)
    before = await _ask(client, asked.past, asked.asker)
    for one in both:
        one.asked += 1
        one.above += _is_above(now, asked, places)
        one.without += _is_above(off, asked, places)
        one.marked += _is_marked(now, asked, places)
        one.past += 1
        one.former += _is_former_first(before, asked, places)


async def _ask(
    client: AsyncClient, cue: str, asker: str, *, newest_first: bool = True
) -> RecallResult:
    return await client.recall(cue, k=_K, asker=asker, record=False, newest_first=newest_first)


def _names(found: RecallResult, places: dict[str, str]) -> list[str]:
    """Name the turns of the hits, best first; of copies, the newest one."""
    return [places[(hit.copies or (hit.episode.id,))[-1]] for hit in found.hits]


def _is_above(found: RecallResult, asked: ScriptedQuestion, places: dict[str, str]) -> bool:
    names = _names(found, places)
    if asked.newer not in names:
        return False
    return not asked.older & set(names[: names.index(asked.newer)])


def _is_former_first(found: RecallResult, asked: ScriptedQuestion, places: dict[str, str]) -> bool:
    first = [name for name in _names(found, places) if name in {*asked.older, asked.newer}][:1]
    return asked.older.issuperset(first) and bool(first)


def _is_marked(found: RecallResult, asked: ScriptedQuestion, places: dict[str, str]) -> bool:
    older = [hit for hit in found.hits if places[hit.episode.id] in asked.older]
    return all(hit.outdated_by and places[hit.outdated_by] == asked.newer for hit in older)


def _wrong(
    found: RecallResult, talk: ScriptedTalk, places: dict[str, str]
) -> Sequence[tuple[str, str]]:
    """List the hits with a mark that still hold, each with the text that marks it."""
    texts = {hit.episode.id: hit.episode.text for hit in found.hits}
    return [
        (hit.episode.text, texts[hit.outdated_by])
        for hit in found.hits
        if hit.outdated_by is not None and places[hit.episode.id] not in talk.outdated
    ]
