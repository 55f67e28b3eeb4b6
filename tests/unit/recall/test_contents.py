"""A cache returns what was put into it, in any order and with repeats."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.cache import Content, ContentCache


def content(number: int) -> Content:
    return Content(
        id=f"e{number}",
        turn=number,
        session="s",
        ordinal=number,
        speaker="Ann" if number % 2 else "",
        role="user" if number % 3 else "",
        occurred_ms=1_000 * number,
        local_ms=1_000 * number + 3_600_000,
        terms=f"t{number}",
        length=float(number),
        is_question=number % 3 == 0,
        time_expression=number % 5 == 0,
        first_person=number % 7 == 0,
        second_person=number % 11 == 0,
        title=f"Title {number}" if number % 13 == 0 else None,
        importance=number / 1_000,
        brief="Where?" if number % 3 == 0 else "",
        vector=np.full(3, number % 100, np.int8),
    )


@given(st.lists(st.lists(st.integers(0, 700), max_size=300), max_size=6))
def test_what_was_put_is_found(batches: list[list[int]]) -> None:
    cache = ContentCache()
    for batch in batches:
        cache.put([content(number) for number in batch])
    numbers = sorted({number for batch in batches for number in batch})
    assert len(cache) == len(numbers)
    slots = cache.slots([f"e{number}" for number in numbers])
    held, texts = cache.rows.held, cache.texts
    assert held["occurred_ms"][slots].tolist() == [1_000 * number for number in numbers]
    assert (held["local_ms"] - held["occurred_ms"])[slots].tolist() == [3_600_000] * len(numbers)
    assert held["length"][slots].tolist() == numbers
    for number, slot in zip(numbers, slots.tolist(), strict=True):
        one = content(number)
        assert texts["speaker"][slot] == (one.speaker or None)
        assert (texts["terms"][slot], texts["title"][slot]) == (one.terms, one.title)
        for name in ("is_question", "time_expression", "first_person", "second_person"):
            assert held[name][slot] == getattr(one, name)
        assert held["importance"][slot] == one.importance
        assert texts["spoken"][slot].text == ("" if one.title else one.brief)
        assert held["vector"][slot].tolist() == [number % 100] * 3


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=9), max_size=9), st.integers(1, 9)
)
def test_the_last_used_ones_are_kept(uses: list[list[int]], most: int) -> None:
    cache = ContentCache()
    cache.put([replace(content(number), session=f"s{number % 4}") for number in range(41)])
    for use in uses:
        cache.slots([f"e{number}" for number in use])
    last = dict.fromkeys(
        number for use in reversed(uses) for number in reversed(dict.fromkeys(use))
    )
    order = [*last, *(number for number in reversed(range(41)) if number not in last)]
    kept = cache.last_used(most)
    assert len(kept) == most
    assert kept.missing([f"e{number}" for number in order[: most + 1]]) == [f"e{order[most]}"]
    assert kept.sessions == {f"s{number % 4}" for number in order[:most]}
    kept.put([content(99)])
    numbers = [99, *order[:most]]
    slots = kept.slots([f"e{number}" for number in numbers])
    assert kept.rows.held["length"][slots].tolist() == numbers
    assert kept.rows.held["vector"][slots].tolist() == [[number % 100] * 3 for number in numbers]
    assert [kept.texts["terms"][slot] for slot in slots] == [f"t{number}" for number in numbers]


def test_own_stems_are_those_of_the_words_without_caption_and_further_terms() -> None:
    plain = replace(content(1), brief="Lisbon, maybe", terms="lisbon mayb @lissabon", length=2.0)
    shown = replace(content(1), brief="Lisbon [shares a tram]", terms="lisbon tram", length=2.0)
    assert (plain.own, shown.own) == (1, 1)
    assert shown.spoken == "Lisbon"


def test_nothing_is_there_before_it_is_put() -> None:
    cache = ContentCache()
    cache.put([])
    assert cache.missing(["e1"]) == ["e1"]
    assert cache.slots([]).shape == (0,)
