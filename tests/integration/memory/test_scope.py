"""Nothing out of scope is met: in hits, paths, waves, context, engrams, facts or reasons."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, Filters, RecallOptions
from ecphoria.records.traced import TracedFilters
from tests.conftest import Cypher

THEN = datetime(2024, 6, 1, tzinfo=UTC)
PEOPLE = ("Mira Holm", "Tarik Aksoy", "Jonas Vik", "Pia Lund")
THINGS = ("ferry", "greenhouse", "violin", "beehive", "kiln")
CUES = (
    "What does Mira Holm do with the ferry?",
    "Who repairs the kiln?",
    "Who has zover1x or zlate2x?",
)
"""The last one names concepts that only memories out of scope speak of."""


def story(seed: int, mark: str, count: int, first: datetime) -> list[NewEpisode]:
    """Make turns and documents about shared people and things, each with a mark of its own.

    The mark stands in the text, and is a name and the object of a fact: a path to a person that
    others speak of too may lead to it.
    """
    chance = random.Random(f"{seed} {mark}")  # noqa: S311 (a reproducible story)
    told = []
    for number in range(count):
        who, thing, own = chance.choice(PEOPLE), chance.choice(THINGS), f"{mark}{number}x"
        known = Extracted(
            names=(own, who), facts=(Statement(subject=who, predicate="owns", object=own),)
        )
        told.append(
            NewEpisode(
                text=f"{who} repairs the {thing} with {own}.",
                title=f"Notes on {own}" if chance.random() < 0.3 else None,
                session=f"s{chance.randrange(3)}",
                speaker=chance.choice(PEOPLE),
                occurred_at=first + timedelta(hours=number),
                extraction=known,
            )
        )
    return told


async def stored(
    ingest: IngestService, tenant: TenantId, new: Sequence[NewEpisode]
) -> list[EpisodeId]:
    receipts = await ingest.append_batch(tenant, new)
    assert all(isinstance(one, Receipt) for one in receipts), receipts
    return [one.id for one in receipts if isinstance(one, Receipt)]


@pytest.mark.parametrize("seed", range(2))
async def test_no_strategy_meets_what_is_out_of_scope(
    seed: int, ingest: IngestService, recalls: RecallService, tenant: TenantId, cypher: Cypher
) -> None:
    before = THEN - timedelta(days=9)
    seen = await stored(ingest, tenant, story(seed, "zseen", 8, before))
    left = await stored(ingest, tenant, story(seed, "zleft", 4, before + timedelta(days=1)))
    over = await stored(ingest, tenant, story(seed, "zover", 4, before + timedelta(days=2)))
    late = await stored(ingest, tenant, story(seed, "zlate", 4, THEN + timedelta(days=2)))
    await cypher(
        "MATCH (e:Episode) WHERE e.id IN $ids SET e.expires_at = datetime() - duration('PT1H') "
        "WITH DISTINCT e.tenant AS name MATCH (t:Tenant {id: name}) "
        "SET t.expires_from = datetime() - duration('PT1H')",
        ids=over,
    )
    rows = await cypher(
        "MATCH (n {tenant: $tenant}) WHERE (n:Concept OR n:Fact OR n:Name) AND any("
        "mark IN ['zover', 'zlate'] WHERE any(key IN keys(n) WHERE toLower(toString("
        "CASE WHEN n[key] IS :: STRING THEN n[key] ELSE '' END)) CONTAINS mark)) "
        "RETURN n.id AS id",
        tenant=tenant,
    )
    hidden = {row["id"] for row in rows if row["id"]}
    assert len(hidden) >= 16
    met = 0
    further = {"related": 1.0, "merged": 1.0}
    asked: list[tuple[str, dict[str, float]]] = [(name, {}) for name in sorted(STRATEGIES)]
    asked += [(name, further) for name in ("cls", "ppr", "synapse")]
    for strategy, own in asked:
        for cue in CUES:
            options = RecallOptions(
                k=20,
                strategy=strategy,
                options=own,
                explain=True,
                as_of=THEN,
                filters=Filters(exclude=frozenset(left)),
            )
            answer = await recalls.recall(tenant, Cue(text=cue), options)
            trace = await recalls.trace(tenant, answer.trace_id)
            sent = TracedFilters()  # as they were sent, so they name what was left out
            told = repr(replace(answer, trace=None)) + repr(replace(trace, cue="", filters=sent))
            assert not [one for one in (*left, *over, *late, *hidden) if one in told], (
                strategy,
                cue,
            )
            if "z" not in cue:
                assert "zover" not in told.lower(), (strategy, cue)
                assert "zlate" not in told.lower(), (strategy, cue)
            met += sum(hit.episode.id in seen for hit in answer.hits)
    assert met > len(STRATEGIES)
