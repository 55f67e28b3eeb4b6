"""Small memories to write, with only the columns a test cares about."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from ecphoria.facts.store import EvidenceRow, FactRow, FactStore, FactTransaction, TimelineRow
from ecphoria.ingest.rows import (
    AboutRow,
    ConceptRow,
    IngestChanges,
    MentionRow,
    NameState,
    NextRow,
    SynonymRow,
    TermDelta,
)
from ecphoria.ingest.store import IngestStore, IngestTransaction
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.neo4j_store.rows import EpisodeRow
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Vector
from ecphoria.records.fact import Decision, PredicateClass, Ruling, Standing
from ecphoria.records.ids import ConceptId, EpisodeId, FactId, TenantId, derived_id, fresh_id

START = datetime(2024, 3, 1, 12, tzinfo=UTC)
DIMENSION = 384


def axis(number: int, towards: int = 0, share: float = 0.0) -> Vector:
    """A unit vector along an axis, round after 384, a share of its square turned to another."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[number % DIMENSION] = np.sqrt(1 - share)
    vector[towards] += np.sqrt(share)
    return vector


def episode_id(tenant: TenantId, name: str) -> EpisodeId:
    return EpisodeId(derived_id(tenant, "episode", name))


def concept_id(tenant: TenantId, name: str) -> ConceptId:
    return ConceptId(derived_id(tenant, "concept", name))


def turn(tenant: TenantId, number: int, **changed: object) -> EpisodeRow:
    """The tenant's turn `number`, at place `number - 1` of session s1, said by Ann."""
    row = EpisodeRow(
        id=episode_id(tenant, str(number)),
        turn=number,
        text=f"Turn {number} was said.",
        title=None,
        speaker="Ann",
        role=None,
        session="s1",
        ordinal=number - 1,
        position=None,
        occurred_at=START + timedelta(minutes=number),
        utc_offset=60,
        recorded_at=START + timedelta(days=1),
        source=None,
        metadata={},
        importance=0.5,
        body_hash=f"hash {number}",
        idempotency_key=None,
        terms=f"turn said t{number}",
        words=f"turn said t{number}",
        length=3,
        is_question=False,
        time_expression=False,
        first_person=True,
        second_person=False,
        vector=axis(number),
    )
    return replace(row, **changed)  # type: ignore[arg-type]  # each test names real fields


def document(tenant: TenantId, number: int, title: str, **changed: object) -> EpisodeRow:
    """A titled document without session or speaker."""
    return turn(tenant, number, title=title, session=None, ordinal=None, speaker=None, **changed)


def passage(tenant: TenantId, number: int, part: int, **changed: object) -> PassageRow:
    """Part `part` of the tenant's turn `number`: five of its characters."""
    row = PassageRow(
        id=derived_id(tenant, "passage", f"{number} {part}"),
        ordinal=part,
        start=5 * part,
        end=5 * part + 5,
        terms=f"turn part{part}",
        length=2,
        vector=axis(100 + 10 * number + part),
    )
    return replace(row, **changed)  # type: ignore[arg-type]  # each test names real fields


def appended(*rows: EpisodeRow, **more: object) -> IngestChanges:
    """The changes that append rows, with the counts that follow from them."""
    speakers: dict[str, int] = {}
    for row in rows:
        if row.speaker:
            speakers[row.speaker] = speakers.get(row.speaker, 0) + 1
    changes = IngestChanges(
        turns=len(rows),
        items=len(rows),
        titles=sum(row.title is not None for row in rows),
        length=sum(row.length for row in rows),
        episodes=rows,
        speakers=tuple(speakers.items()),
    )
    return replace(changes, **more)  # type: ignore[arg-type]  # each test names real fields


def follows(tenant: TenantId, tail: int, head: int, weight: float = 0.9) -> NextRow:
    return NextRow(
        tail=episode_id(tenant, str(tail)),
        head=episode_id(tenant, str(head)),
        gap_days=0.5,
        weight=weight,
    )


def named(name: str, *, titles: int = 0, candidates: int = 0) -> NameState:
    return NameState(
        normalised=name,
        surface=name.title(),
        kind="name",
        titles=titles,
        candidates=candidates,
        live=False,
    )


def made(tenant: TenantId, name: str) -> ConceptRow:
    return ConceptRow(id=concept_id(tenant, name), normalised=name)


def mention(tenant: TenantId, number: int, name: str, weight: float = 1.0) -> MentionRow:
    return MentionRow(episode=episode_id(tenant, str(number)), concept=name, weight=weight)


def about(tenant: TenantId, number: int, name: str) -> AboutRow:
    return AboutRow(episode=episode_id(tenant, str(number)), concept=name)


def fact(tenant: TenantId, subject: str, says: str, thing: str) -> FactRow:
    """A fact between two concepts."""
    return FactRow(
        id=FactId(derived_id(tenant, "fact", f"{subject} {says} {thing}")),
        subject=subject,
        predicate=says,
        object=thing,
        subject_concept=subject,
        object_concept=thing,
        statement=f"{subject} {says} {thing}",
        vector=axis(7),
        relation=says,
    )


async def whole(changes: IngestChanges) -> AsyncGenerator[IngestChanges, None]:
    """Give a change in one part."""
    yield changes


async def write(graph: Graph, tenant: TenantId, changes: IngestChanges) -> None:
    """Apply changes in a transaction of their own."""

    async def work(transaction: IngestTransaction) -> None:
        await transaction.write(whole(changes))

    await IngestStore(graph).change(tenant, work)


async def place_in_time(graph: Graph, tenant: TenantId) -> None:
    """Give the fact of `everything` a place in time, its evidence times, and a decision."""
    of = fact(tenant, "rome", "lies on", "tiber").id

    async def work(transaction: FactTransaction) -> None:
        row = TimelineRow(
            fact=of, standing=Standing.HELD, held_from=(START,), held_until=(START,),
            superseded_by=of, contested_by=of,
        )  # fmt: skip
        await transaction.save_timelines([row])
        decision = Decision(
            id=fresh_id(), number=transaction.number, recorded_at=START, ruling=Ruling.UNDO,
            fact=of, other=of, relation="lies on", predicate_class=PredicateClass.MULTI,
            valid_from=START, valid_to=START, undoes="x", by="k", why="to see",
        )  # fmt: skip
        await transaction.decide(decision)
        await transaction.set_classes({"lies on": PredicateClass.MULTI}, "lies on")

    await FactStore(graph).change(tenant, work)


def everything(tenant: TenantId) -> IngestChanges:
    """Three turns and a document that between them have one of everything."""
    stated = fact(tenant, "rome", "lies on", "tiber")
    return appended(
        turn(tenant, 1, role="user", source="chat.json", metadata={"mood": "glad", "n": 1}),
        turn(
            tenant,
            2,
            speaker="Bob",
            position=2,
            idempotency_key="k2",
            passages=(passage(tenant, 2, 0), passage(tenant, 2, 1)),
        ),
        turn(tenant, 3, session="s2", ordinal=0, is_question=True),
        document(tenant, 4, "Rome", terms="rome citi tiber"),
        next_added=(follows(tenant, 1, 2),),
        terms=(TermDelta(stem="turn", items=3), TermDelta(stem="rome", items=1)),
        words={"rome": 1, "said": 3},
        names=(named("rome", titles=1, candidates=1), named("tiber", candidates=2)),
        concepts_made=(made(tenant, "rome"), made(tenant, "tiber")),
        mentions_added=(
            mention(tenant, 1, "rome"),
            mention(tenant, 2, "tiber", 0.5),
            mention(tenant, 4, "tiber"),
        ),
        abouts_added=(about(tenant, 4, "rome"),),
        synonyms_added=(SynonymRow(one="rome", other="tiber", weight=0.8),),
        stated=1,
        facts_made=(stated,),
        evidence_added=(
            EvidenceRow(
                fact=stated.id,
                episode=episode_id(tenant, "4"),
                valid_from=START,
                valid_to=START + timedelta(days=1),
            ),
        ),
    )
