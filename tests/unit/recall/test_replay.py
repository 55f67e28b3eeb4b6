"""A trace lists the arcs on paths and the strongest others, and counts the rest."""

import numpy as np
import pytest

from ecphoria.recall.replay import waves_of, with_first_steps
from ecphoria.recall.walk import STILL, Flow, Walk, episode_seed, marks
from ecphoria.records.recall import PathStep
from ecphoria.records.traced import Stream


def flow(*arcs: tuple[int, int, float]) -> Flow:
    tail, head, energy = (np.array(column) for column in zip(*arcs, strict=True))
    return Flow(tail=tail, head=head, weight=np.ones(len(arcs)), energy=energy)


def fan() -> Walk:
    """Walk from node 0 to 40 others, and then from node 1 back to node 0 and on to node 2."""
    walk = Walk(joins={(0, head): "NEXT" for head in range(1, 41)} | {(1, 0): "A", (1, 2): "B"})
    for number in range(41):
        walk.add(str(number), "episode")
    walk.wave(flow(*((0, head, head / 100) for head in range(1, 41)), (1, 2, 0.0)), active=40)
    walk.wave(flow((1, 0, 0.1), (1, 2, 0.2)), active=2, total=9)
    walk.wave(STILL, active=3, energy=0.5, marks=marks([("1", 0.2), ("2", 0.3)], "cut"))
    return walk


def path(*nodes: str) -> tuple[PathStep, ...]:
    edges = (Stream.TEXT, *("NEXT" for _ in nodes[1:]))
    return tuple(
        PathStep(node=node, kind="episode", edge=edge, label="", energy=0.7)
        for node, edge in zip(nodes, edges, strict=True)
    )


def test_waves_list_the_strongest_arcs_while_there_is_room() -> None:
    first, second, third = waves_of(fan().waves, (), 39)
    assert [arc.head for arc in first.arcs] == [str(head) for head in range(40, 1, -1)]
    assert (first.number, first.active, first.arcs_left_out) == (1, 40, 1)
    assert first.energy == pytest.approx(8.2)
    assert (second.number, second.arcs, second.arcs_left_out) == (2, (), 9)
    assert (third.number, third.energy, third.arcs) == (3, 0.5, ())
    assert [mark.node for mark in third.marks] == ["2", "1"]
    everything = waves_of(fan().waves, (), 2_000)
    assert [len(wave.arcs) for wave in everything] == [40, 2, 0]
    assert [wave.arcs_left_out for wave in everything] == [0, 7, 0]


def test_the_arcs_on_paths_are_always_listed_in_the_wave_that_carried_them() -> None:
    first, second, third = waves_of(fan().waves, [path("0", "1", "2"), path("0", "5")], 0)
    assert [(arc.tail, arc.head, arc.energy) for arc in first.arcs] == [
        ("0", "5", 0.05), ("0", "1", 0.01)
    ]  # fmt: skip
    assert [(arc.tail, arc.head, arc.edge) for arc in second.arcs] == [("1", "2", "B")]
    assert (first.arcs_left_out, second.arcs_left_out, third.arcs) == (38, 8, ())


def test_a_step_that_no_wave_has_stands_with_the_step_after_it() -> None:
    first, second, _ = waves_of(fan().waves, [path("9", "1", "2")], 0)
    assert first.arcs == ()
    assert [(arc.tail, arc.head, arc.edge, arc.energy) for arc in second.arcs] == [
        ("9", "1", "NEXT", 0.7), ("1", "2", "B", 0.2)
    ]  # fmt: skip
    assert second.arcs_left_out == 8
    assert waves_of((), [path("9", "1")], 10) == ()


def test_every_path_begins_at_a_listed_seed() -> None:
    known = episode_seed("0", Stream.VECTOR, 1.0)
    seeds = with_first_steps([known], [path("0", "1"), path("7"), path("7", "2"), ()])
    assert seeds == (known, episode_seed("7", Stream.TEXT, 0.0))
