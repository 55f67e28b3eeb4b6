import math

import pytest

from ecphoria.text.cue import TurnFeatures, length_prior, turn_features, without_caption
from ecphoria.text.tokens import stems


def features(text: str) -> TurnFeatures:
    return turn_features(text, len(stems(text)))


def test_length_rises_to_one_at_39_stems() -> None:
    assert length_prior(0) == 0.0
    assert length_prior(9) == pytest.approx(math.log(10) / math.log(40))
    assert length_prior(39) == 1.0
    assert length_prior(500) == 1.0


def test_a_caption_counts_for_the_length_only() -> None:
    spoken = features("Do you like it?")
    shown = features("Do you like it? [shares my photo of a sunset last week]")
    assert shown.is_question
    assert not shown.has_time_expression
    assert not shown.first_person
    assert shown.length > spoken.length


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Look! [shares a cat [grey]]", "Look!"),
        ("[shares a cat]", ""),
        ("It [sic] is", "It [sic] is"),
        ("see [1]", "see [1]"),
    ],
)
def test_captions_are_cut(text: str, spoken: str) -> None:
    assert without_caption(text) == spoken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two weeks ago", True),
        ("On the 3rd", True),
        ("It may rain", True),
        ("THIS MORNING", True),
        ("This mornings", False),
        ("Thursdays are long", False),
        ("Nothing at all", False),
    ],
)
def test_time_expressions(text: str, *, expected: bool) -> None:
    assert features(text).has_time_expression is expected


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("I'm fine", True, False),
        ("Is that yours?", False, True),
        ("Give us your coat", True, True),
        ("You\u2019ve met Mia", False, True),
        ("She moved to the US", False, False),
        ("Mining is hers", False, False),
    ],
)
def test_pronouns(text: str, *, first: bool, second: bool) -> None:
    found = features(text)
    assert (found.first_person, found.second_person) == (first, second)
