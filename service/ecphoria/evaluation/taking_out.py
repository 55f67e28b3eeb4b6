"""Ask each question once more with its evidence erased from the store, then put it back."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from ecphoria.client import AsyncClient
from ecphoria.evaluation.datasets.dataset import Collection, Question
from ecphoria.evaluation.near_copies import NearCopies
from ecphoria.evaluation.rows import Row

__all__ = ["ask_without_evidence", "has_evidence"]

_DELETIONS: Final = 4
"""Deletions under way at a time."""
_BATCH: Final = 100


def has_evidence(part: Collection) -> tuple[Question, ...]:
    """List the questions that are asked once more."""
    return tuple(one for one in part.questions if one.scored)


async def ask_without_evidence(
    part: Collection,
    client: AsyncClient,
    known: dict[str, str],
    ask: Callable[[Question], Awaitable[Row]],
    findings: Counter[str],
) -> list[Row]:
    """Ask every question that has evidence while that evidence is not in the store.

    Questions with the same evidence are asked together, and what two questions in turn need
    erased stays erased between them. In the end, however that comes, everything is back.

    Args:
        part: What was appended and what is asked.
        client: Acts for the tenant.
        known: Id in the data of each stored episode, by the episode's id; kept up to date.
        ask: Asks one question.
        findings: Counts what cannot be done.

    Returns:
        A row a question, in the order of the questions.
    """
    store = _Store(part, client, known, findings)
    near = NearCopies(
        {ident: f"{one.title or ''} {one.text}" for ident, one in part.memories.items()}
    )
    together: dict[frozenset[str], list[Question]] = {}
    for question in has_evidence(part):
        if store.holds(question.gold):
            together.setdefault(near.of(question.gold), []).append(question)
        else:
            findings["questions whose evidence was never stored"] += 1
    rows: dict[str, Row] = {}
    try:
        for evidence, questions in together.items():
            await store.be_without(evidence)
            for question in questions:
                row = await ask(question)
                rows[question.id] = row.model_copy(update={"taken_out": True})
    finally:
        await store.be_without(frozenset())
    return [rows[one.id] for one in has_evidence(part) if one.id in rows]


class _Store:
    """A tenant from which memories are erased and to which they are appended again."""

    def __init__(
        self,
        part: Collection,
        client: AsyncClient,
        known: dict[str, str],
        findings: Counter[str],
    ) -> None:
        self._part, self._client, self._known, self._findings = part, client, known, findings
        self._ids = {ident: episode for episode, ident in known.items()}
        self._erased: set[str] = set()
        self._times = 0
        self._gate = asyncio.Semaphore(_DELETIONS)

    def holds(self, idents: Iterable[str]) -> bool:
        """Whether any of these is stored."""
        return any(ident in self._ids for ident in idents)

    async def be_without(self, wanted: frozenset[str]) -> None:
        """Erase what is wanted away, and append again what was erased before and is not."""
        await self._append(self._erased - wanted)
        await asyncio.gather(*(self._erase(one) for one in sorted(wanted & self._ids.keys())))

    async def _erase(self, ident: str) -> None:
        async with self._gate:
            # Noted first: what may be gone is appended again even if this is interrupted.
            episode = self._ids.pop(ident)
            self._erased.add(ident)
            await self._client.delete(episode)

    async def _append(self, idents: set[str]) -> None:
        """Append with the same fields, so in the same place, under keys never used before."""
        self._times += 1
        again = [ident for ident in self._part.memories if ident in idents]
        for start in range(0, len(again), _BATCH):
            batch = again[start : start + _BATCH]
            answer = await self._client.append_batch(
                [
                    self._part.memories[ident].model_copy(
                        update={"idempotency_key": f"{ident}#{self._times}"}
                    )
                    for ident in batch
                ]
            )
            for ident, result in zip(batch, answer.results, strict=True):
                self._erased.discard(ident)
                if result.id is None:
                    self._findings["memories refused when they were appended again"] += 1
                    continue
                self._ids[ident] = result.id
                self._known[result.id] = ident
