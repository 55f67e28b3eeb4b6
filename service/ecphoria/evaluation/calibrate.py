"""Ask questions whose answer is known to be there or not; the fit gets what the gate saw."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Final

from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.evaluation.arms import chosen
from ecphoria.evaluation.calibration import LEAST, Sample
from ecphoria.evaluation.datasets.dataset import Dataset
from ecphoria.evaluation.datasets.labelled import LabelledFile
from ecphoria.evaluation.near_copies import LEAST_OVERLAP, distinct_words, overlap
from ecphoria.evaluation.own_questions import OwnQuestion, question_of
from ecphoria.evaluation.run import Connect, Plan, Watch, run

__all__ = ["Asked", "ask_labelled", "ask_memories", "ask_own"]

_PAGE: Final = 1_000
_NEAREST: Final = 50
"""Hits among which the near copies of a memory are looked for."""
_LONGEST_CUE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came back.

    Attributes:
        findings: What could not be used, and how often.
    """

    samples: tuple[Sample, ...]
    findings: dict[str, int]


async def ask_memories(
    dataset: Dataset, connect: Connect, watch: Watch, *, name: str, monotonic: Callable[[], float]
) -> Asked:
    """Append each conversation to a tenant of its own, ask its questions, erase it.

    Args:
        dataset: Its category of questions without an answer counts as unanswerable.
        connect: The way to the service, with an operator's key.
        watch: Told the progress.
        name: Prefix of the tenants' names, which must be new.
        monotonic: Seconds from some fixed moment.
    """
    async with connect("default") as client:
        known = await client.strategies()
    arms = chosen(known, [known[0].name])
    outcome = await run(dataset, connect, Plan(arms=arms, name=name, monotonic=monotonic), watch)
    samples = tuple(
        Sample(evidence=row.evidence, answerable=row.scored, group=row.collection)
        for row in outcome.rows
        if (row.scored or row.adversarial) and row.error is None
    )
    return Asked(samples=samples, findings=outcome.findings)


async def ask_labelled(
    file: LabelledFile, connect: Connect, watch: Watch, tenant: str | None
) -> Asked:
    """Ask a tenant that already has its memories.

    Args:
        file: The questions.
        connect: The way to the service.
        watch: Told the progress.
        tenant: Its name; None with a tenant's own key.
    """
    samples: list[Sample] = []
    findings: Counter[str] = Counter()
    async with connect(tenant) as client:
        for number, asked in enumerate(file.questions, start=1):
            try:
                answer = await client.recall(asked.text, k=1, record=False, collapse=False)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
            else:
                samples.append(
                    Sample(
                        evidence=answer.evidence, answerable=asked.answerable, group=asked.group
                    )
                )
            watch("asking", number, len(file.questions))
    return Asked(samples=tuple(samples), findings=dict(sorted(findings.items())))


async def ask_own(
    connect: Connect, watch: Watch, tenant: str | None, *, count: int, seed: int
) -> tuple[Asked, str]:
    """Ask a tenant questions made of its own memories, with each memory and without it.

    Nothing is appended, erased or recorded: a memory and its near copies are left out by the
    recall filter `exclude`.

    Args:
        connect: The way to the service.
        watch: Told the progress.
        tenant: Its name; None with a tenant's own key.
        count: Memories to sample.
        seed: Of the sample and of the questions.

    Returns:
        What came back, and the hash of the questions.

    Raises:
        InvalidInput: Too few memories say anything that can be asked for.
    """
    samples: list[Sample] = []
    findings: Counter[str] = Counter()
    async with connect(tenant) as client:
        questions = await _sampled(client, count, seed)
        for number, question in enumerate(questions, start=1):
            try:
                samples += await _ask_both(client, question)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
            watch("asking with and without", number, len(questions))
    told = "".join(f"{one.episode} {one.text}\n" for one in questions)
    asked = Asked(samples=tuple(samples), findings=dict(sorted(findings.items())))
    return asked, sha256(told.encode()).hexdigest()


async def _sampled(client: AsyncClient, count: int, seed: int) -> list[OwnQuestion]:
    """Go through all memories once, and keep `count` questions, each as likely as any other."""
    random = Random(seed)  # noqa: S311 (a sample, no secret)
    kept: list[tuple[int, OwnQuestion]] = []
    seen = 0
    async for episode in client.list(page_size=_PAGE):
        question = question_of(episode, seed) if episode.state == "live" else None
        if question is None:
            continue
        seen += 1
        place = len(kept) if len(kept) < count else random.randrange(seen)
        if place < count:
            kept[place : place + 1] = [(seen, question)]
    if seen < LEAST:
        raise InvalidInput(
            f"Only {seen} memories of the tenant say enough to make a question of;"
            f" at least {LEAST} are needed. Give labelled questions with --data."
        )
    return [question for _, question in sorted(kept, key=lambda pair: pair[0])]


async def _ask_both(client: AsyncClient, question: OwnQuestion) -> tuple[Sample, Sample]:
    copies = await _near_copies(client, question)
    with_it = await client.recall(question.text, k=1, record=False)
    without = await client.recall(question.text, k=1, record=False, exclude=copies)
    return (
        Sample(evidence=with_it.evidence, answerable=True, group=""),
        Sample(evidence=without.evidence, answerable=False, group=""),
    )


async def _near_copies(client: AsyncClient, question: OwnQuestion) -> list[str]:
    """Name the memory and its near copies: they are among what its own words wake."""
    found = await client.recall(question.words[:_LONGEST_CUE], k=_NEAREST, record=False)
    own = distinct_words(question.words)
    near = {
        hit.episode.id
        for hit in found.hits
        if overlap(own, distinct_words(hit.episode.text)) >= LEAST_OVERLAP
    }
    return sorted(near | {question.episode})
