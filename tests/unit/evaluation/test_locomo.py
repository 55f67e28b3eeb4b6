"""Conversations as they come, with all that may be wrong with them."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ecphoria.errors import BadFile
from ecphoria.records.asked import to_body
from ecphoria_eval.datasets.dataset import sampled
from ecphoria_eval.datasets.locomo import load_locomo

CONVERSATION: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a kiln."},
            {
                "speaker": "Ben",
                "dia_id": "D1:2",
                "text": "Look!",
                "blip_caption": "a photo of a wheel",
                "query": "pottery wheel",
                "img_url": ["u"],
            },
        ],
        "session_2_date_time": "12:05 am on 10 May, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "It broke."}],
    },
    "qa": [
        {"question": "What broke?", "answer": "it", "evidence": ["D1:1", "D2:1"], "category": 1},
        {
            "question": "What did Ben break?",
            "adversarial_answer": "x",
            "evidence": ["D2:1"],
            "category": 5,
        },
    ],
    "event_summary": {"never": "read"},
}

Change = Callable[[dict[str, Any]], object]


def written(path: Path, *changes: Change) -> Path:
    record = copy.deepcopy(CONVERSATION)
    for change in changes:
        change(record)
    file = path / "data.json"
    file.write_text(json.dumps([record]), encoding="utf-8")
    return file


def test_turns_become_memories(tmp_path: Path) -> None:
    (part,) = load_locomo(written(tmp_path)).collections
    first, second, third = part.memories.values()
    assert list(part.memories) == ["D1:1", "D1:2", "D2:1"]
    assert (first.text, first.speaker, first.session, first.position) == (
        "I bought a kiln.", "Ada", "session_1", 1,
    )  # fmt: skip
    assert second.text == "Look! [shares a photo of a wheel]"
    assert first.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert third.occurred_at == datetime(2023, 5, 10, 0, 5, tzinfo=UTC)


def test_nothing_that_knows_the_answers_is_appended(tmp_path: Path) -> None:
    (part,) = load_locomo(written(tmp_path)).collections
    sent = " ".join(to_body(one).decode() for one in part.memories.values())
    for secret in ("pottery wheel", "never", "adversarial"):
        assert secret not in sent


def observed(record: dict[str, Any]) -> None:
    record["observation"] = {
        "session_1_observation": {
            "Ada": [["Ada bought a kiln.", "D1:1"], ["The kiln pleases Ada.", ["D1:1", "D2:1"]]],
            "Ben": [
                ["Ben shows a wheel.", "D1:02"],
                ["Ben sings.", "D1:2"],
                ["Ben left town.", "D9:9"],
            ],
        },
        "session_9_observation": None,
        "notes": {"Ada": [["Ada never reads this.", "D1:1"]]},
    }


def test_observations_are_facts_of_the_turns_that_they_quote_if_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path, observed)
    (plain,) = load_locomo(file).collections
    assert all(memory.extraction is None for memory in plain.memories.values())
    dataset = load_locomo(file, observations=True)
    (part,) = dataset.collections
    stated = {
        ident: [(fact.subject, fact.predicate, fact.object) for fact in memory.extraction.facts]
        for ident, memory in part.memories.items()
        if memory.extraction is not None
    }
    told = ("Ada", "is told", "The kiln pleases Ada")
    assert stated == {
        "D1:1": [("Ada", "bought", "a kiln"), told],
        "D1:2": [("Ben", "shows", "a wheel")],
        "D2:1": [told],
    }
    assert dataset.findings == {
        "observations sent as facts": 3,
        "observations without a usable turn or text": 2,
    }


def test_noise_moves_some_observations_the_same_ones_each_time(tmp_path: Path) -> None:
    rows = [[f"Ada made pot {number}.", "D1:1"] for number in range(40)]
    file = written(
        tmp_path,
        lambda record: record.update(observation={"session_1_observation": {"Ada": rows}}),
    )
    found = [load_locomo(file, observations=True, noise=True) for _ in range(2)]
    (part,) = found[0].collections
    assert found[0] == found[1]
    counts = {
        ident: len(memory.extraction.facts)
        for ident, memory in part.memories.items()
        if memory.extraction is not None
    }
    assert sum(counts.values()) == 40
    assert 0 < counts["D1:2"] + counts["D2:1"] < 25


def test_questions_without_an_answer_count_for_abstention_only(tmp_path: Path) -> None:
    dataset = load_locomo(written(tmp_path))
    answerable, adversarial = dataset.questions
    assert (answerable.scored, answerable.adversarial) == (True, False)
    assert (adversarial.scored, adversarial.adversarial) == (False, True)
    assert dataset.findings == {}


@pytest.mark.parametrize(
    ("evidence", "gold"),
    [
        (["D1:1; D2:1"], ("D1:1", "D2:1")),
        (["D:1:02"], ("D1:2",)),
        (["D1:1", "D1:01"], ("D1:1",)),
        (["D2:1", "D9:9", "", None], ("D2:1",)),
        ("D1:1", ("D1:1",)),
        (["D"], ()),
        (None, ()),
        ([], ()),
        ({"a": 1}, ()),
    ],
)
def test_sloppy_evidence_is_read_as_far_as_it_goes(
    tmp_path: Path, evidence: object, gold: tuple[str, ...]
) -> None:
    def change(record: dict[str, Any]) -> None:
        record["qa"][0]["evidence"] = evidence

    dataset = load_locomo(written(tmp_path, change))
    assert dataset.questions[0].gold == gold
    assert ("questions without evidence" in dataset.findings) == (not gold)


def test_a_leading_zero_of_the_session_is_another_session(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["qa"][0]["evidence"] = ["D01:1"]

    assert load_locomo(written(tmp_path, change)).questions[0].gold == ()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda r: r["conversation"].update(session_3=[]), "empty sessions"),
        (lambda r: r["conversation"].update(session_3_date_time="x"), "empty sessions"),
        (
            lambda r: r["conversation"]["session_1"][1].pop("blip_caption"),
            "images without a caption",
        ),
        (lambda r: r["conversation"]["session_2"][0].update(text=" "), "turns without text"),
        (lambda r: r["conversation"]["session_2"][0].pop("text"), "turns without text"),
        (lambda r: r["conversation"]["session_2"][0].pop("speaker"), "turns without a speaker"),
        (
            lambda r: r["conversation"]["session_2"][0].update(dia_id="D1:1"),
            "turns whose id was used before",
        ),
        (
            lambda r: r["conversation"].update(session_2_date_time="tomorrow"),
            "sessions without a readable date",
        ),
        (
            lambda r: r["conversation"]["session_2"][0].update(text="\ud800"),
            "memories that are not well-formed text",
        ),
        (lambda r: r["qa"][0].update(category=9), "questions of an unknown category"),
    ],
)  # fmt: skip
def test_what_is_odd_is_counted(tmp_path: Path, change: Change, finding: str) -> None:
    assert load_locomo(written(tmp_path, change)).findings[finding] == 1


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (lambda r: r.pop("conversation"), "record 1", "`conversation` is missing"),
        (lambda r: r["conversation"].update(session_1="x"), "record 1", "`session_1` is not a l"),
        (lambda r: r["conversation"]["session_1"].append(3), "session_1, turn 3", "is not a JSON"),
        (lambda r: r["conversation"]["session_2"][0].pop("dia_id"), "session_2, turn 1", "`dia_"),
        (lambda r: r["qa"][1].pop("question"), "qa 2", "`question` is missing"),
        (lambda r: r["qa"][1].update(question=[1]), "qa 2", "`question` is not text"),
        (lambda r: r.update(qa=None), "(conv-1)", "`qa` is not a list"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_is_named(
    tmp_path: Path, change: Change, where: str, what: str
) -> None:
    with pytest.raises(BadFile) as refused:
        load_locomo(written(tmp_path, change))
    assert where in refused.value.message
    assert what in refused.value.message


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[1]", b"\xff", b"[" * 100_000])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "data.json"
    file.write_bytes(content)
    with pytest.raises(BadFile, match=r"data\.json"):
        load_locomo(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        load_locomo(tmp_path / "none.json")
    with pytest.raises(BadFile, match=r"holds no \*\.json"):
        load_locomo(tmp_path)


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.rename(tmp_path / "b.json")
    written(tmp_path).rename(tmp_path / "a.json")
    dataset = load_locomo(tmp_path)
    assert [part.name for part in dataset.collections] == ["conv-1", "conv-1-2"]
    assert dataset.sha256 != load_locomo(tmp_path / "a.json").sha256


def test_a_sample_is_spread_over_the_data(tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        record["qa"] = [{**record["qa"][0], "question": f"q{number}"} for number in range(10)]

    dataset = load_locomo(written(tmp_path, change))
    some = sampled(dataset, 3)
    assert [one.text for one in some.questions] == ["q0", "q3", "q6"]
    assert some.collections[0].memories == dataset.collections[0].memories
    assert sampled(dataset, 99) is dataset
