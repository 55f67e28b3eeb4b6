"""Draw a recall on the terminal: the verdict, the hits, and the path to each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text
from rich.tree import Tree

from ecphoria.cli.terminal import table
from ecphoria.client import Client
from ecphoria.errors import NotFound
from ecphoria.records.ask import Citation, CitedAnswer
from ecphoria.records.episode import Episode
from ecphoria.records.recall import Hit, NearMiss, PathStep, RecallResult, Trace, Verdict

if TYPE_CHECKING:
    from ecphoria.records.calibration import Bin

_SAYINGS = {
    Verdict.ANSWER: "I remember",
    Verdict.VERIFY: "I think I remember",
    Verdict.REFUSE: "I don't know",
    Verdict.EMPTY: "I don't know",
}
_SEEDED_BY = {
    "text": "words of the cue",
    "vector": "meaning of the cue",
    "name": "a name in the cue",
    "rank": "found first",
}
_CLIP = 160
_PATH_CLIP = 60
Episodes = Mapping[str, Episode]


def draw_verdict(answer: RecallResult | Trace) -> RenderableType:
    """Show the verdict, the confidence and the reasons; without hits, the nearest memories."""
    said = Text.assemble(
        (_SAYINGS[answer.verdict], f"bold verdict.{answer.verdict}"),
        (f"  confidence {answer.confidence:.2f}", "dim"),
    )
    # Beside hits, which score higher, the nearest misses would only look like better answers.
    misses = () if isinstance(answer, Trace) or answer.hits else answer.misses
    return Group(said, *_why(answer.reasons, misses))


def draw_answer(answer: CitedAnswer, episodes: Episodes) -> RenderableType:
    """Show each sentence with the quotes it rests on; without an answer, why there is none."""
    lines: list[RenderableType] = []
    for sentence in answer.sentences:
        lines.append(Text(sentence.text, style=f"bold verdict.{answer.verdict}"))
        lines += [_indented(_citation(citation, episodes)) for citation in sentence.citations]
    if not answer.answered:
        lines.append(Text(answer.text, style=f"bold verdict.{Verdict.REFUSE}"))
        lines += _why(answer.reasons, answer.misses)
    dropped = f", {answer.dropped} sentences dropped" if answer.dropped else ""
    spent = f"{answer.model}: {answer.tokens:,} tokens{dropped}, trace {answer.trace_id}"
    return Group(*lines, Text(spent, style="dim"))


def _why(reasons: Sequence[str], misses: Sequence[NearMiss]) -> list[RenderableType]:
    """Show the reasons, and the two nearest of the misses."""
    told = [Text.assemble(("· ", "rail"), reason) for reason in reasons]
    told += [
        Text(f"nearest {miss.score:.3f}: {_clipped(miss.text, _PATH_CLIP)}", style="dim")
        for miss in misses[:2]
    ]
    return [_indented(line) for line in told]


def _indented(line: Text) -> RenderableType:
    return Padding(line, (0, 0, 0, 2), expand=False)


def _citation(citation: Citation, episodes: Episodes) -> Text:
    episode = episodes.get(citation.episode)
    if episode is None:
        return Text(f"{citation.episode}  {_clipped(citation.quote, _CLIP)}", style="dim")
    return _quote(episode, _CLIP, f"“{citation.quote}”")


def draw_hits(answer: RecallResult, *, explain: bool, episodes: Episodes) -> RenderableType:
    """List the hits; with `explain`, show the path to each, and the parts of the score."""
    table = _hits_table()
    known = dict(episodes) | {hit.episode.id: hit.episode for hit in answer.hits}
    for hit in answer.hits:
        body: list[RenderableType] = [_quote_hit(hit)]
        if explain:
            body += [_path(hit.path, hit.episode.id, known), _parts(hit.parts)]
            body.append("")
        table.add_row(str(hit.rank), f"{hit.score:.3f}", Group(*body))
    return table


def _hits_table() -> Table:
    """Make a table with columns for the rank, the score and the memory."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim", width=2)
    table.add_column(justify="right", style="score", width=5)
    table.add_column(ratio=1)
    return table


def draw_trace(trace: Trace, episodes: Episodes) -> RenderableType:
    """List the hits of an earlier recall with the path to each; some may be erased."""
    table = _hits_table()
    for hit in trace.hits:
        found = episodes.get(hit.episode)
        quote = Text(f"{hit.episode}, erased", "dim") if found is None else _quote(found, _CLIP)
        parts = _parts(hit.parts)
        body = Group(quote, _path(hit.path, hit.episode, episodes), parts, "")
        table.add_row(str(hit.rank), f"{hit.score:.3f}", body)
    return table


def draw_timings(answer: RecallResult) -> Text:
    """Show the strategy, the time of each phase, and what was missing."""
    total = answer.timings_ms.get("total", sum(answer.timings_ms.values()))
    phases = ", ".join(f"{n} {ms:.0f}" for n, ms in answer.timings_ms.items() if n != "total")
    said = f"{answer.strategy}: {total:.0f} ms ({phases})"
    lines = [said, *(f"degraded: {missing}" for missing in answer.degraded)]
    return Text("\n".join(lines), style="dim")


def path_nodes(answer: RecallResult) -> set[str]:
    """Name the episodes on the paths of the hits that are not hits themselves."""
    hits = {hit.episode.id for hit in answer.hits}
    steps = (step for hit in answer.hits for step in hit.path)
    return {step.node for step in steps if step.kind == "episode"} - hits


def episodes_on_paths(client: Client, nodes: Collection[str]) -> dict[str, Episode]:
    """Fetch episodes a path leads through; one deleted meanwhile is left out."""
    found: dict[str, Episode] = {}
    for node in sorted(nodes):
        try:
            found[node] = client.get(node)
        except NotFound:
            continue
    return found


def _quote_hit(hit: Hit) -> Text:
    """Quote a memory, of a long one the part that matches best, and say how often it was said."""
    text, passage = hit.episode.text, hit.passage
    if passage is not None:
        before = "…" if text[: passage.start].strip() else ""
        after = "…" if text[passage.end :].strip() else ""
        text = f"{before}{text[passage.start : passage.end]}{after}"
    quote = _quote(hit.episode, _CLIP, text)
    if hit.copies:
        verb = "said" if hit.episode.speaker else "recorded"
        quote.append(f"  {verb} {len(hit.copies) + 1} times", style="dim")
    if hit.superseded_at is not None:
        quote.append(f"  outdated since {_day(hit.superseded_at)}", style="dim")
    if hit.outdated_by is not None:
        quote.append(f"  outdated by {hit.outdated_by[:8]}", style="dim")
    return quote


def _quote(episode: Episode, clip: int, text: str | None = None) -> Text:
    return Text.assemble(
        (said_by(episode), "speaker"),
        (f"  {_day(episode.occurred_at)}  ", "when"),
        _clipped(episode.text if text is None else text, clip),
    )


def said_by(episode: Episode) -> str:
    """Name who said a memory, or what it is; chats of other products have roles only."""
    return episode.speaker or episode.title or episode.role or episode.source or "note"


def _path(path: Sequence[PathStep], to: str, known: Episodes) -> RenderableType:
    if not path:
        return Text("no path was recorded", style="dim")
    tree = Tree(_step(path[0], to, known, first=True), guide_style="rail")
    branch = tree
    for step in path[1:]:
        branch = branch.add(_step(step, to, known, first=False))
    return tree


def _step(step: PathStep, to: str, known: Episodes, *, first: bool) -> Text:
    edge = _SEEDED_BY.get(step.edge, step.edge) if first else step.edge
    line = Text.assemble((edge, "edge"), (f" {step.energy:.2f} ", "dim"), ("→ ", "rail"))
    if step.node == to:
        return line.append("this memory", style="italic")
    if step.kind == "episode" and step.node in known:
        return line.append_text(_quote(known[step.node], _PATH_CLIP))
    return line.append(step.label or step.node[:8], style="bold").append(f" ({step.kind})", "dim")


def _parts(parts: Mapping[str, float]) -> Text:
    present = ((name, part) for name, part in parts.items() if abs(part) >= 0.0005)
    ranked = sorted(present, key=lambda item: (-abs(item[1]), item[0]))
    return Text("= " + _sum(ranked), style="dim")


def _sum(parts: Iterable[tuple[str, float]]) -> str:
    said = "".join(f" {'-' if part < 0 else '+'} {abs(part):.3f} {name}" for name, part in parts)
    return said.removeprefix(" + ") or "0"


def _clipped(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _day(instant: datetime) -> str:
    return f"{instant.day} {instant:%b %Y}"


def reliability_table(bins: "Sequence[Bin]") -> Table:
    """One line a bin of confidence: how many questions, and the share that has an answer."""
    right = (Column(name, justify="right") for name in ("n", "mean", "share right"))
    rows = table(Column("confidence", no_wrap=True), *right)
    for one in bins:
        means = (f"{100 * value:.1f}" for value in (one.confidence, one.right))
        rows.add_row(f"{one.low:.1f} to {one.high:.1f}", f"{one.n:,}", *means)
    return rows
