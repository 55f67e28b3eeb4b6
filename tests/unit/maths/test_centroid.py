import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.clustering import carried, hop, positive_cosine, relevance, sources

QUERY = np.array([1.0, 0.0, 0.0])
A, B = np.array([0.8, 0.6, 0.0]), np.array([0.6, 0.8, 0.0])
X, Y = np.array([0.5, 0.0, math.sqrt(0.75)]), np.array([0.25, 0.0, math.sqrt(0.9375)])
G = np.array([0.2, math.sqrt(0.96), 0.0])
SHARES = arrays(np.float64, st.integers(1, 6), elements=st.floats(0, 1, width=16))


def test_before_any_hop_it_is_plain_search() -> None:
    direct = positive_cosine([A, B, X, Y, G], QUERY)
    assert np.argsort(-direct).tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(relevance(direct, direct), direct)


def test_one_hop_of_the_worked_example() -> None:
    seeds = np.array([A, B, X])
    direct = positive_cosine(seeds, QUERY)
    step = hop(seeds, relevance(direct, direct), direct)
    assert step is not None
    np.testing.assert_allclose(step.weights, [0.421053, 0.315789, 0.263158], atol=1e-6)
    np.testing.assert_allclose(step.vector, [0.764758, 0.587335, 0.26492], atol=1e-6)
    near = positive_cosine([A, B, X, Y, G], step.vector)
    np.testing.assert_allclose(near, [0.964207, 0.928723, 0.611807, 0.447697, 0.72842], atol=1e-6)
    assert step.path == pytest.approx(0.657895, abs=1e-6)
    found = carried([G, Y], step.vector, path=step.path)
    np.testing.assert_allclose(found, [0.383379, 0.23563], atol=1e-6)
    score = relevance(positive_cosine([G, Y], QUERY), found)
    np.testing.assert_allclose(score, [0.291689, 0.242815], atol=5e-7)


def test_seeds_come_in_the_order_of_the_cue_and_weigh_by_the_question() -> None:
    cue = np.array([0.6, 0.8, 0.0])
    order = np.argsort(-positive_cosine([A, B], cue)).tolist()
    assert order == [1, 0]
    direct = positive_cosine([B, A], QUERY)
    step = hop([B, A], relevance(direct, direct), direct)
    assert step is not None
    np.testing.assert_allclose(step.weights, [0.428571, 0.571429], atol=1e-6)


def test_passages_of_the_worked_example() -> None:
    # Traces A, B, G, X; passages c1 {A, B}, c2 {G, B}, c3 {X}.
    woken = sources(
        [0, 1, 2, 1, 3], [0, 0, 1, 1, 2], [0.64, 0.56, 0.72, 0.48, 0.4],
        [0.8, 0.6, 0.291689, 0.5], size=3,
    )  # fmt: skip
    np.testing.assert_allclose(woken, [0.835077, 0.486939, 0.2], atol=1e-6)


def test_a_trace_behind_the_question_adds_nothing() -> None:
    assert positive_cosine([[-1.0, 0.0, 0.0]], QUERY).tolist() == [0.0]


def test_seeds_that_cancel_out_or_score_nothing_stop_the_hops() -> None:
    assert hop([A, -A], [1.0, 1.0], [0.5, 0.5]) is None
    assert hop([A], [0.0], [0.5]) is None
    assert hop(np.empty((0, 3)), [], []) is None


@given(SHARES, st.data())
def test_weights_sum_to_one_and_order_does_not_matter(
    score: FloatArray, data: st.DataObject
) -> None:
    size = score.size
    raw = data.draw(arrays(np.float64, (size, 4), elements=st.floats(-1, 1, width=16)))
    norm = np.linalg.norm(raw, axis=1, keepdims=True)
    assume((norm > 0.1).all() and score.sum() > 0.01)
    vectors, path = raw / norm, np.linspace(0, 1, size)
    step = hop(vectors, score, path)
    slow = sum((score[e] / math.fsum(score) * vectors[e] for e in range(size)), start=np.zeros(4))
    assume(np.linalg.norm(slow) > 1e-6)
    assert step is not None
    assert (step.weights >= 0).all()
    assert step.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(step.vector, slow / np.linalg.norm(slow), atol=1e-9)
    order = np.array(data.draw(st.permutations(range(size))), dtype=np.int64)
    again = hop(vectors[order], score[order], path[order])
    assert again is not None
    np.testing.assert_allclose(again.vector, step.vector, atol=1e-9)
    assert again.path == pytest.approx(step.path, abs=1e-12)


@given(st.floats(0, 1), st.floats(0.05, 1), st.floats(-1, 1))
def test_a_later_trace_never_exceeds_the_bound_of_its_path(
    path: float, keep: float, cosine: float
) -> None:
    vector = [cosine, math.sqrt(max(0.0, 1 - cosine**2)), 0.0]
    assert 0.0 <= carried([vector], QUERY, path=path, keep=keep)[0] <= keep * path + 1e-12


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.floats(0, 1)), max_size=15))
def test_sources_agree_with_the_sum_written_out(edges: list[tuple[int, int, float]]) -> None:
    score = [0.9, 0.5, 0.1, 0.0]
    fan = [math.fsum(w for e, _, w in edges if e == trace) for trace in range(4)]
    expected = [
        math.fsum(score[e] * w / max(1.0, fan[e]) for e, p, w in edges if p == place)
        for place in range(5)
    ]
    found = sources(
        [e for e, _, _ in edges], [p for _, p, _ in edges], [w for _, _, w in edges],
        score, size=5,
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-12)
