"""Ask labelled questions of a real service, and hand what the gate saw to the fit."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.evaluation.arms import chosen
from ecphoria.evaluation.calibration import Sample
from ecphoria.evaluation.datasets.dataset import Dataset
from ecphoria.evaluation.datasets.labelled import LabelledFile
from ecphoria.evaluation.run import Connect, Plan, Watch, run

__all__ = ["Asked", "ask_labelled", "ask_memories"]


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
