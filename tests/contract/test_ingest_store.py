import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from ecphoria.errors import NotFound
from ecphoria.ingest.changes import Changes, TurnPlace
from ecphoria.ingest.store import IngestStore, IngestTransaction
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.ports import FanLimits
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.recall import Filters
from tests.conftest import Cypher
from tests.contract.memories import (
    START,
    about,
    appended,
    axis,
    concept_id,
    document,
    episode_id,
    everything,
    follows,
    mention,
    named,
    turn,
    write,
)

T = TypeVar("T")
Ask = Callable[[IngestTransaction], Awaitable[T]]


async def ask(graph: Graph, tenant: TenantId, work: Ask[T]) -> T:
    return await IngestStore(graph).change(tenant, work)


def start_of(session: str, at: datetime, position: int | None) -> TurnPlace:
    return TurnPlace(
        session=session, id=EpisodeId(fresh_id()), occurred_at=at, position=position, sequence=0
    )


async def segment(
    transaction: IngestTransaction, session: str, at: datetime, position: int | None, margin: int
) -> Sequence[TurnPlace]:
    start = start_of(session, at, position)
    return (await transaction.segments([start], margin)).get(session, [])


async def count(cypher: Cypher, tenant: TenantId, label: str) -> int:
    rows = await cypher(
        "MATCH (n) WHERE n.tenant = $tenant AND $label IN labels(n) RETURN count(n) AS n",
        tenant=tenant,
        label=label,
    )
    return int(rows[0]["n"])


async def test_a_written_batch_is_there_for_the_next_read(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    found = await EpisodeReader(graph).episodes(tenant, [episode_id(tenant, "1")])
    assert found[0].text == "Turn 1 was said."
    assert found[0].metadata == {"mood": "glad", "n": 1}
    seeds = await EpisodeReader(graph).seeds_by_vector(tenant, axis(2), 1, Filters())
    assert [seed.id for seed in seeds] == [episode_id(tenant, "2")]
    by_text = await EpisodeReader(graph).seeds_by_text(tenant, ["t3"], 5, Filters())
    assert [seed.id for seed in by_text] == [episode_id(tenant, "3")]


async def test_counters_move_only_when_something_is_written(
    graph: Graph, tenant: TenantId
) -> None:
    async def look(transaction: IngestTransaction) -> tuple[int, int]:
        return transaction.counters.change, transaction.counters.sequence

    assert await ask(graph, tenant, look) == (0, 0)
    assert await ask(graph, tenant, look) == (0, 0)
    await write(graph, tenant, everything(tenant))
    assert await ask(graph, tenant, look) == (1, 4)


async def test_nobody_writes_for_a_tenant_that_is_not_there(graph: Graph) -> None:
    async def never(transaction: IngestTransaction) -> None:
        raise AssertionError

    with pytest.raises(NotFound):
        await IngestStore(graph).change(TenantId(fresh_id()), never)


async def test_an_error_in_the_work_leaves_nothing_behind(graph: Graph, tenant: TenantId) -> None:
    async def fail(transaction: IngestTransaction) -> None:
        await transaction.write(everything(tenant))
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await IngestStore(graph).change(tenant, fail)
    stats = await EpisodeArchive(graph).stats(tenant)
    assert (stats.episodes, stats.terms, stats.concepts, stats.change) == (0, 0, 0, 0)


async def test_transactions_of_a_tenant_run_one_after_the_other(
    graph: Graph, tenant: TenantId
) -> None:
    seen: list[int] = []

    async def append(transaction: IngestTransaction) -> None:
        number = transaction.counters.sequence + 1
        await asyncio.sleep(0.02)
        terms = Counter({"turn": 1})
        await transaction.write(appended(turn(tenant, number), terms=terms))
        seen.append(number)

    await asyncio.gather(*(IngestStore(graph).change(tenant, append) for _ in range(8)))
    assert sorted(seen) == list(range(1, 9))
    counts = (await EpisodeReader(graph).lexicon(tenant, ["turn"], [])).terms
    assert counts[0].items == 8


async def test_body_hashes_are_of_this_tenant(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    await write(graph, tenant, everything(tenant))
    mine, missing = episode_id(tenant, "1"), EpisodeId(fresh_id())
    assert await IngestStore(graph).body_hashes(tenant, [mine, missing]) == {mine: "hash 1"}
    assert await IngestStore(graph).body_hashes(other_tenant, [mine]) == {}
    assert await ask(graph, tenant, lambda t: t.body_hashes([mine])) == {mine: "hash 1"}


async def test_an_episode_is_found_inside_the_transaction_that_wrote_it(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    async def both(transaction: IngestTransaction) -> str:
        await transaction.write(appended(turn(tenant, 1)))
        found = await transaction.episode(episode_id(tenant, "1"))
        assert found is not None
        return found.text

    assert await ask(graph, tenant, both) == "Turn 1 was said."
    assert await ask(graph, other_tenant, lambda t: t.episode(episode_id(tenant, "1"))) is None


async def test_a_segment_starts_a_margin_before_the_key(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    rows = [turn(tenant, number) for number in range(1, 9)]
    await write(graph, tenant, appended(*rows))

    async def ordinals(minute: int, margin: int, position: int | None = None) -> list[int | None]:
        at = START + timedelta(minutes=minute)
        placed = await ask(graph, tenant, lambda t: segment(t, "s1", at, position, margin))
        return [one.ordinal for one in placed]

    assert await ordinals(minute=5, margin=2) == [3, 4, 5, 6, 7]
    assert await ordinals(minute=0, margin=2) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert await ordinals(minute=60, margin=3) == [5, 6, 7]
    assert await ordinals(minute=60, margin=0) == []
    at = START + timedelta(minutes=8)
    placed = await ask(graph, tenant, lambda t: segment(t, "s1", at, None, 1))
    assert (placed[0].sequence, placed[0].occurred_at) == (8, at)
    assert await ask(graph, tenant, lambda t: segment(t, "s9", at, None, 5)) == []
    assert await ask(graph, other_tenant, lambda t: segment(t, "s1", at, None, 5)) == []


async def test_segments_of_many_sessions_come_together(graph: Graph, tenant: TenantId) -> None:
    rows = [turn(tenant, number, session=f"s{number % 2}") for number in range(1, 7)]
    await write(graph, tenant, appended(*rows))
    starts = [
        start_of("s0", START + timedelta(minutes=2), 0),
        start_of("s1", START + timedelta(minutes=5), 0),
        start_of("s7", START, 0),
    ]
    found = await ask(graph, tenant, lambda t: t.segments(starts, 0))
    assert {name: [one.sequence for one in placed] for name, placed in found.items()} == {
        "s0": [4, 6]
    }


async def test_equal_times_are_ordered_by_position_and_none_is_zero(
    graph: Graph, tenant: TenantId
) -> None:
    rows = [
        turn(tenant, 1, occurred_at=START, position=None),
        turn(tenant, 2, occurred_at=START, position=1),
        turn(tenant, 3, occurred_at=START, position=5),
    ]
    await write(graph, tenant, appended(*rows))

    async def after(position: int | None) -> list[int | None]:
        placed = await ask(graph, tenant, lambda t: segment(t, "s1", START, position, 0))
        return [one.ordinal for one in placed]

    assert await after(None) == [1, 2]
    assert await after(1) == [2]
    assert await after(3) == [2]
    assert await after(5) == []


async def test_names_words_and_mentions_are_loaded(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    await write(graph, tenant, everything(tenant))
    names, words = await ask(graph, tenant, lambda t: t.names())
    assert list(names) == [
        replace(named("rome", titles=1, candidates=1), live=True),
        replace(named("tiber", candidates=2), live=True),
    ]
    assert list(words) == ["rome", "said"]
    assert await ask(graph, tenant, lambda t: t.word_counts(["said", "nile"])) == {"said": 3}
    bodies = await ask(graph, tenant, lambda t: t.bodies_with(["t2", "t3"]))
    assert {body.id: set(body.mentions) for body in bodies} == {
        episode_id(tenant, "2"): {"tiber"},
        episode_id(tenant, "3"): set(),
    }
    assert await ask(graph, other_tenant, lambda t: t.names()) == ([], [])
    assert await ask(graph, other_tenant, lambda t: t.word_counts(["said"])) == {}


async def test_bodies_are_found_by_names_side_by_side(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    await write(graph, tenant, everything(tenant))

    async def found(*names: str) -> set[EpisodeId]:
        bodies = await ask(graph, tenant, lambda t: t.bodies_with(names))
        assert len({body.id for body in bodies}) == len(bodies)
        return {body.id for body in bodies}

    first, third = (episode_id(tenant, name) for name in "13")
    assert await found("turn said t1") == {first}
    assert await found("t1 said") == set()
    assert await found("said t3", "t1") == {first, third}
    assert await found() == set()
    many = tuple(f"no{number} such phrase" for number in range(700))
    assert await found(*many, "t3") == {third}
    assert await ask(graph, other_tenant, lambda t: t.bodies_with(["turn"])) == []


async def test_stems_of_any_script_and_any_sign_are_found(graph: Graph, tenant: TenantId) -> None:
    stems = [
        "naïve",
        "кошка",
        "東京",
        "a+b",
        "x:y",
        "(z)",
        "q*",
        "AND",
        "d\\e",
        "o'neil",
        "~7",
        "a/b",
    ]
    rows = [turn(tenant, number, terms=stem) for number, stem in enumerate(stems, start=1)]
    await write(graph, tenant, appended(*rows))
    for number, stem in enumerate(stems, start=1):
        found = await EpisodeReader(graph).seeds_by_text(tenant, [stem], 9, Filters())
        assert [seed.id for seed in found] == [episode_id(tenant, str(number))], stem


async def test_moved_turns_take_their_new_places(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    moved = episode_id(tenant, "2")
    await write(
        graph,
        tenant,
        Changes(
            moved={moved: 7},
            next_removed=[(episode_id(tenant, "1"), episode_id(tenant, "2"))],
            next_added=[follows(tenant, 2, 1, 0.25)],
        ),
    )
    columns = await EpisodeReader(graph).columns(tenant, [moved], [], None)
    assert columns.ordinal.tolist() == [7]
    arcs = await EpisodeReader(graph).expand(tenant, [moved], FanLimits(fan=10, floor=0.0), START)
    next_arcs = [
        (head, bool(forward), float(weight))
        for head, edge, forward, weight in zip(
            arcs.head, arcs.edge, arcs.forward, arcs.weight, strict=True
        )
        if edge == "NEXT"
    ]
    assert next_arcs == [(episode_id(tenant, "1"), True, 0.25)]


async def test_removal_takes_along_what_only_the_removed_held(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    reader = EpisodeReader(graph)
    await write(
        graph,
        tenant,
        Changes(
            items=-2,
            titles=-1,
            length=-6,
            removed=[episode_id(tenant, "3"), episode_id(tenant, "4")],
            left=["s2"],
            speakers=Counter({"Ann": -1}),
            terms=Counter({"turn": -1, "rome": -1}),
            words=Counter({"rome": -1, "said": -1}),
            names=[named("rome", titles=-1, candidates=0), named("tiber", candidates=-1)],
        ),
    )
    stats = await EpisodeArchive(graph).stats(tenant)
    assert (stats.episodes, stats.sessions, stats.speakers) == (2, 1, 2)
    assert (stats.mentions, stats.abouts, stats.terms) == (2, 0, 1)
    profile = (await reader.lexicon(tenant, [], [])).profile
    assert (profile.items, profile.titles) == (2, 0)
    concepts = (await reader.lexicon(tenant, [], ["rome", "tiber"])).concepts
    assert [(one.normalised, one.mentions, one.abouts, one.lower) for one in concepts] == [
        ("rome", 1, 0, False),
        ("tiber", 1, 0, False),
    ]
    await write(
        graph,
        tenant,
        Changes(
            items=-2,
            removed=[episode_id(tenant, "1"), episode_id(tenant, "2")],
            left=["s1"],
            speakers=Counter({"Ann": -1, "Bob": -1}),
            terms=Counter({"turn": -2}),
            words=Counter({"said": -2}),
            names=[named("rome", candidates=-1), named("tiber", candidates=-1)],
            concepts_unmade=["rome", "tiber"],
        ),
    )
    for label in ("Episode", "Session", "Speaker", "Term", "Word", "Name", "Concept"):
        assert await count(cypher, tenant, label) == 0, label


async def test_a_concept_can_be_unmade_and_made_again(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    await write(graph, tenant, Changes(concepts_unmade=["tiber"]))
    reader = EpisodeReader(graph)
    assert (await reader.lexicon(tenant, [], ["tiber"])).concepts == []
    states, _ = await ask(graph, tenant, lambda t: t.names())
    assert {state.normalised: (state.live, state.candidates) for state in states} == {
        "rome": (True, 1),
        "tiber": (False, 2),
    }
    await write(
        graph,
        tenant,
        Changes(concepts_made=["tiber"], mentions_added=[mention(tenant, 2, "tiber")]),
    )
    (concept,) = (await reader.lexicon(tenant, [], ["tiber"])).concepts
    assert (concept.id, concept.mentions) == (concept_id(tenant, "tiber"), 1)


async def test_removed_mentions_are_uncounted(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    await write(graph, tenant, Changes(mentions_removed=[(episode_id(tenant, "2"), "tiber")]))
    (concept,) = (await EpisodeReader(graph).lexicon(tenant, [], ["tiber"])).concepts
    assert concept.mentions == 1
    (body,) = await ask(graph, tenant, lambda t: t.bodies_with(["t2"]))
    assert list(body.mentions) == []


async def test_every_edge_says_when_what_and_how_strong(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    rows = await cypher(
        "MATCH (e:Episode|Concept|Fact {tenant: $tenant})-[r]-() RETURN DISTINCT type(r) AS type, "
        "r.family AS family, r.weight AS weight, r.created_at IS NOT NULL AS dated",
        tenant=tenant,
    )
    assert {row["type"]: row["family"] for row in rows} == {
        "NEXT": "temporal",
        "IN_SESSION": "abstraction",
        "SPOKEN_BY": "provenance",
        "HAS_PASSAGE": "abstraction",
        "MENTIONS": "abstraction",
        "ABOUT": "abstraction",
        "SUBJECT": "abstraction",
        "OBJECT": "abstraction",
        "EVIDENCE": "provenance",
        "RELATED": "association",
        "SYNONYM": "association",
    }
    assert all(0 <= row["weight"] <= 1 and row["dated"] for row in rows)


async def test_two_titles_of_one_name_share_a_concept(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    await write(
        graph,
        tenant,
        appended(
            document(tenant, 5, "Rome"),
            names=(named("rome", titles=1),),
            abouts_added=(about(tenant, 5, "rome"),),
        ),
    )
    (concept,) = (await EpisodeReader(graph).lexicon(tenant, [], ["rome"])).concepts
    assert concept.abouts == 2
