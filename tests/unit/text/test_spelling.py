"""A word that is in no memory and in no dictionary is read as a stored word one slip away."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ecphoria.text.spelling import misspelt, respelt
from ecphoria.text.tokens import stems


def found(cue: str, stored: str = "") -> list[str]:
    return [one.written for one in misspelt(cue, set(stems(stored)))]


def read(cue: str, **items: int) -> str:
    """Read a cue in a store that has these words in so many memories."""
    counts = {stem: count for word, count in items.items() for stem in stems(word)}
    known = {one.written: one.read(counts) for one in misspelt(cue, counts.keys())}
    return respelt(cue, {word: other for word, other in known.items() if other})


@pytest.mark.parametrize(
    "cue",
    [
        "Where did my brother hike with the opossum?",  # a dictionary has all of them
        "Which Qdrantt index?",  # a memory has it
        'Who said "helo wrold"?',
        "Why does read_alll fail in conf/apx.yml at getUserByIdd?",
        "What is an LGBQ?",
        "Is abcd2 or x-rayy in use? It hadn't been.",
        "Where is xyz?",
        "我弟弟叫什么名字? helllo",
    ],
)
def test_words_that_are_read_as_written(cue: str) -> None:
    assert found(cue, "qdrantt") == []


def test_a_misspelt_word_is_found_once_and_at_most_four_are() -> None:
    assert found("Potery, Potery or potery?") == ["Potery", "potery"]
    assert len(found("wreod awfter sumthng paintng potery brothr sistrr")) == 4


@pytest.mark.parametrize(
    ("cue", "items", "expected"),
    [
        ("Which potery class?", {"pottery": 1}, "Which pottery class?"),
        ("Where is Carolline?", {"caroline": 2}, "Where is Caroline?"),
        ("Which gulwing release?", {"gullwing": 1}, "Which gullwing release?"),
        ("What is the wather?", {"weather": 2, "water": 9}, "What is the water?"),
        ("What is the wather?", {"weather": 2}, "What is the weather?"),
        ("her educaton", {"education": 1}, "her education"),
        ("tell me wiht whom", {"wish": 0}, "tell me with whom"),
        ("Which potery class?", {"poetic": 3}, "Which potery class?"),
    ],
)
def test_the_word_is_read_as_one_of_the_store(
    cue: str, items: dict[str, int], expected: str
) -> None:
    assert read(cue, **items) == expected


def test_a_german_cue_has_the_dictionaries_of_german_and_english() -> None:
    assert found("Was hat Anna am Geburtstag ihrer Schwester gemacht?", "anna") == []
    assert read("Was war am Geburtstg meiner Schwester?", Geburtstag=1).split()[3] == "Geburtstag"


@given(some.data())
def test_every_slip_of_a_stored_word_leads_back_to_it(data: Any) -> None:
    word = "kubernetes"
    at = data.draw(some.integers(1, len(word) - 2))
    letter = data.draw(some.sampled_from("bcdfghjklmpqvwxz"))
    slips = [
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ]
    slip = data.draw(some.sampled_from(slips))
    assert stems(read(slip, kubernetes=1)) == stems(word)


def test_whole_words_are_written_anew_and_no_parts_of_words() -> None:
    assert respelt("A potery, the poteryman", {"potery": "pottery"}) == "A pottery, the poteryman"
