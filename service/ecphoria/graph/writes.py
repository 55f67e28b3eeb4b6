"""Apply one transaction's changes: a handful of batched statements, the empty ones left out.

Rows are sorted by their key, so that transactions which touch the same nodes lock them in the
same order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ecphoria.graph.episodes import to_groups
from ecphoria.graph.executor import Done, Statement, Work, packed
from ecphoria.model.ids import EpisodeId, TenantId, derived_id
from ecphoria.ports.ingest import FactRow, IngestChanges, MovedRow, NextRow

__all__ = ["apply_changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touched:
    session: str


_UPDATE_TENANT = Statement("ingest.update_tenant", Done)
_CREATE_SESSIONS = Statement("ingest.create_sessions", Done)
_CREATE_EPISODES = Statement("ingest.create_episodes", Done)
_MOVE_EPISODES = Statement("ingest.move_episodes", Done)
_MARK_NEAR = Statement("ingest.mark_near", Done)
_REMOVE_EPISODES = Statement("ingest.remove_episodes", _Touched)
_DROP_EMPTY_SESSIONS = Statement("ingest.drop_empty_sessions", Done)
_ADD_NEXT = Statement("ingest.add_next", Done)
_REMOVE_NEXT = Statement("ingest.remove_next", Done)
_COUNT_SPEAKERS = Statement("ingest.count_speakers", Done)
_DROP_EMPTY_SPEAKERS = Statement("ingest.drop_empty_speakers", Done)
_COUNT_TERMS = Statement("ingest.count_terms", Done)
_DROP_EMPTY_TERMS = Statement("ingest.drop_empty_terms", Done)
_COUNT_WORDS = Statement("ingest.count_words", Done)
_DROP_EMPTY_WORDS = Statement("ingest.drop_empty_words", Done)
_COUNT_NAMES = Statement("ingest.count_names", Done)
_DROP_EMPTY_NAMES = Statement("ingest.drop_empty_names", Done)
_MAKE_CONCEPTS = Statement("ingest.make_concepts", Done)
_UNMAKE_CONCEPTS = Statement("ingest.unmake_concepts", Done)
_ADD_MENTIONS = Statement("ingest.add_mentions", Done)
_REMOVE_MENTIONS = Statement("ingest.remove_mentions", Done)
_ADD_ABOUTS = Statement("ingest.add_abouts", Done)
_ADD_SYNONYMS = Statement("ingest.add_synonyms", Done)
_CREATE_FACTS = Statement("ingest.create_facts", Done)
_ADD_EVIDENCE = Statement("ingest.add_evidence", Done)
_REMOVE_FACTS = Statement("ingest.remove_facts", Done)


async def apply_changes(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    """Write everything: first what goes, then what comes, then what counts to zero."""
    await work.run(
        _UPDATE_TENANT,
        tenant=tenant,
        turns=changes.turns,
        items=changes.items,
        titles=changes.titles,
        length=changes.length,
        near_length=changes.near_length,
        stated=changes.stated,
    )
    await _part(work, tenant, changes)
    await _place(work, tenant, changes)
    await _count(work, tenant, changes)
    await _join(work, tenant, changes)
    await _relate(work, tenant, changes)


async def _part(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    await _each(
        work,
        _REMOVE_NEXT,
        tenant,
        [{"tail": tail, "head": head} for tail, head in sorted(changes.next_removed)],
    )
    await _each(
        work,
        _REMOVE_MENTIONS,
        tenant,
        [
            {"episode": episode, "concept": concept}
            for episode, concept in sorted(changes.mentions_removed)
        ],
    )
    if not changes.removed:
        return
    await work.run(_MARK_NEAR, tenant=tenant, ids=sorted(changes.removed))
    await work.run(_REMOVE_FACTS, tenant=tenant, ids=sorted(changes.removed))
    touched = await work.run(_REMOVE_EPISODES, tenant=tenant, ids=sorted(changes.removed))
    sessions = [row.session for row in touched if row.session]
    await work.run(_DROP_EMPTY_SESSIONS, tenant=tenant, names=sessions)


async def _place(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    sessions = sorted({row.session for row in changes.episodes if row.session})
    await _each(
        work,
        _CREATE_SESSIONS,
        tenant,
        [{"name": name, "id": derived_id(tenant, "session", name)} for name in sessions],
    )
    await _each(
        work,
        _COUNT_SPEAKERS,
        tenant,
        [
            {"name": name, "id": derived_id(tenant, "speaker", name), "episodes": delta}
            for name, delta in sorted(changes.speakers)
        ],
    )
    if changes.episodes:
        await work.run(_CREATE_EPISODES, tenant=tenant, groups=to_groups(changes.episodes))
    await _each(work, _MOVE_EPISODES, tenant, [_moved(row) for row in _by_id(changes.moved)])
    await _each(work, _ADD_NEXT, tenant, [_next(row) for row in changes.next_added])
    gone = sorted(name for name, delta in changes.speakers if delta < 0)
    if gone:
        await work.run(_DROP_EMPTY_SPEAKERS, tenant=tenant, names=gone)


async def _count(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    terms = sorted(changes.terms, key=lambda term: term.stem)
    await _each(
        work,
        _COUNT_TERMS,
        tenant,
        [{"stem": term.stem, "items": term.items, "near": term.near} for term in terms],
    )
    if fewer := [term.stem for term in terms if term.items < 0 or term.near < 0]:
        await work.run(_DROP_EMPTY_TERMS, tenant=tenant, stems=fewer)
    words = sorted(changes.words, key=lambda word: word.word)
    await _each(
        work,
        _COUNT_WORDS,
        tenant,
        [{"word": word.word, "items": word.items} for word in words],
    )
    if fewer := [word.word for word in words if word.items < 0]:
        await work.run(_DROP_EMPTY_WORDS, tenant=tenant, words=fewer)


async def _join(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    names = sorted(changes.names, key=lambda name: name.normalised)
    await _each(
        work,
        _COUNT_NAMES,
        tenant,
        [
            {
                "normalised": name.normalised,
                "surface": name.surface,
                "kind": name.kind,
                "titles": name.titles,
                "candidates": name.candidates,
                "stated": name.stated,
            }
            for name in names
        ],
    )
    unmade = sorted(changes.concepts_unmade)
    if unmade:
        await work.run(_UNMAKE_CONCEPTS, tenant=tenant, names=unmade)
    fewer = {
        name.normalised for name in names if min(name.titles, name.candidates, name.stated) < 0
    }
    if fewer or unmade:
        await work.run(_DROP_EMPTY_NAMES, tenant=tenant, names=sorted(fewer.union(unmade)))
    made = sorted(changes.concepts_made, key=lambda concept: concept.normalised)
    await _each(
        work,
        _MAKE_CONCEPTS,
        tenant,
        [
            {
                "normalised": concept.normalised,
                "id": concept.id,
                "forms": " ".join(concept.forms),
            }
            for concept in made
        ],
    )
    mentions = _by_concept(
        (row.concept, row.episode, row.weight, row.stated) for row in changes.mentions_added
    )
    if mentions:
        await work.run(_ADD_MENTIONS, tenant=tenant, groups=mentions)
    abouts = _by_concept((row.concept, row.episode, 1.0, False) for row in changes.abouts_added)
    if abouts:
        await work.run(_ADD_ABOUTS, tenant=tenant, groups=abouts)


async def _relate(work: Work, tenant: TenantId, changes: IngestChanges) -> None:
    """Join concepts to each other, once all of them and their edges are there."""
    await _each(
        work,
        _ADD_SYNONYMS,
        tenant,
        [
            {"one": row.one, "other": row.other, "weight": row.weight}
            for row in changes.synonyms_added
        ],
    )
    await _each(work, _CREATE_FACTS, tenant, [_fact(row) for row in changes.facts_made])
    await _each(
        work,
        _ADD_EVIDENCE,
        tenant,
        [{"fact": row.fact, "episode": row.episode} for row in changes.evidence_added],
    )


async def _each(
    work: Work, statement: Statement[Done], tenant: TenantId, rows: Sequence[dict[str, Any]]
) -> None:
    if rows:
        await work.run(statement, tenant=tenant, rows=rows)


def _by_id(rows: Iterable[MovedRow]) -> list[MovedRow]:
    return sorted(rows, key=lambda row: row.id)


def _moved(row: MovedRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "ordinal": row.ordinal,
        "near_length": row.near_length,
        "context_norm": row.context_norm,
    }


def _next(row: NextRow) -> dict[str, Any]:
    return {
        "tail": row.tail,
        "head": row.head,
        "gap_days": row.gap_days,
        "weight": row.weight,
    }


def _fact(row: FactRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "subject": row.subject,
        "predicate": row.predicate,
        "object": row.object,
        "subject_concept": row.subject_concept,
        "object_concept": row.object_concept,
        "statement": row.statement,
        "vector": packed(row.vector),
    }


def _by_concept(edges: Iterable[tuple[str, EpisodeId, float, bool]]) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for concept, episode, weight, stated in sorted(edges):
        row = {"episode": episode, "weight": weight, "stated": stated}
        groups.setdefault(concept, []).append(row)
    return [{"concept": concept, "rows": rows} for concept, rows in groups.items()]
