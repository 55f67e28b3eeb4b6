"""Calibrate a gate: ask questions made of a tenant's own memories, and fit it on the answers."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Final, Protocol

from ecphoria.calibration.fitting import LEAST, calibrate
from ecphoria.calibration.questions import (
    LEAST_OVERLAP,
    OwnQuestion,
    distinct_words,
    jaccard,
    question_of,
)
from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.ports import Clock, Recalls
from ecphoria.records.calibration import Calibration, CalibrationOptions, FitOptions, Sample
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.job import Claimed, Progress
from ecphoria.records.recall import LONGEST_CUE, Cue, Filters, RecallOptions, RecallResult

_PAGE: Final = 1_000
_NEAREST: Final = 50
"""Hits among which the near copies of a memory are looked for."""
_TOLD: Final = 10
"""Questions between two reports of progress, each of which writes to the store."""

Watch = Callable[[Progress], Awaitable[None]]


class Episodes(Protocol):
    """Lists memories."""

    async def list_episodes(
        self, tenant: TenantId, *, limit: int, cursor: int = 0
    ) -> Sequence[Episode]:
        """List a page of episodes by turn, those after the turn `cursor`."""
        ...


class CalibrationService:
    """Fits gates. Nothing is appended, erased or recorded."""

    def __init__(self, recalls: Recalls, episodes: Episodes, clock: Clock) -> None:
        """Ask by `recalls`, and make questions of `episodes`."""
        self._recalls = recalls
        self._episodes = episodes
        self._clock = clock

    async def fit(
        self, samples: Sequence[Sample], options: FitOptions, *, data_sha256: str
    ) -> Calibration:
        """Fit a gate on questions that were asked already.

        Raises:
            InvalidInput: There are too few of one kind.
        """
        now = self._clock.now()
        return await asyncio.to_thread(
            calibrate, samples, options, data_sha256=data_sha256, fitted_at=now
        )

    async def run(self, claimed: Claimed, watch: Watch) -> Calibration:
        """Do a job: ask a tenant questions made of its own memories, and fit a gate.

        Each memory is asked for as it is, and again with the memory and its near copies left out
        by the recall filter `exclude`. An attempt after a crash asks all again.

        Args:
            claimed: The job.
            watch: Told the progress; ends the job by raising.

        Raises:
            InvalidInput: Too few memories say anything that can be asked for.
        """
        job = claimed.job
        assert job.started_at is not None, "a claimed job was begun"
        options = job.calibration_options or CalibrationOptions()
        questions = await self._sampled(job.tenant, options)
        samples: list[Sample] = []
        findings: Counter[str] = Counter()
        for number, question in enumerate(questions):
            if number % _TOLD == 0:
                place = "ask: with and without"
                await watch(Progress(place=place, done=number, total=len(questions)))
            try:
                samples += await self._ask_both(job.tenant, question)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
        told = "".join(f"{one.episode} {one.text}\n" for one in questions)
        found = await asyncio.to_thread(
            calibrate,
            samples,
            options,
            data_sha256=sha256(told.encode()).hexdigest(),
            fitted_at=job.started_at,
        )
        return replace(found, findings=dict(sorted(findings.items())))

    async def _sampled(self, tenant: TenantId, options: CalibrationOptions) -> list[OwnQuestion]:
        """Go through all memories once, and keep some questions, each as likely as any other."""
        count, seed = options.memories, options.seed
        random = Random(seed)  # noqa: S311 (a sample, no secret)
        kept: list[tuple[int, OwnQuestion]] = []
        seen = 0
        async for episode in self._all(tenant):
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
                f" at least {LEAST} are needed. Ask labelled questions instead."
            )
        return [question for _, question in sorted(kept, key=lambda pair: pair[0])]

    async def _all(self, tenant: TenantId) -> AsyncIterator[Episode]:
        cursor = 0
        while True:
            page = await self._episodes.list_episodes(tenant, limit=_PAGE, cursor=cursor)
            for episode in page:
                yield episode
            if len(page) < _PAGE:
                return
            cursor = page[-1].turn

    async def _ask_both(self, tenant: TenantId, question: OwnQuestion) -> tuple[Sample, Sample]:
        copies = await self._near_copies(tenant, question)
        with_it = await self._recall(tenant, question.text, 1)
        without = await self._recall(tenant, question.text, 1, copies)
        return (
            Sample(evidence=with_it.evidence, answerable=True),
            Sample(evidence=without.evidence, answerable=False),
        )

    async def _near_copies(self, tenant: TenantId, question: OwnQuestion) -> frozenset[EpisodeId]:
        """List a memory and its near copies: the hits of its own words."""
        found = await self._recall(tenant, question.words[:LONGEST_CUE], _NEAREST)
        own = distinct_words(question.words)
        near = {EpisodeId(question.episode)}
        for hit in found.hits:
            # A recall joins copies to one hit; each of them would answer the question.
            same = {hit.episode.id, *hit.copies}
            words = distinct_words(hit.episode.text)
            if question.episode in same or jaccard(own, words) >= LEAST_OVERLAP:
                near |= same
        return frozenset(near)

    async def _recall(
        self, tenant: TenantId, text: str, k: int, exclude: frozenset[EpisodeId] = frozenset()
    ) -> RecallResult:
        options = RecallOptions(k=k, filters=Filters(exclude=exclude))
        return await self._recalls.recall(tenant, Cue(text=text), options, record=False)
