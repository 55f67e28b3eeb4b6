import pytest

from ecphoria.text.lists import asks_for_list


@pytest.mark.parametrize(
    "cue",
    [
        "What books has Ana read?",
        "Which cities did they visit",
        "In which cities has Ben lived?",
        "What kinds of pottery did Ana make?",
        "What are Ana's hobbies?",
        "What musical instruments does Ben play?",
        "Which of my friends have children?",
        "What do Ana and Ben both like?",
        "What people did she meet?",
        "Welche Bücher hat Ana gelesen?",
        "Welche neuen Filme kennt sie?",
        "In welchen Städten hat Ben gewohnt?",
        "Welche Hobbys hat Ana?",
        "Was mögen beide?",
    ],
)
def test_a_question_for_several_things(cue: str) -> None:
    assert asks_for_list(cue)


@pytest.mark.parametrize(
    "cue",
    [
        "",
        "?",
        "What",
        "What is Ana's job?",
        "What was the name of the bus?",
        "Which book has Ana read?",
        "What class does Ben take?",
        "What news is there?",
        "When did Ana buy the books?",
        "What does Ben think about cats?",
        "Tell me what they said about dogs.",
        "I like both.",
        "Welche Farbe hat das Haus?",
        "Welche Schwester lebt in Oslo?",
        "Welchen Film hat Ana gesehen?",
        "Welche neue Wohnung hat Ben?",
        "Was macht Ana?",
        "Where are my keys?",
    ],
)
def test_a_question_for_one_thing_or_none(cue: str) -> None:
    assert not asks_for_list(cue)
