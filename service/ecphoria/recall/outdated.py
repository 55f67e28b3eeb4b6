"""Newest first: where a speaker says later that something changed, the later memory stands above.

Among the first memories of a ranking, each is compared with the later ones of the same speaker. By
facts: all facts that a memory claims have ended, and another memory claims the current one. By
words, without facts: a later statement about the same thing has words of change, or another value
in the same frame (`text.change`).

The outdated memory keeps its score and is marked with the later one. The later one moves directly
above it if it stood below. A cue that asks for the past keeps its order; the marks stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

from ecphoria.recall.answer import Shown, load_shown
from ecphoria.recall.current_facts import Superseded, raised
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit, RecallOptions
from ecphoria.runtime import run_off_loop
from ecphoria.text.change import TELLS_CHANGE, replaces, restates
from ecphoria.text.statements import Statement, read_statements

PART: Final = "newest"
"""The part of a score that raises a later memory above the one that it makes outdated."""

_FIRST: Final = 20
"""Number of the first ranked memories that are compared."""

_MORE: Final = 15
"""Largest number of further ones with a word of change: in a language that the encoder does not
know, "I sold the car" stands far below "I drive a car"."""

_DEEPEST: Final = 100
"""Rank up to which these are sought."""

_UNREAD: Final = frozenset({"tool", "system"})
"""Roles whose memories are records of single events, such as the output of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A memory with the statements of its text; `place` orders memories in time."""

    id: EpisodeId
    speaker: tuple[str, str]
    place: tuple[float, int]
    statements: tuple[Statement, ...]


async def load_newest_first(
    search: Search,
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    options: RecallOptions,
    *,
    lift: bool,
) -> tuple[Shown, Mapping[EpisodeId, EpisodeId]]:
    """Load the memories of an answer, and rank those that replace outdated ones above them.

    Args:
        search: The recall.
        ranked: Its ranking.
        behind: The memories whose facts have ended.
        options: How to recall; without `newest_first` nothing is compared.
        lift: Whether the order may change.

    Returns:
        The memories, and for each outdated one the one that makes it outdated.
    """
    compared = _compared(search, ranked, options.k) if options.newest_first else ()
    shown = await load_shown(
        search, ranked, behind, k=options.k, collapse=options.collapse, more=compared
    )
    there = set(shown.ranked.ids) - search.echo_ids
    episodes = [shown.episodes[one] for one in compared if one in there and one in shown.episodes]
    if not episodes:
        return shown, {}
    size = sum(len(one.text) for one in episodes)
    by_words = await run_off_loop(partial(_outdated, search, shown, episodes, behind), size)
    by = {**by_words, **_outdated_by_facts(shown.ranked, behind)}
    pairs = [(older, {by[older]}) for older in shown.ranked.ids if older in by]
    if not (pairs and lift):
        return shown, by
    return replace(shown, ranked=raised(shown.ranked, pairs, PART)), by


def _compared(search: Search, ranked: Ranked, k: int) -> tuple[EpisodeId, ...]:
    """List the memories to compare: the first, and those below that have words of change.

    Only the stems of the candidates are read. Of the memories below, those of the speakers of
    the first `k` count.
    """
    row, columns = search.candidates.row, search.candidates.columns
    speakers = {columns.speaker[row[one]] for one in ranked.ids[:k] if one in row}
    below = (
        one
        for one in ranked.ids[_FIRST:_DEEPEST]
        if one in row
        and columns.speaker[row[one]] in speakers
        and not TELLS_CHANGE.isdisjoint(columns.terms[row[one]].split())
    )
    return (*ranked.ids[:_FIRST], *islice(below, _MORE))


def told_newer(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Name the outdated hits and the hits that replace them, in words."""
    return tuple(
        f"Hit {hit.rank} is outdated by hit {hit.outdated_by_rank}."
        for hit in hits
        if hit.outdated_by_rank is not None
    )


def _outdated_by_facts(
    ranked: Ranked, behind: Mapping[EpisodeId, Superseded]
) -> dict[EpisodeId, EpisodeId]:
    """Find for each memory whose facts have ended the best one that claims what holds."""
    if not behind:
        return {}
    holders = {
        older: next((one for one in ranked.ids if one in late.holders), None)
        for older, late in behind.items()
    }
    return {
        older: one for older, one in holders.items() if one is not None and older in ranked.ids
    }


def _outdated(
    search: Search,
    shown: Shown,
    episodes: Sequence[Episode],
    behind: Mapping[EpisodeId, Superseded],
) -> dict[EpisodeId, EpisodeId]:
    """Find by their words, for each outdated memory, the newest one that makes it outdated."""
    told = sorted(_told(episodes, shown), key=lambda one: one.place)
    found: dict[EpisodeId, EpisodeId] = {}
    for at, older in enumerate(told):
        # A memory whose facts have ended was said later, but tells what was so before.
        later = [
            one for one in told[at + 1 :] if one.speaker == older.speaker and one.id not in behind
        ]
        for one in reversed(later):
            if _says_again(one, older):
                break
            if _makes_outdated(one, older, search):
                found[older.id] = one.id
                break
    return found


def _told(episodes: Sequence[Episode], shown: Shown) -> list[_Told]:
    """Read the memories that may state something; documents and records of tools are left out."""
    return [
        _Told(
            id=one.id,
            speaker=((one.speaker or "").casefold(), one.role or ""),
            place=_last_place(one, shown),
            statements=statements,
        )
        for one in episodes
        if not one.title and one.role not in _UNREAD and (statements := read_statements(one.text))
    ]


def _last_place(episode: Episode, shown: Shown) -> tuple[float, int]:
    """Place a memory in time by its newest copy."""
    copies = (shown.episodes[one] for one in shown.copies.get(episode.id, ()))
    return max((one.occurred_at.timestamp(), one.turn) for one in (episode, *copies))


def _makes_outdated(later: _Told, older: _Told, search: Search) -> bool:
    likeness = _cosine(search, later.id, older.id)
    return any(
        replaces(new, old, likeness) for new in later.statements for old in older.statements
    )


def _says_again(later: _Told, older: _Told) -> bool:
    return any(restates(new, old) for new in later.statements for old in older.statements)


def _cosine(search: Search, one: EpisodeId, other: EpisodeId) -> float:
    """Compare the vectors of two candidates; 0 where one was not read."""
    row, vector = search.candidates.row, search.candidates.columns.vector
    if one not in row or other not in row or not vector.size:
        return 0.0
    return float(vector[row[one]] @ vector[row[other]])
