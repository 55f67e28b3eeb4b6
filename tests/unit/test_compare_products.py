"""The comparison with other products: its task, its scores, and one product in memory."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from ecphoria.records.episode import NewEpisode
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question, Suite
from scripts.compare_products import measured, task_of
from scripts.products import Message, Product, measure

LATER = datetime(2026, 3, 1, 9, tzinfo=UTC)
TALK = Collection(
    name="talk",
    memories={
        "a": NewEpisode(text="I moved to Lisbon.", speaker="Ana", session="s", occurred_at=LATER),
        "b": NewEpisode(text="I sold the boat.", speaker="Bo", session="s", occurred_at=LATER),
        "c": NewEpisode(text="We met in Porto.", session="s"),
    },
    questions=(
        Question(id="1", text="lisbon", category="4", gold=("a",)),
        Question(id="2", text="boat porto", category="1", gold=("b", "c")),
        Question(id="3", text="nothing", category="5", gold=("a",)),
    ),
)
DATA = Dataset(suite=Suite.LOCOMO, collections=(TALK,), source="talk.json", sha256="", findings={})


class ByWords(Product):
    """Ranks by shared words."""

    def store(self, messages: Sequence[Message]) -> None:
        self.held = messages

    def search(self, cue: str, limit: int) -> list[str]:
        words = set(cue.split())
        matching = [
            one.id for one in self.held if words & set(one.line.lower().strip(".").split())
        ]
        return matching[:limit]


def test_the_task_has_the_messages_and_the_questions_with_evidence() -> None:
    (part,) = task_of(DATA)
    messages = [Message(**one) for one in part["messages"]]
    assert [one.line for one in messages] == [
        "Ana: I moved to Lisbon.", "Bo: I sold the boat.", "We met in Porto.",
    ]  # fmt: skip
    assert messages[0].time == LATER
    assert messages[2].time == datetime.fromtimestamp(0, UTC)
    assert [one["id"] for one in part["questions"]] == ["talk/1", "talk/2"]


def test_answers_are_scored_as_ours_are() -> None:
    found = measured(
        "1.2",
        DATA,
        {
            "stored": 3,
            "seconds": 0.6,
            "answers": [
                {"question": "talk/1", "hits": ["b", "a"], "ms": 10.0},
                {"question": "talk/2", "hits": ["b", "a"], "ms": 30.0},
            ],
        },
    )
    # R@10: 1 and 1/2; all evidence: 1 and 0; first evidence: second and first place.
    assert (found.recall, found.whole, found.first) == (75.0, 50.0, 75.0)
    assert found.stored_ms == pytest.approx(200.0)
    assert [found.p50, found.p95] == pytest.approx([20.0, 29.0])


def test_a_product_is_asked_every_question_of_every_conversation() -> None:
    result = measure(ByWords(), {"limit": 10, "collections": task_of(DATA)})
    assert result["stored"] == 3
    assert {one["question"]: one["hits"] for one in result["answers"]} == {
        "talk/1": ["a"],
        "talk/2": ["b", "c"],
    }
    assert measured("", DATA, result).recall == 100.0
