import pytest

from ecphoria.text.cue import only_names, turn_features, without_caption


def test_a_caption_is_no_part_of_what_was_said() -> None:
    shown = turn_features("Do you like it? [shares my photo of a sunset last week]")
    assert shown == turn_features("Do you like it?")
    assert shown.is_question


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
    assert turn_features(text).has_time_expression is expected


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
    found = turn_features(text)
    assert (found.first_person, found.second_person) == (first, second)


@pytest.mark.parametrize(
    "text", ["I'm Ana.", "Hi, my name is Ana!", "This is Ana", "Ich heiße Ana."]
)
def test_a_turn_that_only_names_what_the_cue_names(text: str) -> None:
    assert only_names(text, "Where does Ana live?")
    assert not only_names(text, "Where does Ben live?")


@pytest.mark.parametrize("text", ["I'm Ana Roe.", "Ana is down.", "Is it?", "Ana lives here."])
def test_a_turn_that_tells_more(text: str) -> None:
    assert not only_names(text, "Where does Ana live?")
