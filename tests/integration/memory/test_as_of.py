"""A recall shows what holds before what held, and can be asked as of an earlier time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactStore
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import Extracted, NewEpisode, Receipt, Statement
from ecphoria.records.fact import UNENDING, NewDecision
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, Filters, RecallOptions, RecallResult
from tests.conftest import WallClock

CUE = "Where does Ana Reyes live, in Oslo by the river?"


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def said(at: str, text: str, *facts: tuple[str, str, str], session: str = "s") -> NewEpisode:
    stated = tuple(Statement(subject=a, predicate=b, object=c) for a, b, c in facts)
    return NewEpisode(
        text=text,
        speaker="Ana",
        session=session,
        occurred_at=day(at),
        extraction=Extracted(facts=stated) if facts else None,
    )


OSLO = said("2021-03-01", "I live in Oslo now, by the river.", ("Ana Reyes", "lives in", "Oslo"))
BERGEN = said("2023-06-01", "The move is done.", ("Ana Reyes", "lives in", "Bergen"))
EARLY = (
    OSLO,
    said("2021-03-02", "The river is loud at night."),
    said("2021-04-01", "Bo gave me a red kayak.", ("Bo Lind", "is a friend of", "Ana Reyes")),
    said("2021-05-01", "My cat sleeps in the kayak."),
    NewEpisode(title="Oslo", text="A town on a fjord.", occurred_at=day("2020-01-01")),
    NewEpisode(title="Bergen", text="A town of rain.", occurred_at=day("2020-01-02")),
)
LATE = (
    BERGEN,
    said("2023-06-02", "It rains on the new kayak, and the river is far.", session="t"),
    said("2023-07-01", "Bo Lind lives in Oslo.", ("Bo Lind", "lives in", "Oslo"), session="t"),
    NewEpisode(title="Kayak", text="A narrow boat.", occurred_at=day("2023-08-01")),
)


async def add(ingest: IngestService, tenant: TenantId, items: Sequence[NewEpisode]) -> None:
    receipts = await ingest.append_batch(tenant, items)
    assert all(isinstance(one, Receipt) for one in receipts), receipts


def texts(result: RecallResult) -> list[str]:
    return [hit.episode.text for hit in result.hits]


async def ask(
    recalls: RecallService, tenant: TenantId, cue: str = CUE, **more: object
) -> RecallResult:
    options = RecallOptions(**{"k": 10, **more})  # type: ignore[arg-type]  # each test names real fields
    result = await recalls.recall(tenant, Cue(text=cue), options)
    for hit in result.hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
    scores = [hit.score for hit in result.hits]
    assert all(one >= other - 1e-9 for one, other in pairwise(scores))
    return result


async def test_what_holds_stands_above_what_held_and_says_why(
    ingest: IngestService, recalls: RecallService, graph: Graph, tenant: TenantId
) -> None:
    await add(ingest, tenant, EARLY)
    before = await ask(recalls, tenant)
    assert all(hit.superseded_at is None for hit in before.hits)
    assert all("current" not in hit.parts for hit in before.hits)
    await add(ingest, tenant, LATE)
    result = await ask(recalls, tenant)
    new, old = texts(result).index(BERGEN.text), texts(result).index(OSLO.text)
    assert old == new + 1
    assert result.hits[old].superseded_at == BERGEN.occurred_at
    assert result.hits[new].superseded_at is None
    assert result.hits[new].parts["current"] > 0.0
    assert result.hits[new].score == pytest.approx(result.hits[old].score, abs=1e-9)
    assert all(hit.parts["current"] == 0.0 for hit in result.hits if hit.rank != new + 1)
    facts = FactService(store=FactStore(graph), clock=WallClock())
    (by,) = result.hits[old].superseded_by
    wrong = await facts.decide(tenant, by, NewDecision(ruling="retract"))
    ended = [hit.episode.text for hit in (await ask(recalls, tenant)).hits if hit.superseded_at]
    assert ended == [BERGEN.text]
    await facts.undo(tenant, wrong.id)
    again = await ask(recalls, tenant)
    assert [(hit.episode.id, hit.score) for hit in again.hits] == [
        (hit.episode.id, hit.score) for hit in result.hits
    ]


async def test_as_of_the_last_instant_is_everything(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await add(ingest, tenant, [*LATE, *EARLY])
    last = await ask(recalls, tenant, as_of=UNENDING, known_at=UNENDING)
    assert texts(last) == texts(await ask(recalls, tenant))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
async def test_as_of_is_what_a_store_of_that_time_gives(
    strategy: str,
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    await add(ingest, tenant, [*LATE, *EARLY])
    await add(ingest, other_tenant, EARLY)
    then = day("2022-01-01")
    for cue in (CUE, "Who gave the kayak?", "What does Bo Lind know of Bergen?"):
        asked = {"strategy": strategy, "as_of": then}
        ours = await ask(recalls, tenant, cue, **asked)
        twin = await ask(recalls, other_tenant, cue, **asked)
        assert set(texts(ours)) == set(texts(twin))
        assert all(hit.superseded_at is None for hit in ours.hits)
        if strategy == "dense":
            assert texts(ours) == texts(twin)
            assert [hit.score for hit in ours.hits] == pytest.approx(
                [hit.score for hit in twin.hits], abs=1e-9
            )


@pytest.mark.parametrize(
    ("then", "before"), [("2024-01-01", "2021-04-01"), ("2021-03-15", "2022-01-01")]
)
async def test_the_earlier_of_as_of_and_a_filter_of_time_ends_the_search(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, then: str, before: str
) -> None:
    await add(ingest, tenant, (*EARLY, *LATE))
    for strategy in ("dense", "lexical", "ecphoria"):
        asked = {"as_of": day(then), "filters": Filters(occurred_before=day(before))}
        found = texts(await ask(recalls, tenant, "river, kayak", strategy=strategy, **asked))
        assert found
        assert not {one.text for one in (*EARLY[2:4], *LATE)}.intersection(found), strategy


async def test_what_was_superseded_by_then_is_marked_as_of_then(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    lund = said("2025-01-01", "I live in Lund.", ("Ana Reyes", "lives in", "Lund"), session="u")
    await add(ingest, tenant, [*EARLY, *LATE, lund])
    result = await ask(recalls, tenant, as_of=day("2024-01-01"))
    assert lund.text not in texts(result)
    marked = {hit.episode.text: hit.superseded_at for hit in result.hits if hit.superseded_at}
    assert marked == {OSLO.text: BERGEN.occurred_at}
    assert texts(result).index(BERGEN.text) < texts(result).index(OSLO.text)


async def test_what_was_not_known_yet_stays_out(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await add(ingest, tenant, EARLY)
    early = WallClock().now()
    await add(ingest, tenant, LATE)
    result = await ask(recalls, tenant, known_at=early)
    assert set(texts(result)) <= {one.text for one in EARLY}
    assert all(hit.superseded_at is None for hit in result.hits)


class Still:
    """A clock that stands."""

    def now(self) -> datetime:
        return day("2024-01-01")


async def test_as_of_the_present_is_the_recall_of_the_present(
    ingest: IngestService, graph: Graph, embedder: Embedder, tenant: TenantId
) -> None:
    """So what differs as of the past are the counts over the whole store, and nothing else."""
    await add(ingest, tenant, (*EARLY, *LATE))
    recalls = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        traces=TraceStore(graph, 9),
        embedder=embedder,
        clock=Still(),
    )
    for strategy in STRATEGIES:
        plain = await ask(recalls, tenant, strategy=strategy)
        then = await ask(recalls, tenant, strategy=strategy, as_of=Still().now())
        assert texts(then) == texts(plain), strategy
        assert [hit.score for hit in then.hits] == pytest.approx(
            [hit.score for hit in plain.hits], abs=1e-9
        ), strategy
    await recalls.close()
