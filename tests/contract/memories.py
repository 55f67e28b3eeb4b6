"""Small memories to write, with only the columns a test cares about."""

from collections import Counter
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from ecphoria.facts.store import EvidenceRow, FactRow, FactStore, FactTransaction, TimelineRow
from ecphoria.ingest.changes import Changes, MentionRow, NameState, NextRow
from ecphoria.ingest.prepare import Prepared
from ecphoria.ingest.store import IngestStore, IngestTransaction
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Vector
from ecphoria.records.episode import NewEpisode
from ecphoria.records.fact import Decision, PredicateClass, Ruling, Standing
from ecphoria.records.ids import ConceptId, EpisodeId, FactId, TenantId, derived_id, fresh_id
from ecphoria.text.concepts import Extraction, SynonymPair
from ecphoria.text.cue import TurnFeatures

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


def turn(tenant: TenantId, number: int, **changed: object) -> Prepared:
    """The tenant's turn `number`, at place `number - 1` of session s1, said by Ann."""
    new = NewEpisode(text=f"Turn {number} was said.", speaker="Ann", session="s1")
    words = f"turn said t{number}"
    row = Prepared(
        tenant=tenant,
        new=new,
        id=episode_id(tenant, str(number)),
        sequence=number,
        ordinal=number - 1,
        occurred_at=START + timedelta(minutes=number),
        utc_offset=60,
        recorded_at=START + timedelta(days=1),
        expires_at=None,
        body_hash=f"hash {number}",
        terms=words,
        words=words,
        length=3,
        features=TurnFeatures(
            is_question=False, has_time_expression=False, first_person=True, second_person=False
        ),
        extraction=Extraction(title=None, candidates=(), words=(), lower=frozenset()),
        passages=(),
        vector=axis(number),
    )
    return changed_to(row, **changed)


def changed_to(row: Prepared, **changed: object) -> Prepared:
    """Change columns of an episode: its own, those of its features, and those that were sent."""
    parts: dict[str, dict[str, object]] = {"own": {}, "features": {}, "new": {}}
    kinds = {"own": Prepared, "features": TurnFeatures, "new": NewEpisode}
    for name, value in changed.items():
        part = next(part for part, kind in kinds.items() if name in names_of(kind))
        parts[part][name] = value
    return replace(
        row,
        features=replace(row.features, **parts["features"]),  # type: ignore[arg-type]  # fields
        new=replace(row.new, **parts["new"]),  # type: ignore[arg-type]  # the same
        **parts["own"],  # type: ignore[arg-type]  # the same
    )


def names_of(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}


def document(tenant: TenantId, number: int, title: str, **changed: object) -> Prepared:
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


def appended(*rows: Prepared, **more: object) -> Changes:
    """The changes that append rows, with the counts that follow from them, but no terms."""
    changes = Changes()
    changes.add(rows)
    changes.terms.clear()
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


def mention(tenant: TenantId, number: int, name: str, weight: float = 1.0) -> MentionRow:
    return MentionRow(
        episode=episode_id(tenant, str(number)), concept=name, weight=weight,
        cognitive="identity", description=f"{name} of turn {number}", importance=2,
    )  # fmt: skip


def about(tenant: TenantId, number: int, name: str) -> MentionRow:
    return mention(tenant, number, name)


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


async def write(graph: Graph, tenant: TenantId, changes: Changes) -> None:
    """Apply changes in a transaction of their own."""

    async def work(transaction: IngestTransaction) -> None:
        await transaction.write(changes)

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


def everything(tenant: TenantId) -> Changes:
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
        turn(tenant, 3, session="s2", ordinal=0, is_question=True, kind="semantic"),
        document(tenant, 4, "Rome", terms="rome citi tiber"),
        next_added=(follows(tenant, 1, 2),),
        terms=Counter({"turn": 3, "rome": 1}),
        words=Counter({"rome": 1, "said": 3}),
        names=(named("rome", titles=1, candidates=1), named("tiber", candidates=2)),
        concepts_made=["rome", "tiber"],
        mentions_added=(
            mention(tenant, 1, "rome"),
            mention(tenant, 2, "tiber", 0.5),
            mention(tenant, 4, "tiber"),
        ),
        abouts_added=(about(tenant, 4, "rome"),),
        synonyms_added=(SynonymPair(one="rome", other="tiber", weight=0.8),),
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
