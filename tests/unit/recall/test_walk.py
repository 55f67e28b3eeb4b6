"""A walk numbers its nodes once, and leads every path to an entry."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.walk import Flow, Walk, episode_seed, shares
from ecphoria.records.ids import EpisodeId
from ecphoria.records.traced import Stream


def flow(*arcs: tuple[int, int, float]) -> Flow:
    tail, head, energy = (np.array(column) for column in zip(*arcs, strict=True))
    return Flow(tail=tail, head=head, weight=np.ones(len(arcs)), energy=energy)


def chain() -> Walk:
    """Walk from a seed over a concept to an episode, and by a weaker arc straight to it."""
    walk = Walk(joins={(0, 1): "MENTIONS", (1, 2): "ABOUT", (0, 2): "NEXT", (2, 1): "ABOUT"})
    for node, kind in (("seed", "episode"), ("bridge", "concept"), ("far", "episode")):
        walk.add(node, kind, label=node.upper())
    walk.entries = {0: (Stream.TEXT, 0.9)}
    walk.flows = [flow((0, 1, 0.5), (0, 2, 0.1)), flow((1, 2, 0.3), (2, 1, 0.4))]
    return walk


def told(walk: Walk, episode: str) -> list[tuple[str, str, float]]:
    return [(step.node, step.edge, step.energy) for step in walk.path(EpisodeId(episode))]


def test_a_known_node_keeps_its_number_and_its_label() -> None:
    walk = chain()
    assert walk.add("bridge", "episode", "other") == 1
    assert (walk.ids[1], walk.kinds[1], walk.labels[1]) == ("bridge", "concept", "BRIDGE")


def test_a_path_takes_the_strongest_step_of_each_flow_from_an_entry() -> None:
    steps = told(chain(), "far")
    assert steps == [("seed", "text", 0.9), ("bridge", "MENTIONS", 0.5), ("far", "ABOUT", 0.3)]
    assert [step.label for step in chain().path(EpisodeId("far"))] == ["SEED", "BRIDGE", "FAR"]


def test_a_node_without_arrivals_or_that_is_unknown_has_no_path() -> None:
    assert chain().path(EpisodeId("seed")) == ()
    assert chain().path(EpisodeId("stranger")) == ()


def test_a_path_that_reaches_no_entry_is_told_only_if_it_need_not_be_whole() -> None:
    walk = chain()
    walk.entries = {}
    assert walk.path(EpisodeId("far")) == ()
    walk.whole = False
    assert told(walk, "far")[0] == ("seed", "rank", 0.0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.0, 1.0)), min_size=1),
       st.integers(1, 6))  # fmt: skip
def test_no_path_enters_a_node_twice(arcs: list[tuple[int, int, float]], times: int) -> None:
    walk = Walk(whole=False, joins={(tail, head): "NEXT" for tail, head, _ in arcs})
    for number in range(6):
        walk.add(str(number), "episode")
    walk.flows = [flow(*arcs)] * times
    for number in range(6):
        nodes = [step.node for step in walk.path(EpisodeId(str(number)))]
        assert len(nodes) == len(set(nodes))
        assert nodes[-1:] in ([], [str(number)])


def test_the_energies_of_seeds_are_shares_of_one() -> None:
    seeds = [episode_seed("a", Stream.TEXT, 3.0), episode_seed("b", Stream.TEXT, 1.0)]
    assert [seed.energy for seed in shares(seeds)] == [0.75, 0.25]
    still = [replace(seed, energy=0.0) for seed in seeds]
    assert list(shares(still)) == still
