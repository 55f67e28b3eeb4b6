"""Read the sample conversation and its facts: invented people, real dates."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

from ecphoria.records.asked import read_as
from ecphoria.records.episode import Extracted, NewEpisode
from ecphoria.records.fact import PredicateClass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    """Facts of the conversation, made by hand.

    Attributes:
        extractions: What each turn states, by the key of the turn.
        predicates: Classes of predicates that are `multi` elsewhere.
        asleep: Keys of turns that hold little, to put to sleep.
    """

    extractions: Mapping[str, Extracted]
    predicates: Mapping[str, PredicateClass]
    asleep: frozenset[str]


def sample_conversation() -> tuple[NewEpisode, ...]:
    """Read every turn, ready to append; its key makes appending it again harmless."""
    lines = (_DATA / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_turn(json.loads(line)) for line in lines)


def sample_facts() -> SampleFacts:
    """Read the facts, each with words of its turn."""
    listed = json.loads((_DATA / "facts.json").read_text(encoding="utf-8"))
    stated = defaultdict(list)
    for fact in listed["facts"]:
        stated[fact.pop("turn")].append(fact)
    return SampleFacts(
        extractions={turn: read_as(Extracted, {"facts": facts}) for turn, facts in stated.items()},
        predicates={name: PredicateClass(kind) for name, kind in listed["predicates"].items()},
        asleep=frozenset(listed["asleep"]),
    )


def with_facts(
    turns: tuple[NewEpisode, ...], extractions: Mapping[str, Extracted]
) -> tuple[NewEpisode, ...]:
    """Add to each turn what it states."""
    return tuple(
        replace(turn, extraction=extractions.get(str(turn.idempotency_key))) for turn in turns
    )


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
