import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ecphoria.consolidation.engram_store import Member, SessionRecord
from ecphoria.consolidation.engrams import Sentence, Summariser, extracted, usable
from ecphoria.consolidation.session_record import told_by_rules
from ecphoria.models.chat import StructuredChat
from ecphoria.ports import NoAnswer, Reply, TextRefused
from ecphoria.records.episode import SessionPoint
from ecphoria.records.ids import EpisodeId
from tests.chat_endpoint import summary


def member(number: int, text: str, speaker: str = "Ann", role: str = "") -> Member:
    vector = np.zeros(8, np.float32)
    vector[number % 8] = 1.0
    return Member(
        id=f"e{number:03}",
        body_hash="h",
        speaker=speaker,
        role=role,
        text=text,
        length=9,
        vector=vector,
    )


TURNS = [
    member(1, "I moved to Oslo in May with my two cats."),
    member(2, "The flat by the harbour is small but bright.", "Ben"),
    member(3, "We are painting the kitchen blue, it takes 3 days."),
]


def parsed(answer: str) -> list[Sentence]:
    """Read lines that end with the numbers of their turns in brackets."""
    found = []
    for line in answer.splitlines():
        numbers = re.search(r"(?:\s*\[\d+\][\s,.]*)*$", line)
        assert numbers
        if line.strip():
            turns = [int(number) for number in re.findall(r"\d+", numbers[0])]
            found.append(Sentence(text=line[: numbers.start()], turns=turns))
    return found


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ann moved to Oslo in May. [1]", "Ann moved to Oslo in May."),
        ("Ann  moved to Oslo. [1]\nThe flat is small. [2]",
         "Ann moved to Oslo.\nThe flat is small."),
        ("Painting the kitchen took 3 days [3].", "Painting the kitchen took 3 days"),
        ("Ann moved into a small flat in Oslo. [1][2]", "Ann moved into a small flat in Oslo."),
        ("They paint a kitchen, [1], [3]", "They paint a kitchen,"),
    ],
)  # fmt: skip
def test_sentences_that_name_their_turns_are_used_without_the_numbers(
    answer: str, expected: str
) -> None:
    assert usable(parsed(answer), TURNS) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n ",
        "Ann moved to Oslo in May.",  # says not where it has that from
        "Ann moved to Oslo in May. [4]",
        "Ann moved to Oslo in May. [0]",
        "[1]",
        "Ann moved to Bergen in May. [1]",  # a name that is not there
        "Ann moved to Oslo with Ben. [1]",  # there, but not in what it names
        "Painting the kitchen takes 5 days. [3]",
        "Everybody remained deeply unsatisfied throughout. [1]",
        "Here is the summary:\nAnn moved to Oslo. [1]",
        "\n".join(["The flat is small. [2]"] * 6),
        "Ann moved to Oslo " + "in May " * 60 + "[1]",
        "the of and [1]",
    ],
)
def test_what_the_turns_do_not_bear_out_is_not_used(answer: str) -> None:
    assert usable(parsed(answer), TURNS) == ""


class Scripted:
    """Answers what it is told to, in turn; a text, or an error to raise."""

    model = "m"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, purpose: str, instruction: str, text: str, **_: object) -> Reply:
        assert (purpose, bool(instruction)) == ("session", True)
        self.asked.append(text)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        told = summary(*((one.text, one.turns) for one in parsed(answer)))
        return Reply(text=told, tokens=10, written=4)

    async def close(self) -> None:
        pass


class Written:
    """Answers one text."""

    model = "m"

    def __init__(self, answer: str) -> None:
        self.answer = answer

    async def ask(self, *_: object, **__: object) -> Reply:
        return Reply(text=self.answer, tokens=10, written=4)

    async def close(self) -> None:
        pass


GOOD, BAD = "Ann moved to Oslo. [1]", "Nonsense."


GERMAN = [
    member(1, "Ich bin im Mai mit meinen zwei Katzen nach Oslo gezogen.", "Anna"),
    member(2, "Die Wohnung am Hafen ist klein, aber das Haus hat einen Garten.", "Ben"),
    member(3, "Wir streichen gerade die Küche blau, das dauert 3 Tage.", "Anna"),
    member(4, "Uns besuchen bald meine Schwester und ihr Kind, sie reisen gern.", "Ben"),
]


@pytest.mark.parametrize(
    "said",
    [
        "Anna zog im Mai mit ihren Katzen nach Oslo. [1]",
        "Mit nach Oslo kam auch eine Katze. [1]",
        "Anna zog nach Oslo. Sie hat zwei Katzen. [1]",
        "Der Garten des Hauses liegt am Hafen. [2]",
        "Am Hafen haben die Häuser Gärten. [2]",
        "Das Streichen der Küchen dauert 3 Tage. [3]",
        "Bald kommt zu Besuch die Schwester mit Kindern. [4]",
        "Gern macht die Schwester eine Reise. [4]",
    ],
)
def test_german_nouns_may_stand_in_another_case_or_number(said: str) -> None:
    assert usable(parsed(said), GERMAN) == said[: said.rindex(".") + 1]


@pytest.mark.parametrize(
    "said",
    [
        "Anna zog im Mai mit ihren Katzen nach Bergen. [1]",
        "Anna zog im Juni mit ihren Katzen nach Oslo. [1]",
        "Anna zog mit Ben nach Oslo. [1]",
        "Anna zog mit den Katzen in die Schweiz. [1]",
        "Die Wohnung am Bodensee ist klein. [2]",
        "Wir streichen die Küche der Maier blau. [3]",
        "Das Streichen der Küche dauert 5 Tage. [3]",
        "Das Streichen der Küche dauert bis 2024. [3]",
        # A noun of its own is refused like a name: nothing simple tells the two apart.
        "Anna feierte den Umzug nach Oslo. [1]",
    ],
)
def test_an_invented_name_is_not_used_in_german_either(said: str) -> None:
    assert usable(parsed(said), GERMAN) == ""


@pytest.mark.parametrize(
    ("said", "is_used"),
    [
        ("Ann moved to Oslo in May. She has two cats. [1]", True),
        ("In Oslo Ann has a Cat. [1]", True),
        ("We paint Kitchens blue. [3]", True),
        ("Ann moved to Oslo in June. [1]", False),
        ("The flat by the harbour is small in May. [2]", False),  # a month is no function word
        ("The flat by the harbour is small, Will. [2]", False),  # a stop word may be a name
        ("We are painting the Painter kitchen. [3]", False),
        ("The small flat is Brighten. [2]", False),  # no German ending in English
        ("Painting the kitchen takes 3rd days. [3]", False),
    ],
)
def test_english_goes_by_its_own_stems(said: str, is_used: bool) -> None:
    assert bool(usable(parsed(said), TURNS)) is is_used


async def test_what_can_be_used_rests_on_all_that_was_read() -> None:
    chat = Scripted(GOOD)
    writer = Summariser(StructuredChat(chat), "session", dry_run=False)
    summary = await writer.summary(TURNS)
    assert (summary.text, summary.method, summary.final) == ("Ann moved to Oslo.", "llm:m", True)
    assert summary.evidence == ("e001", "e002", "e003")
    assert chat.asked[0].splitlines()[2] == "[2] Ben: The flat by the harbour is small but bright."
    assert (writer.counts, writer.degraded) == (
        {"asked": 1, "tokens": 10, "tokens_written": 4},
        (),
    )
    assert "m" in writer.by


def test_without_a_model_only_a_last_question_of_a_person_is_open() -> None:
    asked = replace(member(4, "Shall we  rent a van?", role="user"), question=True)
    nothing = told_by_rules(TURNS)
    assert nothing == SessionRecord()
    point = SessionPoint(text="Shall we rent a van?", episode=EpisodeId("e004"))
    assert told_by_rules([*TURNS, asked]) == SessionRecord(open_questions=(point,))
    assert told_by_rules([*TURNS, asked, TURNS[0]]) == nothing, "somebody went on"
    assert told_by_rules([*TURNS, replace(asked, role="assistant")]) == nothing


async def test_a_model_quotes_decisions_and_open_questions() -> None:
    record = {
        "topic": "Moved to Oslo",
        "decisions": [
            {"turn": 3, "quote": "painting the kitchen BLUE"},
            {"turn": 2, "quote": "painting the kitchen blue"},  # another turn's words
            {"turn": 9, "quote": "painting"},
            {"turn": "third", "quote": "painting"},
        ],
        "open_questions": {"turn": 1, "quote": "with my two cats"},
        "valence": -7,
        "novelty": "high",
    }
    answer = {"sentences": [{"text": "Ann moved to Oslo.", "turns": [1]}], **record}
    writer = Summariser(StructuredChat(Written(json.dumps(answer))), "session", dry_run=False)
    said = (await writer.summary(TURNS)).record
    decided = SessionPoint(text="painting the kitchen blue", episode=EpisodeId("e003"))
    asked = SessionPoint(text="with my two cats", episode=EpisodeId("e001"))
    assert said == SessionRecord(
        topic="Moved to Oslo", decisions=(decided,), open_questions=(asked,), valence=-1.0
    )
    assert writer.counts == {"asked": 1, "tokens": 10, "tokens_written": 4, "left_out": 3}


@pytest.mark.parametrize("topic", ["Moved to Bergen", "Oslo " * 30, "", None, ["Oslo"]])
async def test_a_topic_of_other_words_is_left_out(topic: object) -> None:
    answer = {"sentences": [{"text": "Ann moved to Oslo.", "turns": [1]}], "topic": topic}
    writer = Summariser(StructuredChat(Written(json.dumps(answer))), "session", dry_run=False)
    summary = await writer.summary(TURNS)
    assert (summary.text, summary.record) == ("Ann moved to Oslo.", SessionRecord())


async def test_one_more_try_and_then_the_turns_own_words() -> None:
    writer = Summariser(
        StructuredChat(Scripted(BAD, GOOD, BAD, BAD, GOOD)), "session", dry_run=False
    )
    assert (await writer.summary(TURNS)).method == "llm:m"
    second = await writer.summary(TURNS)
    assert (second.method, second.final) == ("extractive", True)
    assert (await writer.summary(TURNS)).method == "llm:m"
    assert writer.counts == {"asked": 5, "tokens": 50, "tokens_written": 20}
    assert writer.degraded == ("summaries are extractive, as the model's could not be used: 1",)
    assert not writer.is_owing


async def test_a_text_that_is_refused_is_not_sent_again() -> None:
    chat = Scripted(*[TextRefused("x")] * 3, GOOD)
    writer = Summariser(StructuredChat(chat), "session", dry_run=False)
    first = await writer.summary(TURNS)
    assert (first.method, first.final) == ("extractive", True)
    assert (await writer.summary(TURNS)).method == "llm:m"
    assert writer.counts["asked"] == len(chat.asked) == 4


async def test_a_silent_model_is_left_alone_and_asked_another_time() -> None:
    chat = Scripted(NoAnswer("down"), GOOD)
    writer = Summariser(StructuredChat(chat), "session", dry_run=False)
    both = [await writer.summary(TURNS) for _ in range(2)]
    assert [(one.method, one.final) for one in both] == [("extractive", False)] * 2
    assert writer.counts["asked"] == len(chat.asked) == 1
    assert (writer.degraded, writer.is_owing) == (("summaries are extractive: down",), True)


async def test_a_dry_run_asks_nobody_and_names_the_same_writer() -> None:
    chat = Scripted()
    dry = Summariser(StructuredChat(chat), "session", dry_run=True)
    assert (await dry.summary(TURNS)).final
    assert (chat.asked, dry.by) == (
        [],
        Summariser(StructuredChat(chat), "session", dry_run=False).by,
    )
    without = Summariser(None, "session", dry_run=False)
    assert ((await without.summary(TURNS)).method, without.by, without.counts) == (
        "extractive", "", {}
    )  # fmt: skip


async def test_of_many_turns_sixty_are_read_in_their_order() -> None:
    many = [member(number, f"Turn {number} of the talk.") for number in range(1, 100)]
    chat = Scripted("Turns of the talk. [1]")
    summary = await Summariser(StructuredChat(chat), "session", dry_run=False).summary(many)
    lines = chat.asked[0].splitlines()[1:-1]
    assert len(lines) == len(summary.evidence) == 60
    read = [int(line.split("Turn ")[1].split()[0]) for line in lines]
    assert read == sorted(read)
    assert summary.evidence == tuple(f"e{number:03}" for number in read)


def test_a_user_is_quoted_rather_than_an_assistant() -> None:
    replies = [member(number, "Sure, I noted it.", "Helper", "assistant") for number in range(4)]
    wish = member(4, "The deploy key of the harbour service expires in June.", role="user")
    alike = np.ones(8, np.float32) / np.sqrt(np.float32(8.0))
    summary = extracted([replace(one, vector=alike) for one in (*replies, wish)])
    assert f"Ann: {wish.text}" in summary.text.splitlines()
