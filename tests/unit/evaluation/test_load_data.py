from itertools import pairwise

import numpy as np

from ecphoria.text.concepts import NameTable, extract
from ecphoria_eval.load_data import DIMENSION, Talk, Turn


def spoken(count: int, *, seed: int = 1, names_per_turn: float = 1.4) -> list[Turn]:
    (turns,) = Talk(seed, names_per_turn=names_per_turn).batches(count, count)
    return turns


def test_same_seed_says_the_same() -> None:
    one, other = spoken(60), spoken(60)
    assert [turn.text for turn in one] == [turn.text for turn in other]
    assert all(np.array_equal(a.vector, b.vector) for a, b in zip(one, other, strict=True))
    assert one[0].text != spoken(60, seed=2)[0].text


def test_batches_go_on_where_the_last_ended() -> None:
    talk = Talk(1)
    parts = [turn.text for turns in talk.batches(25, 10) for turn in turns]
    parts += [turn.text for turns in talk.batches(35, 10) for turn in turns]
    assert parts == [turn.text for turn in spoken(60)]


def test_vectors_lie_like_those_of_real_turns() -> None:
    turns = spoken(600)
    vectors = np.stack([turn.vector for turn in turns])
    assert vectors.shape == (600, DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    cosines = vectors @ vectors.T
    next_to = np.diagonal(cosines, 1)
    same = np.array([a.session == b.session for a, b in pairwise(turns)])
    apart = cosines[np.triu_indices(600, 200)]
    assert 0.2 < apart.mean() < 0.32
    assert 0.38 < next_to[same].mean() < 0.52
    assert next_to[~same].mean() < 0.35


def test_names_attach_preferentially() -> None:
    turns = spoken(1_500, names_per_turn=3.0)
    items = [extract(None, turn.text) for turn in turns]
    table = NameTable()
    table.add(items)
    mentions = [table.mentions(item) for item in items]
    assert 2.0 < np.mean([len(names) for names in mentions]) < 3.5
    degrees = np.sort(np.unique([name for names in mentions for name in names],
                                return_counts=True)[1])  # fmt: skip
    assert degrees[-degrees.size // 10 :].sum() > 0.4 * degrees.sum()


def test_sessions_are_dialogues_in_order() -> None:
    turns = spoken(300)
    for one, other in pairwise(turns):
        assert one.occurred_at < other.occurred_at
        assert one.session != other.session or one.speaker != other.speaker


def test_probes_point_at_what_was_said() -> None:
    talk = Talk(1)
    (turns,) = talk.batches(200, 200)
    vectors = np.stack([turn.vector for turn in turns])
    for probe in talk.probes(20):
        assert np.isclose(np.linalg.norm(probe.vector), 1.0, rtol=1e-5)
        cosines = vectors @ probe.vector
        assert cosines.max() > 0.4
        assert any(turn.speaker in probe.text for turn in turns)
