from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ecphoria.maths.clustering import clusters

SIZE = 12
EDGES = st.lists(
    st.tuples(
        st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.sampled_from([0.5, 0.6, 0.7, 0.8])
    ).filter(lambda edge: edge[0] != edge[1]),
    max_size=30,
)
Edges = list[tuple[int, int, float]]


def grouped(edges: Edges, most: int, size: int = SIZE) -> list[int]:
    one, other, weight = zip(*edges, strict=True) if edges else ((), (), ())
    found: list[int] = clusters(one, other, weight, size=size, most=most).tolist()
    return found


def components(edges: Edges) -> list[int]:
    """Name each node's connected component by its smallest member, as SciPy finds it."""
    tail, head = [edge[0] for edge in edges], [edge[1] for edge in edges]
    graph = coo_array(([1] * len(edges), (tail, head)), shape=(SIZE, SIZE))
    names = connected_components(graph, directed=False)[1].tolist()
    return [names.index(name) for name in names]


@given(EDGES)
def test_without_a_bound_they_are_the_connected_components(edges: Edges) -> None:
    assert grouped(edges, SIZE) == components(edges)


@given(EDGES, st.integers(1, SIZE))
def test_none_is_larger_than_the_bound_and_each_hangs_together(edges: Edges, most: int) -> None:
    labels = grouped(edges, most)
    assert max(Counter(labels).values()) <= most
    for label in set(labels):
        members = {node for node in range(SIZE) if labels[node] == label}
        inside = [edge for edge in edges if {*edge[:2]} <= members]
        assert {components(inside)[node] for node in members} == {label}


@given(EDGES, st.integers(1, SIZE), st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter(edges: Edges, most: int, random: object) -> None:
    shuffled = list(edges)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert grouped(shuffled, most) == grouped(edges, most)


@given(EDGES, st.integers(1, SIZE))
def test_what_happens_elsewhere_changes_nothing(edges: Edges, most: int) -> None:
    moved = [(one + SIZE, other + SIZE, 0.65) for one, other, _ in edges]
    both = grouped([*edges, *moved], most, 2 * SIZE)
    assert both[:SIZE] == grouped(edges, most)


def test_a_tie_is_none_because_of_the_last_digits() -> None:
    edges = [(0, 1, 0.7), (1, 2, 0.7 + 1e-12)]
    assert grouped(edges, 2, 3) == grouped(edges[::-1], 2, 3) == [0, 0, 2]


def test_nothing_has_no_groups() -> None:
    assert clusters([], [], [], size=0, most=3).tolist() == []
    assert np.array_equal(clusters([], [], [], size=3, most=3), [0, 1, 2])
