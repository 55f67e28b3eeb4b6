"""Newest first: what a later memory made outdated is marked, and the later one stands above it.

By facts: all facts that a memory claims have ended. It keeps its score, and the best memory that
claims the current facts is raised to this score if it had less.

By words, without facts: among the first memories of a ranking, each is compared with the later
ones of the same speaker. A later statement about the same thing has words of change, or another
value in the same frame (`text.change`). The later memory moves directly above the outdated one if
it stood below.

Other memories do not move. For a cue that asks for the former value, the outdated memory moves
above the later one. Any other cue about the past keeps its order. The marks stay.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from ecphoria.recall.answer import load_shown
from ecphoria.recall.frame import Frame
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import FactStanding, Superseded
from ecphoria.records.episode import Episode
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit, RecallOptions
from ecphoria.runtime import run_off_loop
from ecphoria.text.change import TELLS_CHANGE, Wanted, replaces, restates
from ecphoria.text.phrasebook import in_english
from ecphoria.text.statements import Statement, read_statements
from ecphoria.text.tokens import stems

CURRENT: Final = "current"
"""The part of a score that raises a current fact above a superseded one."""

NEWEST: Final = "newest"
"""The part of a score that raises a later memory above the one that it makes outdated, or this one
where the cue asks for the former value."""

_LOOKED_AT: Final = 200
"""Number of the first ranked memories whose facts are read."""

_FIRST: Final = 20
"""Number of the first ranked memories that are compared."""

_MORE: Final = 15
"""Largest number of further ones with a word of change: in a language that the encoder does not
know, "I sold the car" stands far below "I drive a car"."""

_DEEPEST: Final = 100
"""Rank up to which these are sought."""

_TOLD: Final = 5
"""Number of the first hits of which the reasons tell it; further ones seldom belong to the cue."""

_UNREAD: Final = frozenset({"tool", "system"})
"""Roles whose memories are records of single events, such as the output of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A memory with the statements of its text; `place` orders memories in time."""

    id: EpisodeId
    speaker: tuple[str, str]
    place: tuple[float, int]
    statements: tuple[Statement, ...]


async def promote_current_facts(search: Search, ranked: Ranked, *, lift: bool) -> Ranked:
    """Mark superseded memories, and rank memories with the current facts above them.

    It takes one query about the best 200 memories, and none if no fact has a timeline. Without
    `lift` the order stays.
    """
    standings = await standings_of(search, ranked.ids[:_LOOKED_AT])
    behind = superseded_by(standings)
    if not behind:
        return ranked
    holders: dict[FactKey, set[EpisodeId]] = {}
    for standing in standings:
        if standing.holds:
            holders.setdefault(standing.key, set()).add(standing.episode)
    behind = {
        episode: replace(
            late, holders=frozenset().union(*(holders.get(key, ()) for key in late.keys))
        )
        for episode, late in behind.items()
    }
    return replace(lifted(ranked, behind, holders) if lift else ranked, superseded=behind)


async def standings_of(search: Search, episodes: Sequence[EpisodeId]) -> Sequence[FactStanding]:
    """Read the standings of memories' facts; no query if no fact has a timeline."""
    # A store without timelines pays nothing (decision 0024).
    if not search.seeding.profile.timed:
        return []
    return await search.store.standings(search.tenant, episodes, search.now)


def superseded_by(standings: Sequence[FactStanding]) -> dict[EpisodeId, Superseded]:
    """Find the memories whose facts have all ended."""
    by_episode: dict[EpisodeId, list[FactStanding]] = {}
    for standing in standings:
        by_episode.setdefault(standing.episode, []).append(standing)
    return {
        episode: Superseded(
            at=max(standing.ended_at for standing in facts if standing.ended_at is not None),
            by=tuple(sorted({fact for standing in facts for fact in standing.current})),
            keys=frozenset(standing.key for standing in facts),
        )
        for episode, facts in by_episode.items()
        if all(standing.ended and standing.ended_at is not None for standing in facts)
    }


def lifted(
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    holders: Mapping[FactKey, set[EpisodeId]],
) -> Ranked:
    """Move the best memory with a key's current fact right above the first superseded one."""
    pairs = [
        (episode, holders.get(key, set()))
        for episode in ranked.ids
        if episode in behind
        for key in sorted(behind[episode].keys)
    ]
    return raised(ranked, pairs, CURRENT)


def raised(
    ranked: Ranked, pairs: Sequence[tuple[EpisodeId, Collection[EpisodeId]]], part: str
) -> Ranked:
    """Move the best of some memories right above another one, where all of them stand below it.

    Args:
        ranked: The ranking.
        pairs: A ranked memory, and those of which one is to stand above it.
        part: Name of the part of the score that tells by how much a memory was raised.
    """
    place = {episode: row for row, episode in enumerate(ranked.ids)}
    order, score = list(range(len(ranked.ids))), ranked.score
    lift = np.zeros(len(ranked.ids))
    for episode, above in pairs:
        row = place[episode]
        there = [order.index(place[one]) for one in above if one in place]
        at = order.index(row)
        if there and min(there) > at:
            # The current memory moves up. An outdated one that moved down below rank 50 would
            # take both with it (decision 0020).
            holder = order.pop(min(there))
            order.insert(at, holder)
            lift[holder] = score[row] + lift[row] - score[holder]
    if not lift.any():
        return ranked
    return ranked.with_part(part, lift).kept(order)


async def load_newest_first(
    search: Search, ranked: Ranked, options: RecallOptions, value: Wanted
) -> Ranked:
    """Load the memories of an answer, and rank those that replace outdated ones above them.

    Args:
        search: The recall.
        ranked: Its ranking.
        options: How to recall; without `newest_first` nothing is compared.
        value: What the cue asks for; the order changes for the newest and for a former one.
    """
    compared = _compared(search, ranked, options.k) if options.newest_first else ()
    shown = await load_shown(search, ranked, k=options.k, collapse=options.collapse, more=compared)
    there = set(shown.ids) - search.echo_ids
    episodes = [shown.episodes[one] for one in compared if one in there and one in shown.episodes]
    if not episodes:
        return shown
    size = sum(len(one.text) for one in episodes)
    by_words = await run_off_loop(partial(_outdated_by_words, search, shown, episodes), size)
    by = {**by_words, **_outdated_by_facts(shown)}
    return replace(raised(shown, _pairs(shown, by, value), NEWEST), outdated=by)


def _pairs(
    ranked: Ranked, by: Mapping[EpisodeId, EpisodeId], value: Wanted
) -> list[tuple[EpisodeId, set[EpisodeId]]]:
    """List memories, each with the one that is to stand above it."""
    if value is Wanted.PAST:
        return []
    if value is Wanted.NEWEST:
        return [(older, {by[older]}) for older in ranked.ids if older in by]
    there = ranked.episodes
    told = sorted(
        (one for one in by if one in there), key=lambda one: _last_place(there[one], ranked)
    )
    if value is Wanted.FIRST:
        told.reverse()
    return [(newer, {older}) for newer, older in {by[older]: older for older in told}.items()]


def _compared(search: Search, ranked: Ranked, k: int) -> tuple[EpisodeId, ...]:
    """List the memories to compare: the first, and those below that have words of change.

    Only the stems of the frame are read, for a cue in a language of the phrasebook the statements
    too. Of the memories below, those of the speakers of the first `k` count.
    """
    frame, row = search.frame, search.frame.row
    cue = search.seeding.cue
    translated = in_english(cue) is not cue
    speakers = {frame.speaker[row[one]] for one in ranked.ids[:k] if one in row}
    below = (
        one
        for one in ranked.ids[_FIRST:_DEEPEST]
        if one in row
        and frame.speaker[row[one]] in speakers
        and (
            not TELLS_CHANGE.isdisjoint(frame.terms[row[one]].split())
            or (translated and _tells_change(row[one], frame))
        )
    )
    return (*ranked.ids[:_FIRST], *islice(below, _MORE))


def _tells_change(row: int, frame: Frame) -> bool:
    told = frame.spoken[row].statements if frame.spoken[row].text else ()
    return any(one.tells_change for one in told)


def told_newer(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Name the outdated ones of the first hits and the hits that replace them, in words."""
    return tuple(
        f"Hit {hit.rank} is outdated by hit {hit.outdated_by_rank}."
        for hit in hits[:_TOLD]
        if hit.outdated_by_rank is not None
    )


def _outdated_by_facts(ranked: Ranked) -> dict[EpisodeId, EpisodeId]:
    """Find for each memory whose facts have ended the best one that claims what holds."""
    holders = {
        older: next((one for one in ranked.ids if one in late.holders), None)
        for older, late in ranked.superseded.items()
        if older in ranked.ids
    }
    return {older: one for older, one in holders.items() if one is not None}


def _outdated_by_words(
    search: Search, ranked: Ranked, episodes: Sequence[Episode]
) -> dict[EpisodeId, EpisodeId]:
    """Find by their words, for each outdated memory, the newest one that makes it outdated."""
    told = sorted(_told(episodes, ranked, search.frame), key=lambda one: one.place)
    found: dict[EpisodeId, EpisodeId] = {}
    # Statements of some languages are read in English, and so is the cue.
    asked = {*search.frame.stems, *stems(in_english(search.seeding.cue))}
    for at, older in enumerate(told):
        # A memory whose facts have ended was said later, but tells what was so before.
        later = [
            one
            for one in told[at + 1 :]
            if one.speaker == older.speaker and one.id not in ranked.superseded
        ]
        for one in reversed(later):
            if _says_again(one, older):
                break
            if _makes_outdated(one, older, search, asked):
                found[older.id] = one.id
                break
    return found


def _told(episodes: Sequence[Episode], ranked: Ranked, frame: Frame) -> list[_Told]:
    """Read the memories that may state something; documents and records of tools are left out."""
    return [
        _Told(
            id=one.id,
            speaker=((one.speaker or "").casefold(), one.role or ""),
            place=_last_place(one, ranked),
            statements=statements,
        )
        for one in episodes
        if not one.title and one.role not in _UNREAD and (statements := _statements(one, frame))
    ]


def _statements(episode: Episode, frame: Frame) -> tuple[Statement, ...]:
    """Read the statements of a memory; those of a short turn are remembered with its columns."""
    row = frame.row.get(episode.id)
    if row is None or not frame.spoken[row].text:
        return read_statements(episode.text)
    return frame.spoken[row].statements


def _last_place(episode: Episode, ranked: Ranked) -> tuple[float, int]:
    """Place a memory in time by its newest copy."""
    copies = (ranked.episodes[one] for one in ranked.copies.get(episode.id, ()))
    return max((one.occurred_at.timestamp(), one.turn) for one in (episode, *copies))


def _makes_outdated(later: _Told, older: _Told, search: Search, asked: Collection[str]) -> bool:
    """Tell whether a later memory replaces what an older one says of the cue.

    "Bo does the tests, Leo the docs" still answers who does the docs if Ann does the tests now.
    """
    likeness = _cosine(search, later.id, older.id)
    # "Ann is my boss" is read in two ways, with the same words.
    replaced = {
        old.says
        for old in older.statements
        if any(replaces(new, old, likeness) for new in later.statements)
    }
    over, holds = list[int](), list[int]()
    for old in older.statements:
        found = len(old.says.intersection(asked))
        (over if old.says in replaced else holds).append(found)
    return bool(over) and max(over) > max(holds, default=-1)


def _says_again(later: _Told, older: _Told) -> bool:
    return any(restates(new, old) for new in later.statements for old in older.statements)


def _cosine(search: Search, one: EpisodeId, other: EpisodeId) -> float:
    """Compare the vectors of two memories; 0 where one is not in the frame."""
    row, vector = search.frame.row, search.frame.vector
    if one not in row or other not in row or not vector.size:
        return 0.0
    return float(vector[row[one]] @ vector[row[other]])
