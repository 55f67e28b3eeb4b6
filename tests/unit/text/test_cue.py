import pytest

from ecphoria.text.cue import analyse

PEOPLE = ("Dana", "Lee Ann", "Lee", "Will")


def test_the_one_person_named_is_the_subject_and_leaves_terms_and_text() -> None:
    cue = analyse("What  did dana's sister paint?", PEOPLE)
    assert (cue.names, cue.subject) == (("Dana",), "Dana")
    assert cue.stems == ("sister", "paint")
    assert cue.stripped == "What did sister paint?"


def test_two_people_make_no_subject() -> None:
    cue = analyse("Do Lee and Dana sail?", PEOPLE)
    assert (cue.names, cue.subject) == (("Lee", "Dana"), None)


def test_the_longest_name_counts() -> None:
    assert analyse("Where is LEE ANN?", PEOPLE).names == ("Lee Ann",)


def test_names_count_as_whole_words() -> None:
    cue = analyse("Is the fleet in Danaland?", PEOPLE)
    assert (cue.names, cue.subject) == ((), None)
    assert cue.stems == ("fleet", "danaland")


def test_a_name_that_is_a_stop_word_counts_as_written() -> None:
    assert analyse("Where will it be?", PEOPLE).names == ()
    assert analyse("Where is Will?", PEOPLE).names == ("Will",)


def test_every_participants_words_leave_the_terms() -> None:
    assert analyse("ann sails", PEOPLE).stems == ("sail",)


def test_a_cue_of_names_alone_is_encoded_whole() -> None:
    assert analyse(" Dana? ", PEOPLE).stripped == "Dana?"


@pytest.mark.parametrize(
    ("text", "is_when"),
    [
        ("When did it start?", True),
        ("  how long has it run", True),
        ("Which month was it?", True),
        ("Tell me when", False),
        ("What colour is it?", False),
    ],
)
def test_questions_for_a_time(text: str, *, is_when: bool) -> None:
    assert analyse(text, ()).is_when is is_when


@pytest.mark.parametrize("name", ["", " ", "(", "a+", "\\", "C++"])
def test_any_participant_name_is_safe(name: str) -> None:
    cue = analyse("Who wrote C++ here?", (name,))
    assert cue.names == ((name,) if name == "C++" else ())
