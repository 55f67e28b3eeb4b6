"""Whether a memory that was consolidated stays as it is when it is consolidated again."""

from dataclasses import dataclass
from typing import ClassVar

from ecphoria.client import AsyncClient
from ecphoria.evaluation.datasets.dataset import Question
from ecphoria.evaluation.datasets.mini import load_mini
from ecphoria.evaluation.dynamics.ground import Ground, remember

__all__ = ["Settling", "settling"]

_ASKED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """What a second cycle did.

    Attributes:
        changes: What it would have changed, by a dry run before it.
        second_run_identical: Whether it changed nothing, and recalls found the same after it.
    """

    changes: int
    second_run_identical: bool

    bound: ClassVar[str] = "a second cycle changes nothing"

    @property
    def holds(self) -> bool:
        """Whether it is so."""
        return self.second_run_identical


async def settling(ground: Ground) -> Settling:
    """Consolidate the shipped conversation twice."""
    part = load_mini()[0].collections[0]
    asked = part.questions[:_ASKED]
    async with ground.tenant("consolidation") as client:
        await remember(client, list(part.memories.values()))
        await client.consolidate()
        before = [await _ranking(client, question) for question in asked]
        planned = await client.consolidate(dry_run=True)
        await client.consolidate()
        after = [await _ranking(client, question) for question in asked]
    changes = sum(len(step.changes) for step in planned.steps)
    return Settling(changes=changes, second_run_identical=changes == 0 and before == after)


async def _ranking(client: AsyncClient, question: Question) -> list[str]:
    answer = await client.recall(question.text, strategy="synapse", record=False, collapse=False)
    return [hit.episode.id for hit in answer.hits]
