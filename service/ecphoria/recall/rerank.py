"""The reader's second look at the first hits: it reorders them, and says how sure it is.

A reader sees the cue and a memory together, so it knows the topic without the detail. It was
trained on questions about talk and stories. So it reads turns of people and assistants, and leaves
titled documents, records of tools, and cues in a language that it does not read as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ecphoria.errors import EcphoriaError
from ecphoria.ports import Reader
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.records.episode import Episode

READER: Final = "reader"
"""The part of a score that tells by how much the reader moved a memory."""

_READ: Final = 5
"""Number of hits that are read; the gate was fitted on exactly so many."""
_NOT_TALK: Final = frozenset({"tool", "system"})

# Fitted on talk, each kind by the others (decision 0056).
_WEIGHT: Final = 0.4
"""Weight of a logit in the order, in deviations of the scores that it joins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """The ranking after the reader, and its figure.

    Attributes:
        ranked: The ranking, its first hits in the reader's order.
        logit: The reader's logit of the best of them; none if nothing was read.
        degraded: Why nothing was read, if the reader does not work.
    """

    ranked: Ranked
    logit: float | None = None
    degraded: tuple[str, ...] = ()


async def reread(search: Search, ranked: Ranked, cue: str, reader: Reader | None) -> Reread:
    """Let the reader order the first hits of a loaded ranking.

    The cue is in a language that the reader reads; `ranked` has the texts of the first hits.
    """
    if reader is None:
        return Reread(ranked=ranked, degraded=("only the default embedder has a reader",))
    rows = _readable(search, ranked)
    if not rows:
        return Reread(ranked=ranked)
    texts = [_told(ranked.episodes[ranked.ids[row]]) for row in rows]
    try:
        logits = (await reader.read(cue, texts)).astype(np.float64)
    except EcphoriaError as error:
        return Reread(ranked=ranked, degraded=(f"the hits were not read: {error}",))
    score = ranked.score[rows]
    joined = score + _WEIGHT * (float(score.std()) or 1.0) * logits
    places = np.argsort(-joined, kind="stable")
    return Reread(ranked=_moved(ranked, rows, places.tolist()), logit=float(logits.max()))


def _readable(search: Search, ranked: Ranked) -> list[int]:
    """List the rows of the first turns whose places may change.

    Echoes stay below, and a memory stays where newest first has put it.
    """
    placed = {*ranked.superseded, *ranked.outdated, *ranked.outdated.values()}
    fixed = search.echo_ids | placed
    return [
        row
        for row, one in enumerate(ranked.ids[:_READ])
        if one not in fixed and one in ranked.episodes and _is_talk(ranked.episodes[one])
    ]


def _is_talk(episode: Episode) -> bool:
    return not episode.title and episode.role not in _NOT_TALK


def _told(episode: Episode) -> str:
    who = episode.speaker or episode.role
    return f"{who}: {episode.text}" if who else episode.text


def _moved(ranked: Ranked, rows: Sequence[int], places: Sequence[int]) -> Ranked:
    """Exchange the places of some rows; each gets the score of its new place."""
    score = ranked.score
    order, moved = list(range(len(ranked.ids))), np.zeros(len(ranked.ids))
    for row, place in zip(rows, places, strict=True):
        order[row] = rows[place]
        moved[rows[place]] = score[row] - score[rows[place]]
    return ranked.with_part(READER, moved).kept(order)
