import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.kernels.base import BaseWeights, base_score
from ecphoria.kernels.fusion import Scored

PLAIN = BaseWeights(speaker=0, previous=0, following=0, session=0)


def four_turns(weights: BaseWeights | None = None, *, speaker: bool = True) -> Scored:
    return base_score(
        [0, 6, 3, 1.5],
        [0.2, 0.5, 0.6, 0.1],
        [0, 0, 0, 0],
        speaker=[False, speaker, speaker, False],
        previous=[-1, 0, 1, 2],
        following=[1, 2, 3, -1],
        session=[0, 0, 0, 0],
        weights=weights,
    )


def test_four_turns_of_one_session() -> None:
    np.testing.assert_allclose(four_turns().score, [0, 1, 0.861345, 0.00280112], atol=5e-7)


def test_without_its_extra_terms_it_is_the_plain_bar() -> None:
    f = np.array([0.1, 0.9, 0.75, 0.125])
    scored = four_turns(PLAIN)
    np.testing.assert_allclose(scored.score, (f - 0.1) / 0.8, atol=1e-12)
    assert not scored.parts[:, 2:].any()
    np.testing.assert_allclose(four_turns(PLAIN, speaker=False).score, scored.score)


@given(
    st.lists(
        st.tuples(
            st.floats(0, 20),
            st.floats(-1, 1),
            st.integers(0, 2),
            st.booleans(),
            st.integers(-1, 2),
        ),
        max_size=12,
    )
)
def test_parts_add_up_and_h_lies_between_0_and_1(
    rows: list[tuple[float, float, int, bool, int]],
) -> None:
    n = len(rows)
    words, meaning, kind, named, home = zip(*rows, strict=True) if rows else ((),) * 5
    scored = base_score(
        np.array(words),
        np.array(meaning),
        np.array(kind, dtype=int),
        speaker=np.array(named, dtype=bool),
        previous=np.arange(n) - 1,
        following=np.where(np.arange(n) + 1 < n, np.arange(n) + 1, -1),
        session=np.array(home, dtype=int),
    )
    np.testing.assert_allclose(scored.parts.sum(axis=1), scored.score, atol=1e-9)
    assert ((scored.score >= 0) & (scored.score <= 1 + 1e-12)).all()


def test_kinds_are_scaled_apart() -> None:
    none = np.full(4, -1)
    scored = base_score(
        [1, 2, 100, 200],
        [0, 0, 0, 0],
        [0, 0, 1, 1],
        speaker=none > 0,
        previous=none,
        following=none,
        session=none,
    )
    assert scored.score.tolist() == [0, 1, 0, 1]


def test_equal_evidence_counts_only_if_there_is_any() -> None:
    def both(words: float, meaning: float) -> list[float]:
        none = np.full(2, -1)
        scored = base_score(
            [words] * 2,
            [meaning] * 2,
            [0, 0],
            speaker=none > 0,
            previous=none,
            following=none,
            session=none,
        )
        return list(scored.score)

    assert both(3.0, 0.4) == [1.0, 1.0]
    assert both(0.0, -0.4) == [0.0, 0.0]


def test_no_item_belongs_to_the_session_of_none() -> None:
    none = np.full(3, -1)
    scored = base_score(
        [0, 1, 2], [0, 1, 2], [0, 0, 0],
        speaker=none > 0, previous=none, following=none, session=[-1, -1, 5],
    )  # fmt: skip
    assert scored.parts[:, 5].tolist()[:2] == [0.0, 0.0]
    assert scored.parts[2, 5] > 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: BaseWeights(lexical=2),
        lambda: BaseWeights(session=-1),
        lambda: base_score(
            [1.0], [1.0, 2.0], [0], speaker=[True], previous=[-1], following=[-1], session=[-1]
        ),
        lambda: base_score(
            [1.0], [1.0], [0], speaker=[1], previous=[-1], following=[-1], session=[-1]
        ),
        lambda: base_score(
            [1.0], [1.0], [0], speaker=[True], previous=[1], following=[-1], session=[-1]
        ),
    ],
)
def test_bad_arrays_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=r"must|one length"):
        call()
