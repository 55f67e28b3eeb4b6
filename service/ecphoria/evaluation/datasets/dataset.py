"""What every data set comes down to: memories to append, questions to ask, gold ids."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import ValidationError

from ecphoria.wire.episodes import AppendRequest

__all__ = ["ADVERSARIAL", "Collection", "Dataset", "Question", "Suite", "gathered", "sampled"]

ADVERSARIAL = "5"
"""The category of questions without an answer; they count for abstention only."""


class Suite(StrEnum):
    """Which measures a data set is reported with."""

    LOCOMO = "locomo"
    CHATS = "chats"
    PASSAGES = "passages"

    @property
    def talk(self) -> bool:
        """Whether its memories are turns of conversations."""
        return self is not Suite.PASSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something to ask.

    Attributes:
        id: Unique in its collection.
        category: As the data numbers it; empty where it does not.
        gold: Ids of the memories that hold the evidence: distinct, and existing.
        official: Evidence as the data spells it, for the measure of its authors; None elsewhere.
        kind: As the data names it; empty where it does not.
    """

    id: str
    text: str
    category: str
    gold: tuple[str, ...]
    official: tuple[str, ...] | None = None
    kind: str = ""

    @property
    def adversarial(self) -> bool:
        """Whether the right answer is that there is none."""
        return self.category == ADVERSARIAL

    @property
    def scored(self) -> bool:
        """Whether its evidence counts for recall."""
        return bool(self.gold) and not self.adversarial


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One conversation or one pool of passages: a tenant of its own.

    Attributes:
        memories: What to append, by the data's id, in order.
    """

    name: str
    memories: Mapping[str, AppendRequest]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Collections of one suite.

    Attributes:
        source: Name of the file or folder.
        sha256: Of the data; of the corpus and the OpenIE cache where those are files of their own.
        findings: What was odd in the data, and how often.
    """

    suite: Suite
    source: str
    sha256: str
    collections: tuple[Collection, ...]
    findings: Mapping[str, int]
    corpus_sha256: str | None = None
    openie_sha256: str | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in order."""
        return tuple(one for part in self.collections for one in part.questions)


@dataclass(slots=True, kw_only=True)
class Gathering:
    """Memories on their way into a collection."""

    findings: Counter[str]
    memories: dict[str, AppendRequest] = field(default_factory=dict)

    def add(self, ident: str, **fields: object) -> None:
        """Take one memory; what no request can carry is counted and left out."""
        try:
            self.memories[ident] = AppendRequest.model_validate(
                {**fields, "idempotency_key": ident}
            )
        except ValidationError:
            self.findings["memories that are not well-formed text"] += 1


def gathered(findings: Counter[str]) -> Gathering:
    """Begin a collection's memories."""
    return Gathering(findings=findings)


def sampled(dataset: Dataset, count: int) -> Dataset:
    """Keep `count` questions, spread evenly over the data; the memories stay all."""
    total = len(dataset.questions)
    if count >= total:
        return dataset
    kept = {place * total // count for place in range(count)}
    place = 0
    parts = []
    for part in dataset.collections:
        chosen = [one for at, one in enumerate(part.questions, place) if at in kept]
        place += len(part.questions)
        parts.append(replace(part, questions=tuple(chosen)))
    return replace(dataset, collections=tuple(parts))
