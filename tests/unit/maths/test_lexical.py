import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.lexical import bm25, context_norms, context_similarity, idf, spread_next

COUNTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.integers(0, 5).map(float),
)


def line(size: int) -> dict[str, list[int]]:
    return {"previous": [place - 1 for place in range(size)], "following": [*range(1, size), -1]}


def slow_spread(counts: FloatArray) -> FloatArray:
    kernel = {0: 1.0, 1: 0.7, 2: 0.4, 3: 0.2, -1: 0.4, -2: 0.2}
    result = np.zeros_like(counts)
    for i in range(len(counts)):
        for back, share in kernel.items():
            if 0 <= i - back < len(counts):
                result[i] += share * counts[i - back]
    return result


def slow_bm25(
    tf: FloatArray, qtf: list[float], rare: list[float], length: list[float], mean: float
) -> list[float]:
    k1, b = 0.6, 0.3
    scores = []
    for row, size in zip(tf.tolist(), length, strict=True):
        score = 0.0
        for count, times, weight in zip(row, qtf, rare, strict=True):
            if count:
                level = count + k1 * (1 - b + b * size / mean)
                score += times * weight * count * (k1 + 1) / level
        scores.append(score)
    return scores


def test_a_stem_said_once_first_fades_over_four_turns() -> None:
    assert spread_next([1, 0, 0, 0, 0], **line(5)).tolist() == [1.0, 0.7, 0.4, 0.2, 0.0]


def test_a_stem_said_once_in_the_middle_reaches_back_two_turns() -> None:
    assert spread_next([0, 0, 0, 1, 0, 0], **line(6)).tolist() == [0, 0.2, 0.4, 1, 0.7, 0.4]


def test_spreading_stops_where_a_session_ends() -> None:
    tf = [0, 1, 0, 0]
    result = spread_next(tf, previous=[-1, 0, -1, 2], following=[1, -1, 3, -1])
    assert result.tolist() == [0.4, 1.0, 0.0, 0.0]


def test_items_without_neighbours_keep_their_counts() -> None:
    tf = np.array([[2.0, 0.0], [1.0, 3.0]])
    assert (spread_next(tf, previous=[-1, -1], following=[-1, -1]) == tf).all()


def test_neighbours_may_stand_in_any_row() -> None:
    result = spread_next([0, 1, 0], previous=[1, -1, 0], following=[2, 0, -1])
    assert result.tolist() == [0.7, 1.0, 0.4]


@given(COUNTS)
def test_spreading_agrees_with_the_sum_written_out(counts: FloatArray) -> None:
    before = counts.copy()
    result = spread_next(counts, **line(len(counts)))
    np.testing.assert_allclose(result, slow_spread(counts), atol=1e-12)
    assert (counts == before).all()


@given(COUNTS)
def test_bm25_agrees_with_the_sum_written_out(counts: FloatArray) -> None:
    q = counts.shape[1]
    length = (counts.sum(axis=1) + 1).tolist()
    mean = float(np.mean(length))
    rare = idf(np.minimum(1, counts).sum(axis=0), len(counts))
    qtf = [1.0 + column for column in range(q)]
    result = bm25(counts, qtf=qtf, idf=rare, length=length, mean_length=mean)
    np.testing.assert_allclose(
        result, slow_bm25(counts, qtf, rare.tolist(), length, mean), atol=1e-12
    )


def test_idf_follows_its_formula_and_stays_above_zero() -> None:
    assert idf([3], 10)[0] == pytest.approx(math.log(1 + 7.5 / 3.5))
    assert (idf([0, 5, 10], 10) > 0).all()


def test_each_stem_saturates_on_its_own() -> None:
    def score(row: list[float]) -> float:
        return float(bm25([row], qtf=[1, 1], idf=[1, 1], length=[4], mean_length=4)[0])

    assert score([1, 1]) > score([2, 0]) > score([1, 0])


def test_longer_items_score_less_for_the_same_count() -> None:
    result = bm25([[1.0], [1.0]], qtf=[1], idf=[1], length=[2, 20], mean_length=11)
    assert result[0] > result[1]


def test_nothing_to_score_is_no_error() -> None:
    empty = bm25(np.zeros((0, 2)), qtf=[1, 1], idf=[1, 1], length=[], mean_length=0)
    assert empty.shape == (0,)
    bare = bm25(np.zeros((2, 0)), qtf=[], idf=[], length=[1, 2], mean_length=1.5)
    assert bare.tolist() == [0.0, 0.0]
    assert bm25([[0.0]], qtf=[1], idf=[1], length=[0], mean_length=0, b=1)[0] == 0.0
    assert spread_next(np.zeros((0, 3)), previous=[], following=[]).shape == (0, 3)


@given(arrays(np.float64, (5, 3), elements=st.floats(-1, 1)))
def test_context_similarity_is_the_cosine_with_the_smoothed_vector(vectors: FloatArray) -> None:
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(size > 1e-3, vectors / np.where(size > 1e-3, size, 1), [1.0, 0, 0])
    query = np.array([0.6, 0.8, 0.0])
    padded = np.vstack((np.zeros(3), vectors, np.zeros(3)))
    smooth = padded[1:-1] + 0.6 * padded[:-2] + 0.3 * padded[2:]
    norms = np.linalg.norm(smooth, axis=1)
    np.testing.assert_allclose(context_norms(vectors, joined=[True] * 4), norms, atol=1e-12)
    if norms.min() > 1e-3:
        result = context_similarity(vectors @ query, norm=norms, **line(5))
        np.testing.assert_allclose(result, smooth @ query / norms, atol=1e-9)


def test_turns_of_other_sessions_are_no_context() -> None:
    """Rows 0 to 1 and 3 to 4 belong together; row 2 is alone."""
    vectors = np.eye(5)
    vectors[4] = [0.0, 0.0, 0.0, 0.6, 0.8]
    norms = context_norms(vectors, joined=[True, False, False, True])
    alone = [1.0 + 0.09, 1.0 + 0.36, 1.0]
    pair = [1.0 + 0.09 + 2 * 0.3 * 0.6, 1.0 + 0.36 + 2 * 0.6 * 0.6]
    np.testing.assert_allclose(norms, np.sqrt([*alone, *pair]))
    assert context_norms(np.zeros((0, 5)), joined=[]).shape == (0,)
    assert context_norms(np.zeros((3, 5)), joined=[True, True]).tolist() == [0.0, 0.0, 0.0]


def test_a_document_has_its_cosine_for_context() -> None:
    alone = context_similarity([0.4], norm=[1.0], previous=[-1], following=[-1])
    assert alone.tolist() == [0.4]
    assert context_similarity([0.4], norm=[0.0], previous=[-1], following=[-1]).tolist() == [0.0]
