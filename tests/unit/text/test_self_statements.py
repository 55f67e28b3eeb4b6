"""Sentences in which people tell about themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.self_statements import (
    PHRASES_OF_CHANGE,
    RULES,
    SelfStatement,
    Topic,
    phrases_of,
    say_the_same,
    self_statements,
)

SAID = [
    ("Hi there. My name is Noor, hello.", Topic.NAME, "My name is Noor, hello."),
    ("ich heiße Jonas und suche Hilfe", Topic.NAME, "ich heiße Jonas und suche Hilfe"),
    ("Hi! I'm Noor Adel, I maintain a wiki.", Topic.NAME, "I'm Noor Adel, I maintain a wiki."),
    ("Hello there, I am Noor.", Topic.NAME, "Hello there, I am Noor."),
    ("Hey, ich bin Noor.", Topic.NAME, "Hey, ich bin Noor."),
    ("Hi, I'm working on a tide table.", Topic.PROJECT, "Hi, I'm working on a tide table."),
    ("I rent a flat in Ghent, third floor.", Topic.HOME, "I rent a flat in Ghent, third floor."),
    ("I'm a vegetarian since May.", Topic.PREFERENCE, "I'm a vegetarian since May."),
    ("I'm a father of two girls.", Topic.PEOPLE, "I'm a father of two girls."),
    ("We moved to Ghent last spring!", Topic.HOME, "We moved to Ghent last spring!"),
    ("I'm a nurse at the county hospital.", Topic.WORK, "I'm a nurse at the county hospital."),
    ("Ich arbeite bei einer Werft.", Topic.WORK, "Ich arbeite bei einer Werft."),
    ("My team lead is called Ruth.", Topic.PEOPLE, "My team lead is called Ruth."),
    ("Meine Schwester heißt Lena.", Topic.PEOPLE, "Meine Schwester heißt Lena."),
    (
        "Meine Schwester heißt Lena und ist am 12. Mai geboren.", Topic.PEOPLE,
        "Meine Schwester heißt Lena und ist am 12. Mai geboren.",
    ),
    ("I'm working on a tide table.", Topic.PROJECT, "I'm working on a tide table."),
    ("Please never use emojis here.", Topic.PREFERENCE, "Please never use emojis here."),
    ("Okay.\nWe decided to drop the queue.", Topic.DECISION, "We decided to drop the queue."),
]  # fmt: skip

UNSAID = [
    "Do you remember what my name is?",
    "What is my sister called?",
    "If I moved to Rome, what would it cost?",
    "I am a bit tired today.",
    "I'm a morning person, mostly.",
    "I'm German. And you are not.",
    "```\nmy name is not data\n```",
    "The name of the boat is Petrel.",
    "My wife",
    "",
]


@pytest.mark.parametrize(("text", "topic", "sentence"), SAID)
def test_a_statement_is_found_with_its_place(text: str, topic: Topic, sentence: str) -> None:
    (found,) = self_statements(text)
    assert (found.topic, found.sentence) == (topic, sentence)
    assert " ".join(text[found.start : found.end].split()) == sentence


@pytest.mark.parametrize("text", UNSAID)
def test_questions_conditions_and_code_state_nothing(text: str) -> None:
    assert list(self_statements(text)) == []


def only(text: str) -> SelfStatement:
    (found,) = self_statements(text)
    return found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I live in Ghent.", "We moved to Bruges in May.", True),
        ("My dog is called Pip.", "My dog was ill.", True),
        ("My dog is called Pip.", "My cat is called Pip.", False),
        ("I prefer tabs over spaces in Go.", "From now on use spaces in Go.", True),
        ("I prefer tea.", "I prefer short answers.", False),
        ("I prefer tea.", "We decided to buy tea.", False),
    ],
)
def test_statements_of_one_thing(one: str, other: str, same: bool) -> None:
    assert say_the_same(only(one), only(other)) is same


def test_each_phrase_is_a_rule_of_one_topic() -> None:
    assert len({rule.words for rule in RULES}) == len(RULES)
    assert all(phrases_of(topic) for topic in Topic)
    assert all(phrase == phrase.strip().lower() for topic in Topic for phrase in phrases_of(topic))


@given(
    st.lists(
        st.sampled_from(
            ["my name is ", "Noor", ". ", "? ", "\n", "```", "I prefer ", "tea", " ", "我", "。"]
        ),
        max_size=60,
    ).map("".join)
)
def test_spans_lie_in_the_text_and_apart(text: str) -> None:
    found = list(self_statements(text))
    edges = [edge for one in found for edge in (one.start, one.end)]
    assert edges == sorted(edges)
    assert all(text[one.start : one.end].strip() for one in found)


def test_phrases_have_no_blanks_at_their_ends() -> None:
    every = [*PHRASES_OF_CHANGE, *(phrase for topic in Topic for phrase in phrases_of(topic))]
    assert [phrase for phrase in every if phrase != phrase.strip() or not phrase] == []
