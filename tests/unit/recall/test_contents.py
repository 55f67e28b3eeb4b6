"""A shelf gives back what was put on it, whatever the order and the repeats."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.cache import Content, ContentCache


def content(number: int) -> Content:
    return Content(
        id=f"e{number}",
        speaker="Ann" if number % 2 else "",
        role="user" if number % 3 else "",
        occurred_ms=1_000 * number,
        terms=f"t{number}",
        length=float(number),
        length_prior=number / 1_000,
        is_question=number % 3 == 0,
        time_expression=number % 5 == 0,
        first_person=number % 7 == 0,
        second_person=number % 11 == 0,
        title=f"Title {number}" if number % 13 == 0 else None,
        importance=number / 1_000,
        vector=np.full(3, number, np.float32),
    )


@given(st.lists(st.lists(st.integers(0, 700), max_size=300), max_size=6))
def test_what_was_put_is_found(batches: list[list[int]]) -> None:
    shelf = ContentCache()
    for batch in batches:
        shelf.put([content(number) for number in batch])
    numbers = sorted({number for batch in batches for number in batch})
    assert len(shelf) == len(numbers)
    slots = shelf.slots([f"e{number}" for number in numbers])
    assert shelf.occurred_ms[slots].tolist() == [1_000 * number for number in numbers]
    assert shelf.length[slots].tolist() == [[number, number / 1_000] for number in numbers]
    for number, slot in zip(numbers, slots.tolist(), strict=True):
        one = content(number)
        assert shelf.speaker[slot] == (one.speaker or None)
        assert (shelf.terms[slot], shelf.title[slot]) == (one.terms, one.title)
        facts = (one.is_question, one.time_expression, one.first_person, one.second_person)
        assert tuple(shelf.facts[slot].tolist()) == facts
        assert shelf.importance[slot] == one.importance
        assert shelf.vector[slot].tolist() == [number] * 3


def test_nothing_is_there_before_it_is_put() -> None:
    shelf = ContentCache()
    shelf.put([])
    assert shelf.missing(["e1"]) == ["e1"]
    assert shelf.slots([]).shape == (0,)
