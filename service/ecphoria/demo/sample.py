"""Read the sample conversation: invented people, real dates."""

import json
from dataclasses import dataclass
from importlib.resources import files

from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode

_DATA = files("ecphoria.demo") / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuestion:
    """A question worth asking.

    Attributes:
        why: What makes it interesting.
        evidence: Texts of the turns that answer it; empty if nothing does.
    """

    question: str
    why: str
    evidence: frozenset[str]


def sample_conversation() -> tuple[NewEpisode, ...]:
    """Read every turn, ready to append; its key makes appending it again harmless."""
    lines = (_DATA / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_turn(json.loads(line)) for line in lines)


def sample_questions() -> tuple[SampleQuestion, ...]:
    """Read the questions of the demo, in the order they are asked."""
    texts = {turn.idempotency_key: turn.text for turn in sample_conversation()}
    listed = json.loads((_DATA / "demo_questions.json").read_text(encoding="utf-8"))
    return tuple(
        SampleQuestion(
            question=item["question"],
            why=item["why"],
            evidence=frozenset(texts[key] for key in item["gold"]),
        )
        for item in listed
    )


def _turn(fields: dict[str, object]) -> NewEpisode:
    key = fields.pop("id")
    return read_as(NewEpisode, {**fields, "idempotency_key": key})
