from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.concepts import SynonymPair, SynonymTable, forms
from ecphoria.text.english import STOP_WORDS

WORDS = ["amber", "birch", "cedar", "the", "of", "delta"]
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)


def words(name: str) -> frozenset[str]:
    return frozenset(set(name.split()) - STOP_WORDS) or frozenset(name.split())


def alike(one: str, other: str) -> bool:
    """Say the same in sets, the slow way."""
    small, large = sorted((words(one), words(other)), key=len)
    return small == large or (len(small) >= 2 and small < large and len(large) == len(small) + 1)


@given(st.sets(NAMES.map(" ".join), max_size=8), st.integers(0, 8))
def test_pairs_are_those_with_the_same_words_or_one_more(names: set[str], split: int) -> None:
    ordered = sorted(names)
    old, made = ordered[:split], ordered[split:]
    table = SynonymTable(["birch", *old])
    table.remove({"birch"} - set(old))
    table.add(made)
    found = {(pair.one, pair.other) for pair in table.pairs(made)}
    assert found == {
        (one, other)
        for one in ordered
        for other in ordered
        if one < other and alike(one, other) and not {one, other} <= set(old)
    }


def test_the_weight_is_the_cosine_of_the_words() -> None:
    names = ["tall ships", "the tall ships", "tall ships race"]
    assert list(SynonymTable(names).pairs(names)) == [
        SynonymPair(one="tall ships", other="tall ships race", weight=sqrt(2 / 3)),
        SynonymPair(one="tall ships", other="the tall ships", weight=1.0),
        SynonymPair(one="tall ships race", other="the tall ships", weight=sqrt(2 / 3)),
    ]


@pytest.mark.parametrize(("one", "other"), [("quill", "ada quill"), ("ada quill", "ben quill")])
def test_one_common_word_is_not_enough(one: str, other: str) -> None:
    assert not list(SynonymTable([one, other]).pairs([one, other]))


@pytest.mark.parametrize("name", ["one two three four five six seven eight nine x", "x" * 300])
def test_a_sentence_has_no_synonyms(name: str) -> None:
    assert forms(name) == ()
    assert not list(SynonymTable([name, f"{name} y"]).pairs([name]))
