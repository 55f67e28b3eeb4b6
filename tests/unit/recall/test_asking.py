"""Who asks decides whose "I" and "you" a cue speaks of."""

from dataclasses import fields

import numpy as np
import pytest

from ecphoria.errors import InvalidInput
from ecphoria.recall.ports import Columns
from ecphoria.recall.seeds import Subject, find_subject, subjects_of
from ecphoria.text.cue import analyse

USER, ASSISTANT = Subject(role="user"), Subject(role="assistant")
FRIENDS = ("Ana", "Ben")


def asked(cue: str, *speakers: str, asker: str | None = None) -> tuple[Subject, ...]:
    return subjects_of(analyse(cue, speakers), speakers, asker)


def spoken(*turns: tuple[str | None, str | None]) -> Columns:
    """Columns that hold nothing but speakers and roles."""
    filled = {
        "speaker": tuple(speaker for speaker, _ in turns),
        "role": tuple(role for _, role in turns),
    }
    size = len(turns)
    return Columns(
        **{field.name: filled.get(field.name, np.zeros(size)) for field in fields(Columns)}  # type: ignore[arg-type]  # only two columns are read
    )


def test_i_is_the_user_unless_said_otherwise() -> None:
    assert asked("When does my sprint end?") == (USER,)
    assert asked("When does my sprint end?", *FRIENDS, asker="ana") == (Subject(speaker="Ana"),)
    assert asked("What is the capital of Peru?") == ()


def test_you_is_the_other_one_where_the_cue_asks_what_they_did() -> None:
    assert asked("Which book did you recommend?") == (ASSISTANT,)
    assert asked("What was your advice?", *FRIENDS, asker="Ben") == (Subject(speaker="Ana"),)
    assert asked("Can you tell me the date?") == (USER,)
    assert asked("Did you see my photo?") == (USER, ASSISTANT)
    assert asked("Did you see it?", "Ana", "Ben", "Cem", asker="Ana") == ()


@pytest.mark.parametrize(
    "cue",
    [
        "What did you recommend for our anniversary?",
        "What was your advice about my knee?",
        "Which steps did you suggest I take?",
        "Did you say where my keys are?",
        "Was hast du uns für Rom empfohlen?",
    ],
)
def test_what_the_listener_said_is_not_of_the_asker(cue: str) -> None:
    assert asked(cue) == (ASSISTANT,)
    assert asked(cue, *FRIENDS, asker="Ana") == (Subject(speaker="Ben"),)


@pytest.mark.parametrize(
    "cue",
    [
        "What did I say before you suggested my diet?",
        "Have we done what you recommended for our roof?",
        "What do you suggest for my garden?",
    ],
)
def test_a_cue_may_ask_of_both(cue: str) -> None:
    assert asked(cue) == (USER, ASSISTANT)


@pytest.mark.parametrize(
    "cue",
    [
        "Can you summarize how my garden developed?",
        "Please give me a short overview of what I planted.",
        "I'd like a summary of my plans.",
        "A quick recap of everything we decided, please",
    ],
)
def test_a_summary_wants_the_words_of_all(cue: str) -> None:
    assert analyse(cue, ()).asks_summary
    assert asked(cue) == ()


def test_a_question_about_a_summary_is_none() -> None:
    cue = "When do I send the summary of the project?"
    assert not analyse(cue, ()).asks_summary
    assert asked(cue) == (USER,)


def test_a_named_speaker_is_a_subject_too() -> None:
    assert asked("Where does Ana live?", *FRIENDS) == (Subject(speaker="Ana"),)
    assert asked("Did I tell Ana?", *FRIENDS) == (Subject(speaker="Ana"), USER)


def test_role_words_name_nobody() -> None:
    found = analyse("How many user roles do I have?", ("user", "assistant"))
    assert (found.names, found.stems.count("user")) == ((), 1)


def test_an_asker_who_never_spoke_is_refused_and_the_speakers_are_named() -> None:
    with pytest.raises(InvalidInput, match="`Ana`, `Ben`, or a role") as refused:
        asked("Where do I live?", *FRIENDS, asker="Zoe")
    assert refused.value.fields["field"] == "asker"
    with pytest.raises(InvalidInput, match="nobody"):
        asked("Where do I live?", asker="Zoe")


def test_a_role_counts_before_a_name() -> None:
    columns = spoken(("user", None), ("user", "assistant"), ("Ana", "user"), (None, None))
    assert USER.speaks(columns).tolist() == [True, False, True, False]
    assert ASSISTANT.speaks(columns).tolist() == [False, True, False, False]


def test_who_speaks_in_none_of_the_rows_is_no_subject() -> None:
    friends = spoken(("Ana", None), ("Ben", None))
    ana = Subject(speaker="Ana")
    assert find_subject((ana, USER), friends) == ana
    assert find_subject((ana, Subject(speaker="Ben")), friends) is None
    assert find_subject((USER,), friends) is None
