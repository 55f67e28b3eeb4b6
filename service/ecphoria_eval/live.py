"""Ask the questions of a dataset as an agent does: in the order of time, and store what is said.

A question is asked after the session of its last evidence. Where enough is stored before its first
evidence, it is asked then as well: the right reply is "I don't know". Question and reply become
two turns of the store, so later questions meet them. The same run without these turns tells what
they cost.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from ecphoria.cli.progress import Watch
from ecphoria.client import AsyncClient
from ecphoria.errors import EcphoriaError
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import RecallResult
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question
from ecphoria_eval.measures import DEPTH
from ecphoria_eval.rows import Arm, Row
from ecphoria_eval.run import (
    Connect,
    NearCopies,
    Outcome,
    Plan,
    append_all,
    ask,
    own_tenant,
    row_of,
    send,
)

LIVE: Final = "live"
"""Name of the arm whose questions and replies are stored."""

_LEAST_BEFORE: Final = 10
"""Memories that must be stored before a question can come too early; an empty store refuses."""
_SHOWN: Final = 10
"""Hits that the agent reads."""
_QUOTED: Final = 200
"""Characters of the evidence that a reply repeats where the data has no answer."""
_UNKNOWN: Final = "I don't know."
_SESSION: Final = "questions"
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question at one moment.

    Attributes:
        stored: Number of memories stored by then.
        early: Whether its evidence is stored later.
    """

    stored: int
    question: Question
    early: bool = False


def in_time(part: Collection) -> Collection:
    """Sort the memories by the time of their events, if each has one."""
    if any(one.occurred_at is None for one in part.memories.values()):
        return part
    ordered = sorted(part.memories.items(), key=lambda pair: pair[1].occurred_at or _NO_TIME)
    return replace(part, memories=dict(ordered))


def schedule(part: Collection) -> list[Asking]:
    """List the askings in order; `part` is in the order of time.

    A question without evidence is asked when everything is stored.
    """
    place = {ident: number for number, ident in enumerate(part.memories)}
    ends = _session_ends(part.memories.values())
    near = NearCopies({ident: item.text for ident, item in part.memories.items()})
    found = []
    for question in part.questions:
        evidence = [place[ident] for ident in question.gold if ident in place]
        stored = ends[max(evidence)] if evidence else len(place)
        found.append(Asking(stored=stored, question=question))
        # A near copy of the evidence answers as well.
        first = min((place[one] for one in near.of(question.gold) if one in place), default=0)
        if question.scored and first >= _LEAST_BEFORE:
            found.append(Asking(stored=first, question=question, early=True))
    return sorted(found, key=lambda asking: asking.stored)


def _session_ends(memories: Iterable[NewEpisode]) -> list[int]:
    """Tell for each memory how many are stored when its session ends."""
    sessions = [one.session for one in memories]
    ends = {session: number for number, session in enumerate(sessions, start=1)}
    return [
        number if session is None else ends[session]
        for number, session in enumerate(sessions, start=1)
    ]


async def run_live(dataset: Dataset, connect: Connect, plan: Plan, watch: Watch) -> Outcome:
    """Replay a data set twice: without and with its questions and replies stored.

    Rows of the first replay have the name of the plan's only arm, those of the second `live`.

    Raises:
        EcphoriaError: The service cannot be used.
    """
    (arm,) = plan.arms
    replay = _Replay(dataset=dataset, plan=plan, watch=watch)
    for number, part in enumerate(dataset.collections, start=1):
        ordered = in_time(part)
        for stores, each in ((False, arm), (True, replace(arm, name=LIVE))):
            name = f"{plan.name}-{number}-{'live' if stores else 'plain'}"
            async with own_tenant(connect, name) as client:
                await replay.play(ordered, client, each, stores=stores)
    return replay.outcome()


class _Replay:
    """A run under way."""

    def __init__(self, *, dataset: Dataset, plan: Plan, watch: Watch) -> None:
        self._plan, self._watch = plan, watch
        self._depth = DEPTH[dataset.suite]
        self._rows = plan.rows
        self._findings: Counter[str] = Counter()
        self._episodes, self._seconds = 0, 0.0
        self._to_store = 2 * sum(len(part.memories) for part in dataset.collections)

    def outcome(self) -> Outcome:
        rows = sorted(self._rows, key=lambda row: row.strategy == LIVE)
        return Outcome(
            rows=tuple(rows),
            episodes=self._episodes,
            seconds=self._seconds,
            consolidation_s=0.0,
            findings=dict(sorted((+self._findings).items())),
            tenants=(),
        )

    async def play(self, part: Collection, client: AsyncClient, arm: Arm, *, stores: bool) -> None:
        """Store the memories, and ask each question at its moment."""
        known: dict[str, str] = {}
        memories = list(part.memories.items())
        stored = 0
        for asking in schedule(part):
            known |= await self._store(client, memories[stored : asking.stored])
            stored = asking.stored
            answer = await ask(
                asking.question,
                client,
                arm,
                depth=self._depth,
                findings=self._findings,
                collapse=True,
            )
            row = row_of(part.name, asking.question, arm, answer, known)
            shown = {"taken_out": asking.early, "ranked": _shown(answer, row, known)}
            row = row.model_copy(update=shown)
            self._rows.append(row)
            if stores:
                when = memories[stored - 1][1].occurred_at if stored else None
                turns = _turns(asking, answer, row, when, number=len(self._rows))
                known |= await send(client, turns, self._findings)
        await self._store(client, memories[stored:])

    async def _store(
        self, client: AsyncClient, memories: Sequence[tuple[str, NewEpisode]]
    ) -> dict[str, str]:
        before = self._episodes

        def watch(done: int) -> None:
            self._episodes = before + done
            self._watch("replaying", self._episodes, self._to_store)

        begun = self._plan.monotonic()
        known = await append_all(client, memories, self._findings, watch)
        self._seconds += self._plan.monotonic() - begun
        return known


def _shown(
    answer: RecallResult | EcphoriaError, row: Row, known: Mapping[str, str]
) -> tuple[str, ...]:
    """Name the hits, near copies joined as an agent sees them; one of them may be evidence."""
    if isinstance(answer, EcphoriaError):
        return ()
    groups = [
        [known[ident] for ident in (hit.episode.id, *hit.copies) if ident in known]
        for hit in answer.hits
    ]
    return tuple(
        next((one for one in group if one in row.gold), group[0]) for group in groups if group
    )


def _turns(
    asking: Asking,
    answer: RecallResult | EcphoriaError,
    row: Row,
    when: datetime | None,
    *,
    number: int,
) -> list[tuple[str, NewEpisode]]:
    """Make the turns of a question and its reply, with ids that no memory of the data has.

    Each question has a time of its own. The service takes the same words of the same speaker at
    the same time for one turn that was sent twice, so a second "I don't know." would be dropped.
    """
    if when is not None:
        when += timedelta(milliseconds=number)
    said = (("user", asking.question.text), ("assistant", _reply(asking.question, answer, row)))
    return [
        (
            f"asked {number}, {role}",
            NewEpisode(text=text, speaker=role, role=role, session=_SESSION, occurred_at=when),
        )
        for role, text in said
    ]


def _reply(question: Question, answer: RecallResult | EcphoriaError, row: Row) -> str:
    """Reply as a careful reader of the first ten hits: "I don't know" without evidence there."""
    if isinstance(answer, EcphoriaError) or answer.verdict.refused:
        return _UNKNOWN
    evidence = [place for place, one in enumerate(row.ranked[:_SHOWN]) if one in question.gold]
    if not evidence:
        return _UNKNOWN
    if question.answers:
        return question.answers[0]
    return answer.hits[evidence[0]].episode.text[:_QUOTED]
