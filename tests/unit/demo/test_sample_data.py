import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TypedDict, cast

import pytest

import ecphoria

DATA = Path(ecphoria.__file__).parent / "demo" / "data"
SPEAKERS = {"Mara", "Tobias", "Ines"}
CATEGORIES = {"single-hop", "multi-hop", "temporal", "open", "unanswerable"}
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also an and any are as at be became become been before but by can could
        d did do does down end for from had has have he her him his how i if in into is it its
        just ll m me might my no not now of off on or other our out over own re s she should so
        some such t than that the their them then there these they this those to too up us ve was
        we were what when where which while who whose why will with would you your
        """,
    )
)


class Turn(TypedDict):
    id: str
    session: str
    position: int
    occurred_at: str
    speaker: str
    text: str


class _Asked(TypedDict):
    id: str
    question: str
    gold: list[str]


class Question(_Asked, total=False):
    category: str
    shares_no_stem: bool


class DemoQuestion(_Asked):
    kind: str
    why: str


class Passage(TypedDict):
    id: str
    title: str
    text: str


class Chunk(TypedDict):
    id: str
    title: str
    chunk: str


class PassageQuestion(TypedDict):
    id: str
    question: str
    answer: str
    chunks: list[Chunk]
    supporting_facts: list[Chunk]


def lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def turns() -> list[Turn]:
    return [cast("Turn", json.loads(line)) for line in lines("conversation.jsonl")]


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return [cast("Question", json.loads(line)) for line in lines("questions.jsonl")]


@pytest.fixture(scope="module")
def passages() -> list[Passage]:
    return [cast("Passage", json.loads(line)) for line in lines("passages.jsonl")]


@pytest.fixture(scope="module")
def passage_questions() -> list[PassageQuestion]:
    return [cast("PassageQuestion", json.loads(line)) for line in lines("passage_questions.jsonl")]


def content_words(text: str) -> set[str]:
    spoken = set(re.findall(r"[^\W_]+", text.lower()))
    return spoken - FUNCTION_WORDS - {name.lower() for name in SPEAKERS}


def akin(one: str, other: str) -> bool:
    """Whether two words may share a stem; says yes too often rather than too seldom."""
    short, long = sorted((one, other), key=len)
    if len(short) < 4:
        return short == long or long in {short + "s", short + "ed", short + "ing"}
    shared = len(short) if long.startswith(short) else prefix_length(short, long)
    return shared >= 4 and shared >= len(short) - 2


def prefix_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def by_session(turns: Iterable[Turn]) -> dict[str, list[Turn]]:
    sessions: defaultdict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        sessions[turn["session"]].append(turn)
    return dict(sessions)


def test_the_conversation_is_long_enough_to_be_worth_searching(turns: list[Turn]) -> None:
    sessions = by_session(turns)
    assert len(turns) >= 330
    assert 24 <= len(sessions) <= 30
    assert min(len(session) for session in sessions.values()) >= 10
    days = [date.fromisoformat(session) for session in sessions]
    assert days[-1] - days[0] >= timedelta(days=250)
    assert {day.year for day in days} == {2025}


def test_two_friends_speak_mostly_and_the_third_joins_some_sessions(turns: list[Turn]) -> None:
    counts = Counter(turn["speaker"] for turn in turns)
    assert set(counts) == SPEAKERS
    assert counts["Ines"] >= 50
    assert min(counts["Mara"], counts["Tobias"]) > counts["Ines"]
    with_ines = [
        session
        for session in by_session(turns).values()
        if any(turn["speaker"] == "Ines" for turn in session)
    ]
    assert 8 <= len(with_ines) <= len(by_session(turns)) - 8


def test_turns_come_in_the_order_of_their_times(turns: list[Turn]) -> None:
    instants = [datetime.fromisoformat(turn["occurred_at"]) for turn in turns]
    assert instants == sorted(set(instants))


def test_times_carry_the_offset_of_central_europe(turns: list[Turn]) -> None:
    for turn in turns:
        moment = datetime.fromisoformat(turn["occurred_at"])
        summer = date(2025, 3, 30) <= moment.date() < date(2025, 10, 26)
        assert moment.utcoffset() == timedelta(hours=2 if summer else 1), turn["id"]


def test_ids_tell_session_and_position(turns: list[Turn]) -> None:
    for number, (day, session) in enumerate(by_session(turns).items(), start=1):
        assert [turn["position"] for turn in session] == list(range(1, len(session) + 1))
        for turn in session:
            assert turn["id"] == f"s{number:02d}-t{turn['position']:02d}"
            assert turn["occurred_at"].startswith(day)
    assert len({turn["id"] for turn in turns}) == len(turns)


def test_no_two_turns_are_alike(turns: list[Turn]) -> None:
    assert len({turn["text"].casefold() for turn in turns}) == len(turns)


def test_some_turns_share_captioned_photos(turns: list[Turn]) -> None:
    captioned = [turn for turn in turns if "[shares a photo of " in turn["text"]]
    assert len(captioned) >= 10
    assert all(turn["text"].endswith("]") for turn in captioned)


@pytest.mark.parametrize("name", ["conversation.jsonl", "questions.jsonl", "passages.jsonl"])
def test_lines_are_short_plain_text(name: str) -> None:
    for line in lines(name):
        assert len(line) <= 600
        assert unicodedata.is_normalized("NFC", line)
        assert line.isprintable()


def test_questions_cover_every_category(questions: list[Question]) -> None:
    counts = Counter(question["category"] for question in questions)
    assert len(questions) >= 60
    assert set(counts) == CATEGORIES
    assert counts["unanswerable"] >= 12
    assert counts["multi-hop"] >= 12
    assert counts["temporal"] >= 10
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({question["question"] for question in questions}) == len(questions)


def test_gold_names_turns_that_exist_and_only_the_unanswerable_have_none(
    turns: list[Turn], questions: list[Question]
) -> None:
    known = {turn["id"] for turn in turns}
    for question in questions:
        gold = question["gold"]
        assert set(gold) <= known, question["id"]
        assert gold == sorted(set(gold)), question["id"]
        assert bool(gold) != (question["category"] == "unanswerable"), question["id"]
        assert question["category"] != "multi-hop" or len(gold) >= 2, question["id"]


def test_indirect_questions_share_no_stem_with_their_evidence(
    turns: list[Turn], questions: list[Question]
) -> None:
    text = {turn["id"]: turn["text"] for turn in turns}
    indirect = [question for question in questions if question.get("shares_no_stem")]
    assert len(indirect) >= 8
    for question in indirect:
        asked = content_words(question["question"])
        said = content_words(" ".join(text[turn] for turn in question["gold"]))
        shared = {(a, b) for a in asked for b in said if akin(a, b)}
        assert not shared, (question["id"], shared)


def test_unanswerable_questions_speak_of_things_that_were_said(
    turns: list[Turn], questions: list[Question]
) -> None:
    said = content_words(" ".join(turn["text"] for turn in turns))
    for question in questions:
        if question["category"] == "unanswerable":
            asked = content_words(question["question"])
            assert any(akin(a, b) for a in asked for b in said), question["id"]


def test_the_demo_asks_five_questions_of_five_kinds(questions: list[Question]) -> None:
    text = (DATA / "demo_questions.json").read_text(encoding="utf-8")
    shown = cast("list[DemoQuestion]", json.loads(text))
    known = {question["id"]: question for question in questions}
    assert {question["kind"] for question in shown} == {
        "indirect",
        "time",
        "attribution",
        "multi-hop",
        "unanswerable",
    }
    assert len(shown) == 5
    for question in shown:
        listed = known[question["id"]]
        assert (question["question"], question["gold"]) == (listed["question"], listed["gold"])
        assert question["why"].endswith(".")
    assert {known[question["id"]].get("shares_no_stem", False) for question in shown} == {
        True,
        False,
    }


def test_passages_name_each_other(passages: list[Passage]) -> None:
    titles = {passage["title"] for passage in passages}
    assert len(passages) == len(titles) == len({passage["id"] for passage in passages}) == 40
    for passage in passages:
        others = titles - {passage["title"]}
        named = [title for title in others if title in passage["text"]]
        naming = [other for other in passages if passage["title"] in other["text"]]
        assert named or naming, passage["title"]


def test_passage_questions_need_both_of_their_passages(
    passages: list[Passage], passage_questions: list[PassageQuestion]
) -> None:
    bodies = {passage["title"]: passage["text"] for passage in passages}
    assert len(passage_questions) == len({row["id"] for row in passage_questions}) == 20
    for row in passage_questions:
        first, second = (fact["title"] for fact in row["supporting_facts"])
        assert second in bodies[first], row["id"]
        assert first in row["question"] or bodies[first].split("(")[0].strip() in row["question"]
        assert second not in row["question"], row["id"]
        assert row["answer"].casefold() in bodies[second].casefold(), row["id"]


def test_chunks_are_the_passages(
    passages: list[Passage], passage_questions: list[PassageQuestion]
) -> None:
    expected = {row["id"]: f"Title: {row['title']}\n{row['text']}" for row in passages}
    seen: set[str] = set()
    for row in passage_questions:
        chunks = {chunk["id"]: chunk["chunk"] for chunk in row["chunks"]}
        assert len(chunks) == len(row["chunks"]) == 10
        assert all(expected[key] == text for key, text in chunks.items()), row["id"]
        assert {fact["id"] for fact in row["supporting_facts"]} <= set(chunks)
        seen.update(chunks)
    assert seen == set(expected)
