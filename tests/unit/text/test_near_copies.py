"""Long texts are near copies if a few words differ, by the share of their runs of words."""

import random
import time

import pytest

from ecphoria.text.near_copies import LONGEST, SHORTEST, Sketch, almost_same, sketch

WORDS = 360


def drawn(words: list[str]) -> Sketch:
    found = sketch(" ".join(words))
    assert found is not None
    return found


def changed(words: list[str], count: int) -> list[str]:
    """Change so many words, far apart."""
    other = list(words)
    for each in range(count):
        other[5 + each * (len(words) // (count + 1))] = f"other{each}"
    return other


@pytest.mark.parametrize("size", [WORDS, 2_000])
def test_one_word_of_36_may_differ(size: int) -> None:
    words = [f"w{random.Random(each).randrange(900)}" for each in range(size)]  # noqa: S311
    assert almost_same(drawn(words), drawn(words))
    assert almost_same(drawn(words), drawn(changed(words, size // 45)))
    assert not almost_same(drawn(words), drawn(changed(words, size // 25)))


def test_another_order_is_another_text() -> None:
    words = [f"word{each}" for each in range(WORDS)]
    assert not almost_same(drawn(words), drawn(words[::-1]))


def test_a_denial_makes_another_text() -> None:
    words = [f"word{each}" for each in range(WORDS)]
    assert not almost_same(drawn(words), drawn([*words, "not"]))


@pytest.mark.parametrize("text", ["", "a word " * 20, "x" * SHORTEST, "word " * LONGEST])
def test_short_and_huge_texts_and_those_of_few_words_have_no_sketch(text: str) -> None:
    assert sketch(text) is None


def test_a_sketch_of_the_longest_text_takes_milliseconds() -> None:
    text = "".join(f"w{each} " for each in range(LONGEST))[:LONGEST]
    begun = time.process_time()
    assert sketch(text) is not None
    assert time.process_time() - begun < 2
