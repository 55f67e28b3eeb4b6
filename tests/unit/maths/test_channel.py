"""The concept channel against a second, slow implementation with dictionaries and sets."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.concept_channel import (
    ChannelOptions,
    ChannelState,
    boost,
    fact_cue,
    path,
    start,
    wake_concepts,
    wake_items,
    wake_related,
)
from tests.unit.maths.whole_graph import ConceptGraph, concept_graph, walk

TIGHT = ChannelOptions(item_frontier=2, concept_frontier=2, hub=3)


@dataclass(frozen=True, kw_only=True)
class Sample:
    mentions: frozenset[tuple[int, int]]
    about: dict[int, int]
    items: int
    concepts: int
    seeds: Sequence[float]
    cue: Sequence[float]

    def graph(self, hub: int = 50) -> ConceptGraph:
        pairs = sorted(self.mentions)
        return concept_graph(
            mention_item=np.array([item for item, _ in pairs], dtype=int),
            mention_concept=np.array([concept for _, concept in pairs], dtype=int),
            about_item=np.array(list(self.about), dtype=int),
            about_concept=np.array(list(self.about.values()), dtype=int),
            items=self.items,
            concepts=self.concepts,
            hub=hub,
        )


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    items, concepts = draw(st.integers(2, 7)), draw(st.integers(1, 7))
    item, concept = st.integers(0, items - 1), st.integers(0, concepts - 1)
    about = draw(st.dictionaries(item, concept))
    mentions = draw(st.frozensets(st.tuples(item, concept), max_size=20))
    seeds = [0.0] * items
    seeds[draw(item)] += 0.6
    seeds[draw(item)] += 0.4
    named = draw(st.sets(concept, max_size=2))
    return Sample(
        mentions=frozenset(pair for pair in mentions if about.get(pair[0]) != pair[1]),
        about=about,
        items=items,
        concepts=concepts,
        seeds=seeds,
        cue=[1 / len(named) if c in named else 0.0 for c in range(concepts)],
    )


def strongest(energy: dict[int, float], count: int) -> dict[int, float]:
    live = {key: value for key, value in energy.items() if value > 0}
    if len(live) <= count:
        return live
    last = sorted(live.values(), reverse=True)[count - 1]
    return {key: value for key, value in live.items() if value >= last * (1 - 1e-9)}


def slow_walk(sample: Sample, options: ChannelOptions) -> tuple[list[float], float]:
    mentioned_by, about_by = defaultdict(set), defaultdict(set)
    for item, concept in sample.mentions:
        mentioned_by[concept].add(item)
    for item, concept in sample.about.items():
        about_by[concept].add(item)
    hubs = {concept for concept, found in mentioned_by.items() if len(found) > options.hub}
    out = {
        i: {c for j, c in sample.mentions if j == i and c not in hubs} for i in range(sample.items)
    }
    energy = dict(enumerate(sample.seeds))
    act, over_about = [0.0] * sample.items, 0.0
    for step in range(options.steps):
        concepts = defaultdict(float, enumerate(sample.cue) if step == 0 else ())
        for item, a in strongest(energy, options.item_frontier).items():
            fan = len(out[item]) + 0.1 * (item in sample.about)
            for concept in out[item]:
                concepts[concept] += a / fan**0.5
            if item in sample.about:
                concepts[sample.about[item]] += 0.1 * a / fan**0.5
        received = [0.0] * sample.items
        for concept, c in strongest(concepts, options.concept_frontier).items():
            titles, mentions = about_by[concept], mentioned_by[concept]
            for item in titles:
                received[item] += 0.8 * c / len(titles) ** 0.75
                over_about += 0.8 * c / len(titles) ** 0.75
            for item in () if concept in hubs else mentions:
                received[item] += 0.08 * c / (len(titles) + len(mentions)) ** 0.75
        act = [sum(pair) for pair in zip(act, received, strict=True)]
        energy = {item: 0.5 * energy[item] + received[item] for item in energy}
    total = sum(act)
    return act, min(1.0, 2 * over_about / total) if total else 0.0


@given(samples(), st.sampled_from([ChannelOptions(), TIGHT, ChannelOptions(steps=1, hub=1)]))
def test_it_agrees_with_the_walk_written_out(sample: Sample, options: ChannelOptions) -> None:
    state = walk(sample.graph(options.hub), sample.seeds, sample.cue, options=options)
    act, gate = slow_walk(sample, options)
    np.testing.assert_allclose(state.act(), act, atol=1e-9)
    assert state.gate() == pytest.approx(gate, abs=1e-9)


@dataclass
class Server:
    """Hands out edges of a whole graph a half-step at a time, numbering as they come."""

    graph: ConceptGraph
    items: list[int]
    concepts: list[int]

    def edges(self, rows: Sequence[int], *, of_items: bool) -> tuple[list[int], list[int]]:
        ends = self.graph.item if of_items else self.graph.concept
        known = self.items if of_items else self.concepts
        other = self.graph.concept if of_items else self.graph.item
        met = self.concepts if of_items else self.items
        picked = [edge for row in rows for edge in np.flatnonzero(ends == known[row]).tolist()]
        for edge in picked:
            if other[edge] not in met:
                met.append(int(other[edge]))
        return picked, [known.index(int(ends[edge])) for edge in picked]


def fetched_walk(sample: Sample, options: ChannelOptions) -> tuple[ChannelState, Server]:
    graph = sample.graph(options.hub)
    seeds = [i for i in range(sample.items) if sample.seeds[i]]
    cue = [c for c in range(sample.concepts) if sample.cue[c]]
    server = Server(graph, list(seeds), list(cue))
    state = start([sample.seeds[i] for i in seeds], [sample.cue[c] for c in cue], options=options)
    for _ in range(options.steps):
        picked, ends = server.edges(state.sending_items().tolist(), of_items=True)
        state = wake_concepts(
            state,
            item=np.array(ends, dtype=int),
            concept=np.array([server.concepts.index(graph.concept[e]) for e in picked], dtype=int),
            is_title=graph.is_about[picked],
            item_mentions=graph.item_mentions[server.items],
            item_titles=graph.item_titles[server.items],
            concept_mentions=graph.concept_mentions[server.concepts],
        )
        picked, ends = server.edges(state.sending_concepts().tolist(), of_items=False)
        state = wake_items(
            state,
            concept=np.array(ends, dtype=int),
            item=np.array([server.items.index(graph.item[e]) for e in picked], dtype=int),
            is_about=graph.is_about[picked],
            concept_about=graph.concept_about[server.concepts],
            concept_mentions=graph.concept_mentions[server.concepts],
            size=len(server.items),
        )
    return state, server


@given(samples())
def test_fetching_as_it_goes_finds_the_same(sample: Sample) -> None:
    state, server = fetched_walk(sample, TIGHT)
    whole = walk(sample.graph(TIGHT.hub), sample.seeds, sample.cue, options=TIGHT)
    act = np.zeros(sample.items)
    act[server.items] = state.act()
    np.testing.assert_allclose(act, whole.act(), atol=1e-12)
    assert state.gate() == pytest.approx(whole.gate(), abs=1e-12)


@given(samples(), st.randoms(use_true_random=False))
def test_the_order_of_insertion_makes_no_difference(sample: Sample, random: object) -> None:
    assert hasattr(random, "shuffle")
    items, concepts = list(range(sample.items)), list(range(sample.concepts))
    random.shuffle(items)
    random.shuffle(concepts)
    moved = Sample(
        mentions=frozenset((items[i], concepts[c]) for i, c in sample.mentions),
        about={items[i]: concepts[c] for i, c in sample.about.items()},
        items=sample.items,
        concepts=sample.concepts,
        seeds=[sample.seeds[items.index(i)] for i in range(sample.items)],
        cue=[sample.cue[concepts.index(c)] for c in range(sample.concepts)],
    )
    direct = walk(sample.graph(3), sample.seeds, sample.cue, options=TIGHT).act()
    again = walk(moved.graph(3), moved.seeds, moved.cue, options=TIGHT).act()
    np.testing.assert_allclose(again[items], direct, atol=1e-12)


@given(samples())
def test_a_path_leads_from_the_item_back_to_the_cue_or_a_seed(sample: Sample) -> None:
    state = walk(sample.graph(), sample.seeds, sample.cue)
    edges = sample.mentions | set(sample.about.items())
    for item, act in enumerate(state.act()):
        hops = path(state.waves, item)
        assert bool(hops) == (act > 0)
        at = item
        for hop in reversed(hops):
            assert hop.item == at
            assert (at, hop.concept) in edges
            assert hop.source < 0 or (hop.source, hop.concept) in edges
            at = hop.source
        if hops and at >= 0:
            assert sample.seeds[at] > 0
        if hops and at < 0:
            assert sample.cue[hops[0].concept] > 0


def bridge(*, titled: bool) -> ConceptGraph:
    """Item 0 mentions concept 0; item 1 is about it, or also mentions it; 2 is elsewhere."""
    return concept_graph(
        mention_item=[0] if titled else [0, 1],
        mention_concept=[0] if titled else [0, 0],
        about_item=[1] if titled else [],
        about_concept=[0] if titled else [],
        items=3,
        concepts=1,
    )


def test_the_bridge_is_found_over_about_and_named_in_the_path() -> None:
    state = walk(bridge(titled=True), [1, 0, 0], [0])
    term = boost(state.act(), state.gate())
    assert term[1] == term.max() > 1.0
    assert term[2] == 0.0
    (hop,) = path(state.waves, 1)
    assert (hop.item, hop.concept, hop.source, hop.step) == (1, 0, 0, 0)
    assert path(state.waves, 2) == ()


def test_without_about_the_channel_changes_nothing() -> None:
    state = walk(bridge(titled=False), [1, 0, 0], [0])
    assert state.act()[1] > 0
    assert state.gate() == 0.0
    assert not boost(state.act(), state.gate()).any()


def test_without_energy_or_edges_nothing_wakes() -> None:
    quiet = walk(bridge(titled=True), [0, 0, 0], [0])
    assert not quiet.act().any()
    bare = concept_graph(
        mention_item=[], mention_concept=[], about_item=[], about_concept=[], items=2, concepts=0
    )
    lost = walk(bare, [0.5, 0.5], [])
    assert not lost.act().any()
    assert lost.gate() == 0.0
    assert not boost(lost.act(), 0.0).any()


def test_whatever_ties_with_the_last_sends_too() -> None:
    options = ChannelOptions(item_frontier=1, concept_frontier=1)
    state = start([0.5, 0.5, 0.4], [0.3, 0.3 * (1 + 1e-12), 0.1], options=options)
    assert state.sending_items().tolist() == [0, 1]
    assert state.sending_concepts().tolist() == [0, 1]


def test_a_hub_passes_nothing_over_mentions_but_all_over_about() -> None:
    many = list(range(4))
    graph = concept_graph(
        mention_item=many, mention_concept=[0] * 4, about_item=[4], about_concept=[0],
        items=5, concepts=1, hub=3,
    )  # fmt: skip
    assert not graph.item_mentions.any()
    act = walk(graph, [0] * 5, [1.0], options=ChannelOptions(hub=3, steps=1)).act()
    assert act.tolist() == [0, 0, 0, 0, 0.8]


def test_energy_reaches_related_concepts_at_once() -> None:
    state = start([1.0], [])
    state = wake_concepts(
        state, item=[0], concept=[0], is_title=[False], item_mentions=[1], item_titles=[0],
        concept_mentions=[1],
    )  # fmt: skip
    state = wake_related(state, tail=[0] * 4, head=[1, 2, 3, 4], weight=[0.5, 1, 0, 0], size=5)
    assert state.concepts.tolist() == pytest.approx([1.0, 0.1, 0.2, 0.0, 0.0])
    state = wake_items(
        state, concept=[1], item=[1], is_about=[True], concept_about=[0, 1, 0, 0, 0],
        concept_mentions=[1, 0, 0, 0, 0], size=2,
    )  # fmt: skip
    (hop,) = path(state.waves, 1)
    assert (hop.concept, hop.through, hop.source) == (1, 0, 0)


def test_only_the_strongest_concepts_pass_energy_on_and_none_waits_for_another() -> None:
    state = start([], [0.5, 0.2], options=ChannelOptions(concept_frontier=1))
    chain = wake_related(state, tail=[0, 1], head=[1, 2], weight=[1.0, 1.0], size=3)
    assert chain.concepts.tolist() == pytest.approx([0.5, 0.2 + 0.4 * 0.5, 0.0])
    wide = wake_related(start([], [0.5, 0.2]), tail=[0, 1], head=[1, 2], weight=[1, 1], size=3)
    assert wide.concepts.tolist() == pytest.approx([0.5, 0.4, 0.4 * 0.2])


def test_a_concept_woken_more_by_an_item_keeps_that_in_its_path() -> None:
    state = wake_concepts(
        start([1.0], []), item=[0, 0], concept=[0, 1], is_title=[False, False],
        item_mentions=[2], item_titles=[0], concept_mentions=[1, 1],
    )  # fmt: skip
    woken = wake_related(state, tail=[0], head=[1], weight=[1.0], size=2)
    assert woken.concepts[1] > state.concepts[1]
    assert woken.by_related.tolist() == [-1, -1]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-1, 1, width=16)), max_size=8),
    st.lists(st.integers(0, 9), min_size=5, max_size=5),
)
def test_the_nearest_facts_share_one_unit(ends: list[tuple[int, float]], items: list[int]) -> None:
    energy = fact_cue([end for end, _ in ends], [cosine for _, cosine in ends], items)
    assert (energy >= 0).all()
    near = any(cosine > 0 for _, cosine in ends)
    assert energy.sum() == pytest.approx(1.0 if near else 0.0)
