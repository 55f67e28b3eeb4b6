from copy import copy
from datetime import timedelta

import numpy as np
import pytest

from ecphoria.consolidation.knn_store import Association, AssociationStore
from ecphoria.errors import NotFound
from ecphoria.ingest.changes import Changes
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.ports import Around, Columns, FanLimits, TermCount, Window
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.recall import Filters
from tests.conftest import Cypher
from tests.contract.memories import (
    START,
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
from tests.vectors import as_stored

NO_FILTERS = Filters()


@pytest.fixture
def reader(graph: Graph) -> EpisodeReader:
    return EpisodeReader(graph)


async def make_dormant(cypher: Cypher, id_: str) -> None:
    await cypher(
        "MATCH (n:Episode|Concept {id: $id}) REMOVE n:LiveEpisode:LiveConcept RETURN n.id", id=id_
    )


def names(tenant: TenantId, ids: object) -> list[str]:
    known = {episode_id(tenant, str(number)): str(number) for number in range(1, 60)}
    return [known.get(id_, "?") for id_ in ids]  # type: ignore[attr-defined]  # any sequence of ids


async def test_a_profile_has_the_means_and_the_speakers(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    empty = (await reader.lexicon(tenant, [], [])).profile
    assert (empty.items, empty.mean_length, empty.participants, empty.change) == (0, 0, (), 0)
    await write(graph, tenant, everything(tenant))
    profile = (await reader.lexicon(tenant, [], [])).profile
    assert (profile.items, profile.titles, profile.change) == (4, 1, 1)
    assert profile.mean_length == 3
    assert profile.participants == ("Ann", "Bob")


async def test_a_profile_needs_a_tenant(reader: EpisodeReader) -> None:
    with pytest.raises(NotFound):
        await reader.lexicon(TenantId(fresh_id()), [], [])


async def test_vector_seeds_carry_the_exact_cosine(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    generator = np.random.default_rng(11)
    vectors = generator.normal(size=(30, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [turn(tenant, number, vector=vectors[number]) for number in range(1, 30)]
    await write(graph, tenant, appended(*rows))
    cue = vectors[0]
    stored = as_stored(vectors[1:])
    cosines = stored.astype(np.float64) @ cue.astype(np.float64)
    seeds = await reader.seeds_by_vector(tenant, cue, 10, NO_FILTERS)
    assert names(tenant, [seed.id for seed in seeds]) == [
        str(number + 1) for number in np.argsort(-cosines)[:10]
    ]
    assert [seed.score for seed in seeds] == pytest.approx(sorted(cosines)[::-1][:10], abs=1e-6)
    assert (seeds[0].session, seeds[0].ordinal) == ("s1", int(np.argmax(cosines)))


async def test_vector_ties_go_to_the_earlier_turn(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number, vector=axis(7)) for number in range(1, 13)]
    await write(graph, tenant, appended(*rows))
    seeds = await reader.seeds_by_vector(tenant, axis(7), 5, NO_FILTERS)
    assert names(tenant, [seed.id for seed in seeds]) == ["1", "2", "3", "4", "5"]
    by_text = await reader.seeds_by_text(tenant, ["said"], 5, NO_FILTERS)
    assert names(tenant, [seed.id for seed in by_text]) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(session="s2"), {"3"}),
        (Filters(speaker="Bob"), {"2"}),
        (Filters(speaker="Ann", session="s1"), {"1"}),
        (Filters(speaker="Ann"), {"1", "3"}),
        (Filters(occurred_from=START + timedelta(minutes=3)), {"3", "4"}),
        (Filters(occurred_before=START + timedelta(minutes=3)), {"1", "2"}),
        (
            Filters(
                occurred_from=START + timedelta(minutes=2),
                occurred_before=START + timedelta(minutes=4),
                session="s1",
            ),
            {"2"},
        ),
        (Filters(session="nowhere"), set()),
        (NO_FILTERS, {"1", "2", "3", "4"}),
    ],
)
async def test_filters_hold_for_both_kinds_of_seeds(
    graph: Graph, tenant: TenantId, reader: EpisodeReader, filters: Filters, expected: set[str]
) -> None:
    await write(graph, tenant, everything(tenant))
    by_vector = await reader.seeds_by_vector(tenant, axis(9), 10, filters)
    assert set(names(tenant, [seed.id for seed in by_vector])) == expected
    stems = ["said", "tiber"]
    by_text = await reader.seeds_by_text(tenant, stems, 10, filters)
    assert set(names(tenant, [seed.id for seed in by_text])) == expected


async def test_a_filter_finds_what_ranks_behind_many_others(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number, terms="said said") for number in range(1, 50)]
    rows.append(turn(tenant, 50, session="far", ordinal=0, terms="said " + "x " * 40))
    await write(graph, tenant, appended(*rows))
    found = await reader.seeds_by_text(tenant, ["said"], 3, Filters(session="far"))
    assert names(tenant, [seed.id for seed in found]) == ["50"]


async def test_text_seeds_rank_the_rarer_stem_first(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    seeds = await reader.seeds_by_text(tenant, ["turn", "t2", "t2"], 10, NO_FILTERS)
    assert names(tenant, [seed.id for seed in seeds]) == ["2", "1", "3"]
    assert seeds[0].score > seeds[1].score > 0
    assert (seeds[0].session, seeds[0].ordinal) == ("s1", 1)
    assert await reader.seeds_by_text(tenant, [], 10, NO_FILTERS) == []
    (document_seed,) = await reader.seeds_by_text(tenant, ["rome"], 10, NO_FILTERS)
    assert (document_seed.session, document_seed.ordinal) == (None, None)


async def test_term_counts_leave_out_the_unknown(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    assert (await reader.lexicon(tenant, ["turn", "rome", "nile", "rome"], [])).terms == [
        TermCount(stem="rome", items=1),
        TermCount(stem="turn", items=3),
    ]


async def test_concepts_are_looked_up_by_name(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    rome, tiber = (await reader.lexicon(tenant, [], ["tiber", "rome", "nile"])).concepts
    assert (rome.id, rome.name, rome.kind) == (concept_id(tenant, "rome"), "Rome", "name")
    assert (rome.mentions, rome.abouts, rome.lower) == (1, 1, True)
    assert (tiber.mentions, tiber.abouts, tiber.lower) == (2, 0, False)


async def test_columns_join_ids_and_windows_each_once(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number) for number in range(1, 9)]
    rows.append(turn(tenant, 9, session="s0", ordinal=0, is_question=True, speaker=None))
    rows.append(document(tenant, 10, "Rome", has_time_expression=True, second_person=True))
    await write(graph, tenant, appended(*rows))
    wanted = [episode_id(tenant, name) for name in ("10", "3", "9")]
    windows = [
        Window(session="s1", first=1, last=3),
        Window(session="s1", first=3, last=4),
        Window(session="s0", first=-2, last=0),
    ]
    columns = await reader.columns(tenant, wanted, windows, axis(3, towards=4, share=0.25))
    assert names(tenant, columns.id) == ["10", "9", "2", "3", "4", "5"]
    assert columns.turn.tolist() == [10, 9, 2, 3, 4, 5]
    assert columns.session == (None, "s0", "s1", "s1", "s1", "s1")
    assert columns.ordinal.tolist() == [-1, 0, 1, 2, 3, 4]
    assert columns.speaker == (None, None, "Ann", "Ann", "Ann", "Ann")
    assert columns.terms[2] == "turn said t2"
    assert columns.occurred_ms[2] == int((START + timedelta(minutes=2)).timestamp() * 1000)
    assert [one is not None for one in columns.title] == [True, *[False] * 5]
    assert columns.is_question.tolist() == [False, True, False, False, False, False]
    assert columns.time_expression.tolist() == [True, False, False, False, False, False]
    assert columns.first_person.all()
    assert columns.second_person.tolist() == [True, False, False, False, False, False]
    assert set(columns.length.tolist()) == {3.0}
    assert columns.vector[2:].tolist() == [axis(number).tolist() for number in (2, 3, 4, 5)]
    expected = [0.0, 0.0, 0.0, np.sqrt(0.75), 0.5, 0.0]
    assert columns.cosine == pytest.approx(expected, abs=1e-6)
    without = await reader.columns(tenant, wanted, windows, None)
    assert without.cosine.tolist() == [0.0] * 6


async def test_columns_bring_the_turns_near_others_of_their_session_only(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number) for number in range(1, 9)]
    rows.append(turn(tenant, 9, session="s0", ordinal=0))
    rows.append(document(tenant, 10, "Rome"))
    await write(graph, tenant, appended(*rows))
    await write(graph, other_tenant, appended(turn(other_tenant, 1)))
    near = Around(
        ids=tuple(episode_id(tenant, one) for one in ("2", "6", "9", "10")), back=2, ahead=1
    )
    columns = await reader.columns(tenant, [episode_id(tenant, "10")], [], axis(1), near)
    assert names(tenant, columns.id) == ["10", "9", "1", "2", "3", "4", "5", "6", "7"]
    assert (await reader.columns(other_tenant, [], [], axis(1), near)).id == ()


@pytest.mark.parametrize("keep", [0, 3, 1000])
async def test_what_is_remembered_between_reads_changes_nothing(
    keep: int, graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    rows = [turn(tenant, number) for number in range(1, 9)]
    await write(graph, tenant, appended(*rows))
    await write(graph, other_tenant, appended(turn(other_tenant, 1)))
    warm = EpisodeReader(graph, keep=keep)
    windows = [Window(session="s1", first=1, last=5)]
    await warm.lexicon(tenant, [], [])
    await warm.columns(tenant, [], windows, axis(2))
    await warm.lexicon(other_tenant, [], [])
    await warm.columns(other_tenant, [episode_id(other_tenant, "1")], [], axis(2))
    for vector in (axis(3), axis(4, towards=2, share=0.5), None):
        expected = await EpisodeReader(graph).columns(tenant, [], windows, vector)
        got = await warm.columns(tenant, [], windows, vector)
        for name in Columns.__slots__:
            np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


async def test_a_deleted_memory_is_not_remembered(graph: Graph, tenant: TenantId) -> None:
    rows = [turn(tenant, number) for number in range(1, 4)]
    await write(graph, tenant, appended(*rows))
    warm = EpisodeReader(graph)
    await warm.lexicon(tenant, [], [])
    windows = [Window(session="s1", first=0, last=9)]
    await warm.columns(tenant, [], windows, None)
    gone = episode_id(tenant, "2")
    await write(graph, tenant, Changes(items=-1, removed=[gone]))
    await warm.lexicon(tenant, [], [])
    assert len(warm._columns._memories[tenant]) == 0
    assert gone not in (await warm.columns(tenant, [], windows, None)).id


async def test_an_unread_session_takes_one_query_and_a_changed_one_reads_only_what_is_new(
    graph: Graph, tenant: TenantId
) -> None:
    await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 4))))
    asked: list[str] = []
    noting = copy(graph)
    noting._on_query = lambda name, _: asked.append(name)
    warm = EpisodeReader(noting)
    windows = [Window(session="s1", first=0, last=9)]
    await warm.lexicon(tenant, [], [])
    asked.clear()
    read = await warm.columns(tenant, [], windows, None)
    assert asked == ["recall.list_contents"]
    await write(graph, tenant, appended(turn(tenant, 4)))
    await warm.lexicon(tenant, [], [])
    asked.clear()
    again = await warm.columns(tenant, [], windows, None)
    assert asked == ["recall.list_places", "recall.list_contents"]
    assert names(tenant, again.id) == [*names(tenant, read.id), "4"] == ["1", "2", "3", "4"]


async def test_columns_of_nothing_are_empty(tenant: TenantId, reader: EpisodeReader) -> None:
    columns = await reader.columns(tenant, [], [], axis(1))
    assert columns.id == ()
    assert columns.cosine.shape == columns.turn.shape == (0,)


async def test_a_frontier_opens_both_ways_strongest_first(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    rome, tiber = concept_id(tenant, "rome"), concept_id(tenant, "tiber")
    first, second, fourth = (episode_id(tenant, name) for name in "124")
    arcs = await reader.expand(
        tenant, [second, fourth, rome, tiber], FanLimits(fan=10, floor=0.0), START
    )
    told = list(
        zip(
            arcs.tail,
            arcs.edge,
            arcs.forward.tolist(),
            arcs.head,
            arcs.weight.tolist(),
            arcs.degree.tolist(),
            arcs.head_kind,
            arcs.head_label,
            strict=True,
        )
    )
    assert set(told) == {
        (second, "NEXT", False, first, 0.9, 1, "episode", "Ann"),
        (second, "MENTIONS", True, tiber, 0.5, 1, "concept", "Tiber"),
        (fourth, "MENTIONS", True, tiber, 1.0, 1, "concept", "Tiber"),
        (fourth, "ABOUT", False, rome, 1.0, 1, "concept", "Rome"),
        (rome, "ABOUT", True, fourth, 1.0, 1, "episode", "Rome"),
        (rome, "MENTIONS", False, first, 1.0, 1, "episode", "Ann"),
        (tiber, "MENTIONS", False, second, 0.5, 2, "episode", "Bob"),
        (tiber, "MENTIONS", False, fourth, 1.0, 2, "episode", "Rome"),
    }
    assert len(told) == 8
    assert arcs.weight.tolist() == sorted(arcs.weight.tolist(), reverse=True)
    strong = await reader.expand(tenant, [second, tiber], FanLimits(fan=10, floor=0.6), START)
    assert sorted(strong.edge) == ["MENTIONS", "NEXT"]


async def test_the_turns_of_a_window_share_their_concepts(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    turns = [turn(tenant, number) for number in range(1, 8)]
    other = turn(tenant, 8, session="s2", ordinal=0)
    await write(
        graph,
        tenant,
        appended(
            *turns,
            other,
            names=(named("tiber", candidates=2),),
            concepts_made=["tiber"],
            mentions_added=(mention(tenant, 2, "tiber", 0.5), mention(tenant, 8, "tiber")),
        ),
    )
    tiber = concept_id(tenant, "tiber")
    first, sixth = (episode_id(tenant, name) for name in "16")
    ends = [first, sixth, tiber]
    own = await reader.expand(tenant, ends, FanLimits(fan=10, floor=0.1), START)
    assert {arc[:2] for arc in zip(own.tail, own.head, strict=True)} == {
        (tiber, episode_id(tenant, "2")), (tiber, episode_id(tenant, "8")),
    }  # fmt: skip
    arcs = await reader.expand(tenant, ends, FanLimits(fan=10, floor=0.1, window=5), START)
    found = set(
        zip(arcs.tail, arcs.head, arcs.forward.tolist(), arcs.weight.tolist(),
            arcs.degree.tolist(), strict=True)
    ) - set(
        zip(own.tail, own.head, own.forward.tolist(), own.weight.tolist(), own.degree.tolist(),
            strict=True)
    )  # fmt: skip
    # Turns 1 to 5 are a window, turns 6 and 7 the next, turn 8 is in another session.
    assert found == {
        (first, tiber, True, 0.5, 1),
        *((tiber, episode_id(tenant, name), False, 0.5, 6) for name in "12345"),
        (tiber, episode_id(tenant, "8"), False, 1.0, 6),
    }
    assert set(arcs.edge) == {"MENTIONS"}
    floored = await reader.expand(tenant, ends, FanLimits(fan=10, floor=0.6, window=5), START)
    assert first not in floored.tail


async def test_a_concept_leads_to_associated_ones_only_if_that_is_wanted(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    ends = sorted(concept_id(tenant, name) for name in ("rome", "tiber"))
    edge = Association(one=ends[0], other=ends[1], part=0.5)
    await AssociationStore(graph).save_associated(tenant, None, now=START, edges=[edge], done={})
    assert (
        "ASSOCIATED"
        not in (await reader.expand(tenant, ends, FanLimits(fan=10, floor=0.0), START)).edge
    )
    arcs = await reader.expand(tenant, ends, FanLimits(fan=10, floor=0.0, associated=True), START)
    found = [row for row in zip(arcs.edge, arcs.tail, arcs.head, arcs.weight.tolist(),
                                arcs.degree.tolist(), arcs.head_kind, strict=True)
             if row[0] == "ASSOCIATED"]  # fmt: skip
    (weight,) = {row[3] for row in found}
    assert 0.0 < weight <= 0.5
    assert {row[1:3] for row in found} == {(ends[0], ends[1]), (ends[1], ends[0])}
    assert {row[4:] for row in found} == {(1, "concept")}
    floored = await reader.expand(
        tenant, ends, FanLimits(fan=10, floor=weight + 0.01, associated=True), START
    )
    assert "ASSOCIATED" not in floored.edge


async def test_a_hub_opens_to_its_strongest_edges_only(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number) for number in range(1, 31)]
    mentions = tuple(
        mention(tenant, number, "hub", weight=number / 100) for number in range(1, 31)
    )
    await write(
        graph,
        tenant,
        appended(
            *rows,
            names=(named("hub", candidates=30),),
            concepts_made=["hub"],
            mentions_added=mentions,
        ),
    )
    arcs = await reader.expand(
        tenant, [concept_id(tenant, "hub")], FanLimits(fan=3, floor=0.0), START
    )
    assert names(tenant, arcs.head) == ["30", "29", "28"]
    assert arcs.degree.tolist() == [30, 30, 30]
    edges = await reader.concepts_of(tenant, [episode_id(tenant, "1")], 30)
    assert edges.mentions.tolist() == [30]
    assert (await reader.concepts_of(tenant, [episode_id(tenant, "1")], 29)).episode == ()
    assert (await reader.episodes_of(tenant, [concept_id(tenant, "hub")], 29)).episode == ()
    assert len((await reader.episodes_of(tenant, [concept_id(tenant, "hub")], 30)).episode) == 30


async def test_the_concept_channel_sees_mentions_and_abouts(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    edges = await reader.concepts_of(tenant, [episode_id(tenant, name) for name in "42"], 50)
    told = set(
        zip(names(tenant, edges.episode), edges.label, edges.is_about.tolist(), strict=True)
    )
    assert told == {("2", "Tiber", False), ("4", "Tiber", False), ("4", "Rome", True)}
    back = await reader.episodes_of(tenant, [concept_id(tenant, "rome")], 50)
    assert names(tenant, back.episode) == sorted(
        names(tenant, back.episode), key=lambda n: episode_id(tenant, n)
    )
    assert set(zip(names(tenant, back.episode), back.is_about.tolist(), strict=True)) == {
        ("1", False),
        ("4", True),
    }
    assert set(back.abouts.tolist()) == {1}
    hub = await reader.episodes_of(tenant, [concept_id(tenant, "rome")], 0)
    assert names(tenant, hub.episode) == ["4"]


async def test_episodes_come_in_the_order_asked(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    asked = [episode_id(tenant, "3"), EpisodeId(fresh_id()), episode_id(tenant, "1")]
    found = await reader.episodes(tenant, asked)
    assert names(tenant, [episode.id for episode in found]) == ["3", "1"]
    assert found[1].occurred_at == START + timedelta(minutes=1)
    assert (found[1].speaker, found[1].role, found[1].source) == ("Ann", "user", "chat.json")


async def test_what_sleeps_is_not_found(
    graph: Graph, tenant: TenantId, reader: EpisodeReader, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    second = episode_id(tenant, "2")
    await make_dormant(cypher, second)
    by_vector = await reader.seeds_by_vector(tenant, axis(2), 10, NO_FILTERS)
    by_text = await reader.seeds_by_text(tenant, ["t2", "said"], 10, NO_FILTERS)
    assert second not in {seed.id for seed in [*by_vector, *by_text]}
    window = [Window(session="s1", first=0, last=5)]
    columns = await reader.columns(tenant, [second], window, None)
    assert names(tenant, columns.id) == ["1"]
    arcs = await reader.expand(
        tenant, [episode_id(tenant, "1"), second], FanLimits(fan=10, floor=0.0), START
    )
    assert second not in {*arcs.head, *arcs.tail}
    assert await reader.episodes(tenant, [second]) == []
    assert second not in (await reader.concepts_of(tenant, [second], 50)).episode
    assert (
        second not in (await reader.episodes_of(tenant, [concept_id(tenant, "tiber")], 50)).episode
    )
    await make_dormant(cypher, concept_id(tenant, "rome"))
    assert (await reader.lexicon(tenant, [], ["rome"])).concepts == []


async def test_no_read_shows_another_tenant_anything(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, reader: EpisodeReader
) -> None:
    await write(graph, tenant, everything(tenant))
    ids = [episode_id(tenant, name) for name in "1234"]
    concepts = [concept_id(tenant, name) for name in ("rome", "tiber")]
    window = [Window(session="s1", first=0, last=9)]
    stranger = other_tenant
    assert await reader.seeds_by_vector(stranger, axis(1), 50, NO_FILTERS) == []
    assert await reader.seeds_by_vector(stranger, axis(1), 50, Filters(session="s1")) == []
    assert await reader.seeds_by_text(stranger, ["turn", "rome"], 50, NO_FILTERS) == []
    assert await reader.seeds_by_text(stranger, ["turn"], 50, Filters(speaker="Ann")) == []
    assert (await reader.lexicon(stranger, ["turn"], [])).terms == []
    assert (await reader.lexicon(stranger, [], ["rome"])).concepts == []
    assert (await reader.columns(stranger, ids, window, axis(1))).id == ()
    assert (
        await reader.expand(stranger, [*ids, *concepts], FanLimits(fan=50, floor=0.0), START)
    ).tail == ()
    assert (await reader.concepts_of(stranger, ids, 50)).episode == ()
    assert (await reader.episodes_of(stranger, concepts, 50)).episode == ()
    assert await reader.episodes(stranger, ids) == []
    profile = (await reader.lexicon(stranger, [], [])).profile
    assert (profile.items, profile.participants, profile.titles) == (0, (), 0)


async def test_a_crowded_neighbour_does_not_crowd_out_ones_own(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, reader: EpisodeReader
) -> None:
    many = [turn(other_tenant, number, vector=axis(1)) for number in range(1, 200)]
    await write(graph, other_tenant, appended(*many))
    await write(graph, tenant, appended(turn(tenant, 1, vector=axis(2))))
    (mine,) = await reader.seeds_by_vector(tenant, axis(1), 5, NO_FILTERS)
    assert mine.id == episode_id(tenant, "1")
    (also,) = await reader.seeds_by_text(tenant, ["said"], 5, NO_FILTERS)
    assert also.id == episode_id(tenant, "1")


async def test_next_edges_of_a_turn_are_cut_at_the_fan(
    graph: Graph, tenant: TenantId, reader: EpisodeReader
) -> None:
    rows = [turn(tenant, number) for number in range(1, 4)]
    edges = (follows(tenant, 1, 2, 0.3), follows(tenant, 2, 3, 0.7))
    await write(graph, tenant, appended(*rows, next_added=edges))
    arcs = await reader.expand(
        tenant, [episode_id(tenant, "2")], FanLimits(fan=1, floor=0.0), START
    )
    assert names(tenant, arcs.head) == ["3"]
    assert arcs.degree.tolist() == [2]
