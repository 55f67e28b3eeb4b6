"""The kernels against the printed equations of NeuromemoryAI in plain loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.actr import base_level, prime, probabilities
from ecphoria.maths.adjacency import transition
from tests.printed.neuromemory import activation, retrieved

AGES = st.lists(st.floats(0, 1e8), min_size=1, max_size=8)
LINKS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda ends: ends[0] < ends[1]),
    st.floats(0.01, 1),
    max_size=10,
)


@given(AGES, st.floats(0.1, 0.9))
def test_the_base_level(ages: list[float], d: float) -> None:
    base, _, _ = activation(ages, [], {}, "m", 0.0, d=d)
    found = base_level(ages, [0] * len(ages), size=1, decay=d)
    assert found[0] == pytest.approx(base, abs=1e-9)


@given(LINKS, st.sets(st.integers(0, 5), min_size=1, max_size=4))
def test_the_spreading(links: dict[tuple[int, int], float], context: set[int]) -> None:
    arcs = transition(
        [one for one, _ in links], [other for _, other in links], [0] * len(links),
        list(links.values()), degree=[[0.0]] * 6, gain=[[1.0, 1.0]], fan_power=0.0,
        row_guard=False,
    )  # fmt: skip
    found = prime(arcs, [float(node in context) for node in range(6)])
    both = {
        (str(a), str(b)): weight
        for (one, other), weight in links.items()
        for a, b in ((one, other), (other, one))
    }
    for node in range(6):
        _, spreading, _ = activation([1.0], [str(one) for one in context], both, str(node), 0.0)
        assert found[node] == pytest.approx(spreading, abs=1e-12)


@given(st.lists(st.floats(-8, 2), min_size=1, max_size=6), st.floats(0.1, 2))
def test_the_retrieval_probability(activations: list[float], tau: float) -> None:
    found = probabilities(activations, temperature=tau)
    assert found.tolist() == pytest.approx(retrieved(activations, tau), abs=1e-12)
