"""Ask the questions of a dataset, also with their evidence erased, and keep a row for each.

A client cannot see the store's vectors, so their overlap in words stands for their nearness.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ecphoria.calibration.questions import LEAST_OVERLAP, distinct_words, jaccard
from ecphoria.cli.progress import Watch
from ecphoria.client import AsyncClient
from ecphoria.errors import EcphoriaError, InvalidInput, NotFound, Timeout, TooLarge
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import RecallResult
from ecphoria.runtime import in_parts
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question
from ecphoria_eval.measures import DEPTH
from ecphoria_eval.rows import Arm, Row

T = TypeVar("T")

LONGEST_READING_S: Final = 86_400.0
"""Longest wait for a language model that reads all memories."""

ANY_TENANT: Final = "default"
"""A tenant that every service has, to ask what the service can do."""

_HISTORY: Final = 20
"""Questions of each collection that are asked before those that are measured."""

Connect = Callable[[str | None], AsyncClient]
"""Opens a client that acts for the tenant of this name, or for none."""


@contextlib.asynccontextmanager
async def own_tenant(
    connect: Connect, name: str, *, keep: bool = False
) -> AsyncIterator[AsyncClient]:
    """Make a tenant of a new name, and erase it at the end however that comes, unless kept."""
    async with connect(None) as operator, connect(name) as client:
        await operator.admin.create_tenant(name)
        try:
            yield client
        finally:
            if not keep:
                with contextlib.suppress(NotFound):
                    await operator.admin.erase_tenant(name)


class NearCopies:
    """The near copies among some texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = {ident: distinct_words(text) for ident, text in texts.items()}
        self._known: dict[str, frozenset[str]] = {}

    def of(self, idents: Iterable[str]) -> frozenset[str]:
        """Name the texts that are near copies of any of these, these included."""
        return frozenset().union(*(self._of(ident) for ident in idents))

    def _of(self, ident: str) -> frozenset[str]:
        if ident not in self._known:
            self._known[ident] = frozenset(self._find(ident))
        return self._known[ident]

    def _find(self, ident: str) -> set[str]:
        own = self._words.get(ident, frozenset())
        low, high = LEAST_OVERLAP * len(own), len(own) / LEAST_OVERLAP
        near = {
            other
            for other, theirs in self._words.items()
            if low <= len(theirs) <= high and jaccard(own, theirs) >= LEAST_OVERLAP
        }
        return near | {ident}


_DELETIONS: Final = 4
"""Deletions under way at a time."""
_BATCH: Final = 100


def has_evidence(part: Collection) -> tuple[Question, ...]:
    """List the questions that are asked once more."""
    return tuple(question for question in part.questions if question.scored)


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
        {ident: f"{item.title or ''} {item.text}" for ident, item in part.memories.items()}
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
        self, part: Collection, client: AsyncClient, known: dict[str, str], findings: Counter[str]
    ) -> None:
        self._part, self._client, self._known, self._findings = part, client, known, findings
        self._ids = {ident: episode for episode, ident in known.items()}
        self._erased: set[str] = set()
        self._times = 0
        self._gate = asyncio.Semaphore(_DELETIONS)

    def holds(self, idents: Iterable[str]) -> bool:
        """Tell whether any of these is stored."""
        return any(ident in self._ids for ident in idents)

    async def be_without(self, wanted: frozenset[str]) -> None:
        """Erase the wanted evidence, and append evidence again that is no longer wanted away."""
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
        for batch in in_parts(again, _BATCH):
            answer = await self._client.append_batch(
                [
                    replace(self._part.memories[ident], idempotency_key=f"{ident}#{self._times}")
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


_BATCH_ITEMS, _BATCH_BYTES = 100, 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Options of a run.

    Attributes:
        name: Prefix of the tenants' names, which must be new.
        monotonic: Seconds from some fixed moment.
        unconsolidated: Arms asked before consolidation, to tell what that changes.
        take_out: Asked last, each question with its evidence erased from the store.
        steps: Of consolidation; all if none is named, None leaves it out.
        concurrency: Questions under way at a time; latencies mean most with one.
        keep: Leave the tenants in the store.
        history: Recorded recalls before the first arm; the gate scales its evidence by them.
        rows: Filled during the run, for a run that ends early.
    """

    arms: Sequence[Arm]
    name: str
    monotonic: Callable[[], float]
    unconsolidated: Sequence[Arm] = ()
    take_out: Arm | None = None
    steps: tuple[str, ...] | None = ()
    concurrency: int = 1
    keep: bool = False
    history: int = _HISTORY
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The rows of a run, and its circumstances.

    Attributes:
        rows: By strategy, then in the order of the data.
        seconds: Of appending.
        consolidation_s: Of consolidating.
        tenants: Those that were left in the store.
        findings: What went wrong, and how often.
    """

    rows: tuple[Row, ...]
    episodes: int
    seconds: float
    consolidation_s: float
    findings: dict[str, int]
    tenants: tuple[str, ...]


async def run(dataset: Dataset, connect: Connect, plan: Plan, watch: Watch) -> Outcome:
    """Measure every arm on every question.

    Raises:
        EcphoriaError: The service cannot be used; a question it refuses only scores 0.
    """
    job = _Job(dataset=dataset, plan=plan, watch=watch)
    tenants = []
    for number, part in enumerate(dataset.collections, start=1):
        name = f"{plan.name}-{number}"
        async with own_tenant(connect, name, keep=plan.keep) as client:
            tenants.append(name)
            if number == 1:
                await require_steps(client, plan.steps)
            await job.measure(part, client)
    order = {arm.name: place for place, arm in enumerate(job.arms)}
    return Outcome(
        rows=tuple(sorted(job.rows, key=lambda row: order[row.strategy])),
        episodes=job.episodes,
        seconds=job.seconds,
        consolidation_s=job.consolidation_s,
        findings=dict(sorted((+job.findings).items())),
        tenants=tuple(tenants) if plan.keep else (),
    )


async def require_steps(client: AsyncClient, steps: Sequence[str] | None) -> None:
    """Refuse steps that cannot run, while the tenant is still empty: appending takes long.

    Raises:
        InvalidInput: There is no such step.
        ModelMissing: A step needs a language model, and the service has none.
    """
    if steps:
        await client.consolidate(steps=steps, dry_run=True)


class _Job:
    """A run under way."""

    def __init__(self, *, dataset: Dataset, plan: Plan, watch: Watch) -> None:
        self.rows = plan.rows
        self.findings: Counter[str] = Counter()
        self.episodes = 0
        self.seconds = self.consolidation_s = 0.0
        self.arms = [*plan.arms, *plan.unconsolidated]
        self._plan, self._watch = plan, watch
        self._depth = DEPTH[dataset.suite]
        self._sent = self._asked = self._without = 0
        self._to_ask_without = sum(len(has_evidence(part)) for part in dataset.collections)
        self._to_send = sum(len(part.memories) for part in dataset.collections)
        self._to_ask = len(dataset.questions) * len(self.arms)

    async def measure(self, part: Collection, client: AsyncClient) -> None:
        """Append everything, consolidate, then ask everything of one arm after the other."""
        known = await self._append(part, client)
        for arm in self._plan.unconsolidated:
            await self._ask_arm(part, client, arm, known)
        await self._consolidate(client)
        await self._use(part, client)
        for arm in self._plan.arms:
            await self._ask_arm(part, client, arm, known)
        if self._plan.take_out is not None:
            await self._ask_without(part, client, self._plan.take_out, known)

    async def _ask_without(
        self, part: Collection, client: AsyncClient, arm: Arm, known: dict[str, str]
    ) -> None:
        done = self._without

        async def ask(question: Question) -> Row:
            row = await self._row(part, question, client, arm, known)
            self._without += 1
            self._watch("asking without the evidence", self._without, self._to_ask_without)
            return row

        self.rows += await ask_without_evidence(part, client, known, ask, self.findings)
        self._without = done + len(has_evidence(part))

    async def _ask_arm(
        self, part: Collection, client: AsyncClient, arm: Arm, known: dict[str, str]
    ) -> None:
        await self._warm(part, client, arm)
        answered: dict[str, Row] = {}

        async def ask(question: Question) -> None:
            answered[question.id] = await self._row(part, question, client, arm, known)
            self._asked += 1
            self._watch("asking", self._asked, self._to_ask)

        try:
            await for_each(part.questions, ask, at_once=self._plan.concurrency)
        finally:
            self.rows += [answered[one.id] for one in part.questions if one.id in answered]

    async def _consolidate(self, client: AsyncClient) -> None:
        if self._plan.steps is None:
            return
        begun = self._plan.monotonic()
        done = await client.consolidate(steps=self._plan.steps)
        self.consolidation_s += self._plan.monotonic() - begun
        for step in done.steps:
            if step.reason:
                self.findings[f"consolidations without {step.name}: {step.reason}"] += 1

    async def _append(self, part: Collection, client: AsyncClient) -> dict[str, str]:
        before = self._sent

        def watch(done: int) -> None:
            self._sent = before + done
            self._watch("remembering", self._sent, self._to_send)

        begun = self._plan.monotonic()
        known = await append_all(client, part.memories.items(), self.findings, watch)
        self.seconds += self._plan.monotonic() - begun
        self.episodes += len(known)
        return known

    async def _use(self, part: Collection, client: AsyncClient) -> None:
        """Ask some questions as a user does, because the gate scales evidence by past recalls."""
        traces = []
        for question in part.questions[: self._plan.history]:
            with contextlib.suppress(InvalidInput, TooLarge, Timeout):
                traces.append((await client.recall(question.text)).trace_id)
        for trace in traces[-1:]:
            # A trace that can be read is stored, and so are those before it.
            await client.trace(trace)

    async def _warm(self, part: Collection, client: AsyncClient, arm: Arm) -> None:
        """Ask once unmeasured, so that no question pays for plans that are made once."""
        for question in part.questions[:1]:
            with contextlib.suppress(InvalidInput, TooLarge, Timeout):
                await recall(question, client, arm, self._depth)

    async def _row(
        self,
        part: Collection,
        question: Question,
        client: AsyncClient,
        arm: Arm,
        known: Mapping[str, str],
    ) -> Row:
        answer = await ask(question, client, arm, depth=self._depth, findings=self.findings)
        return row_of(part.name, question, arm, answer, known)


async def for_each(
    items: Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int
) -> None:
    """Work on items in order, so many at a time; the first error ends all."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed


async def append_all(
    client: AsyncClient,
    memories: Iterable[tuple[str, NewEpisode]],
    findings: Counter[str],
    watch: Callable[[int], None],
) -> dict[str, str]:
    """Append memories in batches.

    Args:
        client: Acts for the tenant.
        memories: Each with its id in the data.
        findings: Counts the memories that are not stored.
        watch: Told after each batch how many were sent.

    Returns:
        Id in the data of each stored episode, by the episode's id.
    """
    known: dict[str, str] = {}
    sent = 0
    for batch in batches(memories):
        known |= await send(client, batch, findings)
        sent += len(batch)
        watch(sent)
    return known


async def remember(client: AsyncClient, part: Collection, watch: Watch) -> dict[str, str]:
    """Append a collection; give the data's id of each stored episode, by the episode's id."""
    stage = f"remembering {part.name}"
    return await append_all(
        client,
        part.memories.items(),
        Counter(),
        lambda sent: watch(stage, sent, len(part.memories)),
    )


async def send(
    client: AsyncClient, batch: Sequence[tuple[str, NewEpisode]], findings: Counter[str]
) -> dict[str, str]:
    """Append a batch, in halves if it takes too long; a single memory is then left out.

    Otherwise one slow append would lose everything that was measured before.

    Returns:
        Id in the data of each stored episode, by the episode's id.
    """
    try:
        answer = await client.append_batch([request for _, request in batch])
    except Timeout:
        if len(batch) == 1:
            findings["memories whose append took too long"] += 1
            return {}
        middle = len(batch) // 2
        return {
            **await send(client, batch[:middle], findings),
            **await send(client, batch[middle:], findings),
        }
    known = {}
    for (ident, _), result in zip(batch, answer.results, strict=True):
        if result.id is not None:
            known[result.id] = ident
        elif result.problem is not None:
            findings[f"memories refused: {result.problem.title}"] += 1
    return known


async def ask(
    question: Question,
    client: AsyncClient,
    arm: Arm,
    *,
    depth: int,
    findings: Counter[str],
    collapse: bool = False,
) -> RecallResult | EcphoriaError:
    """Ask one question; a refusal by the service is counted, and given as the answer."""
    try:
        return await recall(question, client, arm, depth, collapse=collapse)
    except (InvalidInput, TooLarge, Timeout) as error:
        findings[f"recalls that failed: {error.code}"] += 1
        return error


async def recall(
    question: Question, client: AsyncClient, arm: Arm, depth: int, *, collapse: bool = False
) -> RecallResult:
    """Recall `depth` memories; the recall leaves no trace in the store.

    Without `collapse` near copies are hits of their own, because the gold counts each memory.
    """
    return await client.recall(
        question.text,
        strategy=arm.strategy,
        options=arm.options,
        rerank=arm.rerank,
        k=depth,
        record=False,
        collapse=collapse,
    )


def batches(memories: Iterable[tuple[str, NewEpisode]]) -> list[list[tuple[str, NewEpisode]]]:
    """Cut memories, each with its id in the data, into requests, in order."""
    batches: list[list[tuple[str, NewEpisode]]] = []
    size = 0
    for ident, request in memories:
        weight = len(request.text.encode())
        full = not batches or len(batches[-1]) == _BATCH_ITEMS or size + weight > _BATCH_BYTES
        if full:
            batches.append([])
            size = 0
        batches[-1].append((ident, request))
        size += weight
    return batches


def row_of(
    part: str,
    question: Question,
    arm: Arm,
    answer: RecallResult | EcphoriaError,
    known: Mapping[str, str],
) -> Row:
    """Build the row of an answer; `known` has the data's id of each episode."""
    row = Row(
        strategy=arm.name,
        collection=part,
        question=question.id,
        category=question.category,
        kind=question.kind,
        gold=question.gold,
        official=question.official,
    )
    if isinstance(answer, EcphoriaError):
        return row.model_copy(update={"error": answer.code})
    found = {
        # A memory whose append timed out may be stored all the same. Its id is none of the data.
        "ranked": tuple(known.get(hit.episode.id, hit.episode.id) for hit in answer.hits),
        "scores": tuple(hit.score for hit in answer.hits),
        "confidence": answer.confidence,
        "evidence": answer.evidence,
        "verdict": answer.verdict,
        "latency_ms": answer.timings_ms.get("total", 0.0),
        "timings_ms": answer.timings_ms,
        "context_tokens": answer.context_tokens,
        "fired": _fired(answer),
    }
    return row.model_copy(update=found)


def _fired(answer: RecallResult) -> int | None:
    """Count the hits that fired; None of a strategy in which nothing fires."""
    levels = [hit.parts["fired"] for hit in answer.hits if "fired" in hit.parts]
    return sum(level > 0.0 for level in levels) if levels else None
