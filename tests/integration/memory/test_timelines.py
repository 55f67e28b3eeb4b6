"""Facts take their places in time as they come, whatever the order, and people may decide."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice, permutations

import pytest

from ecphoria.consolidation.merge import MergeReview, MergeStore, ProposeMerges
from ecphoria.consolidation.service import Cycle
from ecphoria.consolidation.steps import Supersede
from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactQuery, FactStore, FactTransaction
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.fact import FactView, MergeStatus, NewDecision, PredicateClass, Standing
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, WallClock, new_tenant

WHEN = {
    "Oslo": ("2023-01-10", 0.7),
    "Bergen": ("2023-06-01", 0.9),
    "Turku": ("2022-03-01", 0.7),
    "Paris": ("2023-08-01", 0.3),
    "Lund": ("2023-06-01", 0.8),
}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def said(place: str, predicate: str = "lives in", **more: object) -> NewEpisode:
    at, reliability = WHEN[place]
    given = {"reliability": reliability, **more}
    fact = Statement(subject="Ana Reyes", predicate=predicate, object=place, **given)  # type: ignore[arg-type]
    return NewEpisode(
        text=f"Ana Reyes {predicate} {place}: {more}.",
        occurred_at=day(at),
        extraction=Extracted(facts=(fact,)),
    )


@pytest.fixture
def facts(graph: Graph) -> FactService:
    return FactService(store=FactStore(graph), clock=WallClock())


async def add(ingest: IngestService, tenant: TenantId, *items: NewEpisode) -> Sequence[EpisodeId]:
    receipts = await ingest.append_batch(tenant, items)
    assert all(isinstance(one, Receipt) for one in receipts), receipts
    return [one.id for one in receipts if isinstance(one, Receipt)]


async def views(facts: FactService, tenant: TenantId) -> dict[str, FactView]:
    found = await facts.facts(tenant, FactQuery(concept="Ana Reyes"))
    return {view.object: view for view in found}


def held(view: FactView) -> list[tuple[str, str | None]]:
    return [
        (f"{one.valid_from:%Y-%m-%d}", f"{one.valid_to:%Y-%m-%d}" if one.valid_to else None)
        for one in view.intervals
    ]


STORED = """
MATCH (f:Fact {tenant: $t})
RETURN f.object AS object, f.standing AS standing, f.held_from AS held_from,
  f.held_until AS held_until, f.valid_from AS valid_from, f.valid_to AS valid_to,
  f.touched AS touched,
  COLLECT {MATCH (g:Fact {id: f.superseded_by}) RETURN g.object} AS superseded_by,
  COLLECT {MATCH (g:Fact {id: f.contested_by}) RETURN g.object} AS contested_by
ORDER BY object
"""


async def test_the_worked_example_is_stored_the_same_whatever_the_order(
    ingest: IngestService, graph: Graph, facts: FactService, cypher: Cypher
) -> None:
    seen = []
    for order in islice(permutations(WHEN), 0, 120, 53):
        tenant = await new_tenant(graph)
        for place in order:
            await add(ingest, tenant, said(place))
        seen.append(await cypher(STORED, t=tenant))
        found = await views(facts, tenant)
        assert held(found["turku"]) == [("2022-03-01", "2023-01-10")]
        assert held(found["oslo"]) == [("2023-01-10", "2023-06-01")]
        assert held(found["bergen"]) == [("2023-06-01", None)]
        assert [found[place].standing for place in ("bergen", "lund", "paris")] == [
            Standing.HELD, Standing.CONTESTED, Standing.CANDIDATE,
        ]  # fmt: skip
        assert found["lund"].confidence == pytest.approx(0.8 * 0.3)
        assert [place for place, view in found.items() if view.valid] == ["bergen"]
        await Tenants(graph).erase(tenant)
    assert all(rows == seen[0] for rows in seen)
    by_place = {row["object"]: row for row in seen[0]}
    assert by_place["oslo"]["superseded_by"] == ["bergen"]
    assert by_place["lund"]["contested_by"] == ["bergen"]


async def test_a_decision_and_its_undoing_are_exact(
    ingest: IngestService, facts: FactService, tenant: TenantId, cypher: Cypher
) -> None:
    await add(ingest, tenant, *map(said, WHEN))
    before = await cypher(STORED, t=tenant)
    found = await views(facts, tenant)
    request = NewDecision(ruling="retract", why="a mix-up")
    retracted = await facts.decide(tenant, found["bergen"].id, request)
    after = await cypher(STORED, t=tenant)
    found = await views(facts, tenant)
    assert held(found["lund"]) == [("2023-06-01", None)]
    assert found["bergen"].standing is Standing.RETRACTED
    undo = await facts.undo(tenant, retracted.id)
    assert await cypher(STORED, t=tenant) == before
    again = await facts.undo(tenant, undo.id)
    assert await cypher(STORED, t=tenant) == after
    history = await facts.history(tenant, found["bergen"].id)
    assert [one.id for one in history.decisions] == [retracted.id, undo.id, again.id]
    assert history.decisions[0].why == "a mix-up"


async def test_a_repeated_decision_or_undo_is_the_first_one(
    ingest: IngestService, facts: FactService, tenant: TenantId
) -> None:
    await add(ingest, tenant, *map(said, WHEN))
    found = await views(facts, tenant)
    bergen, lund = found["bergen"].id, found["lund"].id
    wrong = NewDecision(ruling="retract", why="a mix-up")
    retracted = await facts.decide(tenant, bergen, wrong)
    assert await facts.decide(tenant, bergen, wrong) == retracted
    undo = await facts.undo(tenant, retracted.id)
    assert await facts.undo(tenant, retracted.id) == undo
    # So one undo of the undo is enough.
    await facts.undo(tenant, undo.id)
    assert (await views(facts, tenant))["bergen"].standing is Standing.RETRACTED
    both = await facts.decide(tenant, bergen, NewDecision(ruling="keep_open", other=lund))
    twice = await facts.decide(tenant, lund, NewDecision(ruling="keep_open", other=bergen))
    assert twice == both
    may, june = (
        NewDecision(ruling="set_interval", valid_from=day(begin))
        for begin in ("2023-05-01", "2023-06-01")
    )
    first = await facts.decide(tenant, lund, may)
    await facts.decide(tenant, lund, june)
    # The last interval counts, so the same as an earlier one is a decision of its own.
    assert await facts.decide(tenant, lund, may) != first
    chosen = await facts.set_class(tenant, "lives in", PredicateClass.MULTI)
    undone = await facts.undo(tenant, chosen.id)
    assert await facts.undo(tenant, chosen.id) == undone


async def test_what_was_known_then_is_told_without_what_was_learnt_later(
    ingest: IngestService, facts: FactService, tenant: TenantId
) -> None:
    await add(ingest, tenant, said("Oslo"))
    early = WallClock().now()
    await add(ingest, tenant, said("Bergen"), said("Turku"))
    oslo = (await views(facts, tenant))["oslo"].id
    await facts.decide(tenant, oslo, NewDecision(ruling="retract"))
    then = await facts.history(tenant, oslo, known_at=early)
    assert [(one.object, held(one)) for one in then.facts] == [("oslo", [("2023-01-10", None)])]
    in_2022 = await facts.history(tenant, oslo, as_of=day("2022-06-01"))
    assert [one.object for one in in_2022.facts if one.valid] == ["turku"]
    with pytest.raises(NotFound):
        await facts.history(tenant, oslo, known_at=day("2020-01-01"))


async def test_deleting_what_superseded_reopens_what_was_before(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    await add(ingest, tenant, said("Oslo"), said("Turku"))
    before = await cypher(STORED, t=tenant)
    (bergen,) = await add(ingest, tenant, said("Bergen"))
    assert await cypher(STORED, t=tenant) != before
    await ingest.delete(tenant, bergen)
    assert await cypher(STORED, t=tenant) == before


async def test_values_side_by_side_are_never_ended_and_get_no_place(
    ingest: IngestService, facts: FactService, tenant: TenantId, cypher: Cypher
) -> None:
    await add(ingest, tenant, *(said(place, "likes") for place in ("Oslo", "Bergen", "Lund")))
    assert all(row["standing"] is None for row in await cypher(STORED, t=tenant))
    (no_more,) = await add(
        ingest, tenant, said("Bergen", "likes", polarity="negative", valid_from=day("2024-01-01"))
    )
    found = await facts.facts(tenant, FactQuery(concept="Bergen", relation="LIKES"))
    by_sign = {view.polarity == "negative": view for view in found}
    assert held(by_sign[False]) == [("2023-06-01", "2024-01-01")]
    assert by_sign[True].standing is Standing.DENIAL
    await ingest.delete(tenant, no_more)
    assert all(row["standing"] is None for row in await cypher(STORED, t=tenant))


async def test_a_predicate_may_be_given_another_class_and_back(
    ingest: IngestService, facts: FactService, tenant: TenantId, cypher: Cypher
) -> None:
    await add(ingest, tenant, said("Oslo", "camps_in"), said("Turku", "Camps in"))
    assert all(row["standing"] is None for row in await cypher(STORED, t=tenant))
    set_class = await facts.set_class(tenant, "Camps_in", PredicateClass.FUNCTIONAL)
    assert held((await views(facts, tenant))["turku"]) == [("2022-03-01", "2023-01-10")]
    own = [one for one in await facts.predicates(tenant) if one.own]
    assert [(one.relation, one.predicate_class) for one in own] == [("camps in", "functional")]
    await add(ingest, tenant, said("Lund", "camps in"))
    assert held((await views(facts, tenant))["oslo"]) == [("2023-01-10", "2023-06-01")]
    await facts.undo(tenant, set_class.id)
    assert all(row["standing"] is None for row in await cypher(STORED, t=tenant))
    assert not [one for one in await facts.predicates(tenant) if one.own]


async def test_a_tenant_chooses_at_most_a_thousand_classes(
    facts: FactService, graph: Graph, tenant: TenantId
) -> None:
    chosen = {f"likes {number}": PredicateClass.MULTI for number in range(1_000)}

    async def work(transaction: FactTransaction) -> None:
        await transaction.set_classes(chosen, "likes 0")

    await FactStore(graph).change(tenant, work)
    with pytest.raises(InvalidInput, match="1,000"):
        await facts.set_class(tenant, "one more", PredicateClass.MULTI)
    await facts.set_class(tenant, "likes 7", PredicateClass.FUNCTIONAL)


async def test_two_values_may_be_kept_open_and_an_interval_set(
    ingest: IngestService, facts: FactService, tenant: TenantId
) -> None:
    await add(ingest, tenant, said("Oslo"), said("Bergen"))
    found = await views(facts, tenant)
    oslo, bergen = found["oslo"].id, found["bergen"].id
    await facts.decide(tenant, bergen, NewDecision(ruling="keep_open", other=oslo))
    assert held((await views(facts, tenant))["oslo"]) == [("2023-01-10", None)]
    await facts.decide(
        tenant,
        bergen,
        NewDecision(
            ruling="set_interval", valid_from=day("2020-01-01"), valid_to=day("2021-01-01"),
        ),
    )  # fmt: skip
    assert held((await views(facts, tenant))["bergen"]) == [("2020-01-01", "2021-01-01")]
    with pytest.raises(InvalidInput, match="other fact"):
        await facts.decide(tenant, bergen, NewDecision(ruling="keep_open", other=bergen))


async def test_the_step_lays_out_what_older_stores_hold_and_tells_it_first(
    ingest: IngestService, graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await add(ingest, tenant, *map(said, WHEN))
    right = await cypher(STORED, t=tenant)
    await cypher(
        """MATCH (f:Fact {tenant: $t}) SET f.touched = true
        REMOVE f.standing, f.held_from, f.held_until, f.valid_from, f.valid_to,
          f.superseded_by, f.contested_by""",
        t=tenant,
    )
    step = Supersede(FactStore(graph))
    dry = await step.run(Cycle(id=fresh_id(), tenant=tenant, now=NOW, dry_run=True))
    assert all(row["touched"] for row in await cypher(STORED, t=tenant))
    done = await step.run(Cycle(id=fresh_id(), tenant=tenant, now=NOW))
    assert dry == done
    assert done.counts == {"keys": 1, "superseded": 2, "contested": 1, "reopened": 0}
    assert not any("oslo" in change.detail for change in done.changes)
    assert await cypher(STORED, t=tenant) == right
    again = await step.run(Cycle(id=fresh_id(), tenant=tenant, now=NOW))
    assert again.counts["keys"] == 0


async def merge_of(graph: Graph, embedder: Embedder, tenant: TenantId) -> MergeReview:
    """Have merges proposed, and give who decides them."""
    store = MergeStore(graph)
    await ProposeMerges(store, embedder).run(Cycle(id=fresh_id(), tenant=tenant, now=NOW))
    return MergeReview(store, FactStore(graph))


def told_of(name: str, place: str) -> NewEpisode:
    at, reliability = WHEN[place]
    fact = Statement(subject=name, predicate="lives in", object=place, reliability=reliability)
    return NewEpisode(
        text=f"{name} lives in {place}.", occurred_at=day(at), extraction=Extracted(facts=(fact,))
    )


async def test_merged_names_share_a_timeline_until_that_is_undone(
    *,
    ingest: IngestService,
    graph: Graph,
    embedder: Embedder,
    facts: FactService,
    tenant: TenantId,
    cypher: Cypher,
) -> None:
    one, other = "ana reyes", "reyes ana"
    await add(ingest, tenant, told_of("Ana Reyes", "Oslo"), told_of("Reyes Ana", "Turku"))
    (last,) = await add(ingest, tenant, told_of("Reyes Ana", "Bergen"))
    apart = await cypher(STORED, t=tenant)
    review = await merge_of(graph, embedder, tenant)
    assert await cypher(STORED, t=tenant) == apart

    await review.decide(tenant, one, other, MergeStatus.ACCEPTED)
    together = await cypher(STORED, t=tenant)
    ended = {row["object"]: row["superseded_by"] for row in together}
    assert ended == {"turku": ["oslo"], "oslo": ["bergen"], "bergen": []}
    found = await views(facts, tenant)
    assert held(found["oslo"]) == [("2023-01-10", "2023-06-01")]
    bergen = await facts.facts(tenant, FactQuery(concept=other))
    pair = NewDecision(
        ruling="keep_open", other=next(one.id for one in bergen if one.object == "bergen")
    )
    open_too = await facts.decide(tenant, found["oslo"].id, pair)
    assert held((await views(facts, tenant))["oslo"]) == [("2023-01-10", None)]
    await facts.undo(tenant, open_too.id)
    assert await cypher(STORED, t=tenant) == together

    await review.decide(tenant, one, other, MergeStatus.PROPOSED)
    assert await cypher(STORED, t=tenant) == apart
    await review.decide(tenant, other, one, MergeStatus.ACCEPTED)
    assert await cypher(STORED, t=tenant) == together
    await ingest.delete(tenant, last)
    assert held((await views(facts, tenant))["oslo"]) == [("2023-01-10", None)]
    await add(ingest, tenant, told_of("Reyes Ana", "Bergen"))
    assert await cypher(STORED, t=tenant) == together
