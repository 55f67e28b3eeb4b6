"""The kernels against the printed equations of SYNAPSE in plain loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.adjacency import Adjacency, transition
from ecphoria.maths.spreading import SpreadOptions, spread
from tests.printed.synapse import Edge, activations, injected, temporal

NODES = 7
PRINTED = SpreadOptions(
    scaled=False, firing="literal", inhibition_mode="step", inhibition=0.15, seed_floor=0.0
)
RELATION = st.tuples(
    st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.sampled_from((0, 1))
).filter(lambda ends: ends[0] < ends[1])
GRAPH = st.dictionaries(RELATION, st.floats(0.01, 1), max_size=14)


def arcs(relations: dict[tuple[int, int, int], float]) -> Adjacency:
    """Kind 0 leads forward, kind 1 both ways."""
    degree = [[0.0, 0.0] for _ in range(NODES)]
    for tail, head, kind in relations:
        degree[tail][kind] += 1
        degree[head][kind] += 1
    return transition(
        [tail for tail, _, _ in relations], [head for _, head, _ in relations],
        [kind for _, _, kind in relations], list(relations.values()), degree=degree,
        gain=[[1.0, 0.0], [1.0, 1.0]], row_guard=False, fan="degree",
    )  # fmt: skip


def printed(relations: dict[tuple[int, int, int], float]) -> list[Edge]:
    edges = []
    for (tail, head, kind), weight in relations.items():
        edges.append(Edge(tail=str(tail), head=str(head), weight=weight))
        if kind:
            edges.append(Edge(tail=str(head), head=str(tail), weight=weight))
    return edges


def test_a_hub_of_five_edges() -> None:
    """Two temporal edges of weight 1 and three abstraction edges of .8: it sends 4.4 / 5."""
    hub = arcs({(0, 1, 0): 1.0, (0, 2, 0): 1.0} | {(0, node, 1): 0.8 for node in (3, 4, 5)})
    assert hub.row_sums()[0] == pytest.approx(0.88, abs=1e-12)
    assert hub.row_sums()[1] == 0.0, "time leads forward only"
    by_weight = transition(
        [0] * 5, [1, 2, 3, 4, 5], [0, 0, 1, 1, 1], [1.0, 1.0, 0.8, 0.8, 0.8],
        degree=[[2.0, 3.0]] + [[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 3,
        gain=[[1.0, 1.0], [1.0, 1.0]], row_guard=False,
    )  # fmt: skip
    assert by_weight.row_sums()[0] == pytest.approx(2.0, abs=1e-12)


def test_unlisted_edges_count() -> None:
    """A fetch that is cut must not make a hub send more."""
    cut = transition([0], [1], [0], [1.0], degree=[[5.0], [1.0]], gain=[[1.0, 1.0]], fan="degree")
    assert cut.row_sums().tolist() == pytest.approx([0.2, 1.0])


@given(GRAPH, st.dictionaries(st.integers(0, NODES - 1), st.floats(-1, 1), min_size=1, max_size=4))
def test_the_activation(
    relations: dict[tuple[int, int, int], float], cosines: dict[int, float]
) -> None:
    nodes = [str(node) for node in range(NODES)]
    energy = injected({str(node): cosine for node, cosine in cosines.items()})
    start = [energy.get(node, 0.0) for node in nodes]
    found = spread(arcs(relations), start, options=PRINTED).activation
    if not any(start):
        # Without a seed nothing is spread, and the recall says so.
        assert not found.any()
        return
    expected = activations(nodes, printed(relations), energy)
    assert found.tolist() == pytest.approx([expected[node] for node in nodes], abs=1e-9)


def test_a_temporal_edge() -> None:
    assert temporal(30.0) == pytest.approx(0.740818, abs=1e-6)
