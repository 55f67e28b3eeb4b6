"""Turns that only ask or do not know, in every form that an agent stores."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.asking import (
    LONGEST_ASKING,
    Saying,
    asks_openly,
    names_and_numbers,
    own_stems,
    read_asking,
)
from ecphoria.text.tokens import stems

ENGLISH = ("what my wife is called", "where I live", "how old my sister is", "which car I drive")
GERMAN = (
    "wie meine Frau heißt",
    "wo ich wohne",
    "wann ich Geburtstag habe",
    "welches Auto ich fahre",
)
ASKED = [
    *(
        form.format(clause)
        for clause in ENGLISH
        for form in (
            "Do you know {}?", "do you know {}", "I wonder {}", "I wonder {}.", "Tell me {}",
            "Please tell me {}.", "Could you please remind me {}?",
            "Hi! Do you remember {}? Thanks.",
            "I'd like to know {}.", "Just curious, {}?", "Any idea {}?", "Let me know {}.",
            "Have I told you {}?", "Sorry to ask again, but can you tell me {}?",
            "I was wondering {}.", "Claude, do you know {}?",
        )
    ),
    *(
        form.format(clause)
        for clause in GERMAN
        for form in (
            "Weißt du, {}?", "weißt du {}", "Sag mir bitte, {}.", "Ich frage mich, {}",
            "Erinnerst du dich, {}?", "Hallo! Kannst du mir sagen, {}? Danke.",
            "Ich wüsste gern, {}.", "Habe ich dir schon erzählt, {}?",
        )
    ),
    "What is my wife's name?", "what is my wife's name", "My wife's name?",
    "My wife's name is what?", "Which car do I drive", "In which city do I live?",
    "Wie heißt meine Frau?", "wie heißt meine Frau", "Wo wohne ich?", "Welches Auto fahre ich?",
    "Nenne mir den Namen meiner Frau.", "我弟弟叫什么?", "Comment s'appelle ma femme ?",
    # Dots and colons inside a word, a number or a title end no sentence and no clause.
    "What Next.js feature renders the first page?", "How do we call asyncio.run and why?",
    "What did Dr. Okafor say?", "Which areas of the U.S. have I seen?",
    "During which round did we stop at 4:51?", "Around which holiday did I move?",
    "Can you remind me of our rules - tabs or spaces, and how we name tests?",
    "Summarize the discussion about fees.", "Walk me through the release.",
    "Fasse unser Gespräch zusammen.", "Erkläre noch einmal die Regeln.",
]  # fmt: skip
UNKNOWN = [
    *(
        form.format(clause)
        for clause in ENGLISH
        for form in (
            "You have not told me {}.", "You haven't told me {} yet.", "I don't know {}.",
            "Sorry, I do not know {}. Would you like to tell me?", "I don't recall {}.",
            "You never mentioned {}.", "I'm not sure {}.",
        )
    ),
    *(
        form.format(clause)
        for clause in GERMAN
        for form in (
            "Du hast mir noch nicht gesagt, {}.", "Ich weiß leider nicht, {}.",
            "Leider weiß ich nicht, {}.",
        )
    ),
    "I don't know", "You haven't told me yet", "I'm sorry, I don't have that information.",
    "I have no information about your wife.", "Not that I know of.",
    "There is nothing in my memory about your wife.", "I don't think you've told me that.",
    "I don't know that yet. If you tell me, I'll remember it.", "Das weiß ich nicht",
    "Das hast du mir noch nicht erzählt.", "Dazu habe ich keine Informationen.", "Keine Ahnung.",
    "Ich kann mich nicht erinnern.", "Das ist mir nicht bekannt.",
]  # fmt: skip
UNKNOWN += [
    "User: Which car do I drive?\nAssistant: I don't know.",
    "Q: Wo wohne ich?\nA: Das weiß ich nicht.",
]
ASKED += [
    "I forgot where I live, do you have it?", "hey, please look up the car that I drive",
    "Please check when my sister was born.", "Ich habe vergessen, wo ich wohne, weißt du es?",
]  # fmt: skip
STATED = [
    "My dog Pixel is ill, what should I do?", "What should I do, my dog Pixel is ill?",
    "My wife is called Anna.", "What I like most is chess.", "When I was young I lived in Rome.",
    "I don't know the name of your wife, but your dog is called Pixel.",
    "I don't know how to swim.", "I never told Anna about the party.", "I can't find my keys.",
    "I live in Bath. Where do you live?", "You live in Bath, right?", "Anna.",
    "Remember that my wife's name is Anna.", "Remind me to call Anna at 5.",
    "I'm allergic to nuts. Can you recommend a restaurant?",
    "Can you recommend a restaurant, I'm allergic to nuts?", "I don't like coffee.",
    "I don't share my data with anyone.", "I have nothing but praise for Bo.",
    "Mein Hund Pixel ist krank, was soll ich tun?", "Ich wohne in Wien. Wo wohnst du?",
    "I can't decide between chi and gin for the router of Paperboy.", "Thanks!",
    "List the files with ls.", "Name the new branch release-2.",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        *((text, Saying.ASKS) for text in ASKED),
        *((text, Saying.DOES_NOT_KNOW) for text in UNKNOWN),
        *((text, Saying.STATES) for text in STATED),
    ],
)
def test_what_a_turn_does(text: str, saying: Saying) -> None:
    assert read_asking(text).saying is saying


@given(
    st.sampled_from(["", "Hi! ", "Okay, ", "Thanks. ", "Hallo! "]),
    st.sampled_from(ASKED + UNKNOWN),
    st.sampled_from(["", " Thanks.", " Danke!", " Please.", "\n"]),
    st.sampled_from(STATED[2:5]),
)
def test_politeness_changes_nothing_and_a_statement_does(
    before: str, text: str, after: str, stated: str
) -> None:
    said = text if text[-1] in ".?!" else f"{text}."
    found = read_asking(before + said + after)
    assert found.saying is read_asking(text).saying
    assert read_asking(f"{stated} {said}").saying is Saying.STATES


@pytest.mark.parametrize("text", [*ASKED, *UNKNOWN, *STATED])
def test_the_number_of_own_stems_is_known_before_a_turn_is_read(text: str) -> None:
    found = read_asking(text)
    if found.content or found.saying is not Saying.STATES:
        assert own_stems(stems(text)) <= len(found.content)


def test_names_and_numbers_in_a_question_are_told() -> None:
    assert read_asking("What may Pixel eat on 3 May?").told == {"pixel", "3"}
    assert read_asking("What may my dog eat?").told == frozenset()


def test_a_number_within_a_word_is_told() -> None:
    assert "18" in names_and_numbers("When is the 18th birthday of Ada?")
    assert {"ada", "18"} >= names_and_numbers("When is the 18th birthday of Ada?")


def test_a_long_turn_states() -> None:
    assert read_asking("What is this? " * LONGEST_ASKING).saying is Saying.STATES


@pytest.mark.parametrize(
    "unit", ["a", "a ", "1", "?", ", ", "was ", "i ", "i don't ", "ed", "'s ", "名"]
)
def test_the_time_is_bounded(unit: str) -> None:
    for size in (LONGEST_ASKING, 100_000):
        text = (unit * size)[:size]
        start = process_time()
        read_asking(text)
        assert process_time() - start < 0.1


@pytest.mark.parametrize(
    "text",
    [
        "The user asked about the wedding date; no answer known.",
        "Wedding date: asked before, not known.",
        "As an AI I can't know your wedding date unless you tell me.",
        "I could not find your wedding date in our conversations.",
        "Unfortunately your wedding date hasn't come up so far.",
        'The user asked "when is my wedding date" and I said that I do not know it.',
    ],
)
def test_a_turn_that_only_reports_has_no_word_of_its_own(text: str) -> None:
    found = read_asking(text)
    assert found.saying is Saying.DOES_NOT_KNOW or found.content <= set(stems("wedding date"))
    assert not found.told


def test_a_word_that_only_begins_like_wonder_reports_nothing() -> None:
    assert read_asking("Wonderful! What made you decide?").content == frozenset()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("My wife asked me to call May.", "may"), ("I told my boss in 2019.", "2019"),
        ("I run often, you know.", "often"), ("You know that the date is in June.", "june"),
    ],
)  # fmt: skip
def test_a_report_that_tells_something_keeps_it(text: str, word: str) -> None:
    found = read_asking(text)
    assert word in found.content | found.told


@pytest.mark.parametrize(
    ("cue", "openly"),
    [
        ("What is my wife's name?", True), ("When did we meet?", True), ("Wo wohne ich?", True),
        ("Tell me where I live.", True), ("Do you know where I live?", True),
        ("Who knows about the party?", False), ("Does Ben know about the party?", False),
        ("Did Ann tell Ben about it?", False), ("What do I prefer, tea or coffee?", False),
        ("Did I tell Ben about the party?", False), ("Have I told you where I live?", True),
        ("party Ben", False), ("Weiß Ben von der Feier?", False),
    ],
)  # fmt: skip
def test_a_cue_that_asks_openly_wants_a_value(cue: str, openly: bool) -> None:
    assert asks_openly(cue) is openly
