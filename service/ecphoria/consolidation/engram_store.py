"""Store of engrams: changed sessions, clusters of episodes, and their summaries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ecphoria.consolidation.knn_store import LIST_ASSOCIATIONS, REMOVE_MARKS, Association
from ecphoria.consolidation.steps import NodeVectors
from ecphoria.neo4j_store.locks import LOCK_TENANT, change_under, save_property
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.ports import Vector
from ecphoria.records.episode import SessionPoint
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedSession:
    """A session that changed since its engram was made.

    Attributes:
        mark: The mark that a write left on it; empty without one.
        last_occurred_at: When its last turn occurred.
        engram: The id of its engram, if it has one.
    """

    name: str
    mark: str
    last_occurred_at: datetime
    engram: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A turn of a summary; `length` is its number of stems, `question` whether it asks."""

    id: str
    body_hash: str
    speaker: str
    role: str
    text: str
    length: int
    vector: Vector
    question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The record of a session; None or empty if nothing is known.

    Attributes:
        valence: -1 to 1.
        novelty: 0 to 1.
    """

    topic: str | None = None
    decisions: tuple[SessionPoint, ...] = ()
    open_questions: tuple[SessionPoint, ...] = ()
    valence: float | None = None
    novelty: float | None = None

    @property
    def columns(self) -> dict[str, object]:
        """Convert it to properties: the words of each point, and the id of its turn."""
        return {
            "topic": self.topic,
            "decisions": [one.text for one in self.decisions],
            "decided_in": [one.episode for one in self.decisions],
            "open_questions": [one.text for one in self.open_questions],
            "asked_in": [one.episode for one in self.open_questions],
            "valence": self.valence,
            "novelty": self.novelty,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EngramRow:
    """An engram to store.

    Attributes:
        members: Number of turns that it summarises.
        evidence: The turns that the summary quotes or was written from.
        method: How it was made.
        formula: The version of the method.
        record: Topic, decisions and open questions of a session.
    """

    id: str
    summary: str
    members: int
    evidence: tuple[str, ...]
    method: str
    formula: int
    record: SessionRecord = field(default_factory=SessionRecord)


_LIST_TOUCHED_SESSIONS = Statement("consolidation.list_touched_sessions", TouchedSession)
_LIST_MEMBERS = Statement("consolidation.list_members", Member)
_REMOVE_ENGRAMS = Statement("consolidation.remove_engrams", Done)
_CREATE_ENGRAM = Statement("consolidation.create_engram", Done)
_LIST_CLUSTER_ENGRAMS = Statement("consolidation.list_cluster_engrams", str)


class EngramStore:
    """Engrams and clusters; `vectors`: the vectors of engrams."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.vectors = NodeVectors(graph, concepts=False)

    async def touched_sessions(self, tenant: TenantId, formula: str) -> Sequence[TouchedSession]:
        """List the changed sessions by name; all sessions if the formula changed."""
        return await self._graph.run(_LIST_TOUCHED_SESSIONS, tenant=tenant, formula=formula)

    async def members(self, tenant: TenantId, session: str) -> Sequence[Member]:
        """List a session's turns in order."""
        return await self._graph.run(_LIST_MEMBERS, tenant=tenant, session=session, ids=[])

    async def save_engram(
        self,
        tenant: TenantId,
        lease: Lease | None,
        session: TouchedSession,
        engram: EngramRow | None,
        *,
        final: bool,
    ) -> None:
        """Replace the engrams of a session by one or none; if it is final, remove the mark."""

        async def save(work: Work) -> None:
            # An erasure holds the same lock, so no word of an erased episode is stored again.
            if not await work.run(LOCK_TENANT, tenant=tenant):
                return
            if engram is None or engram.id != session.engram:
                await work.run(_REMOVE_ENGRAMS, tenant=tenant, ids=[], session=session.name)
            if engram is not None and engram.id != session.engram:
                await _create(work, tenant, engram, session=session.name)
            if final:
                await _take_mark(work, tenant, session)

        await change_under(self._graph, lease, "consolidation.save_engram", save)

    async def keep_engram(
        self, tenant: TenantId, lease: Lease | None, session: TouchedSession
    ) -> None:
        """Remove the mark of a session whose engram is up to date."""

        async def keep(work: Work) -> None:
            await _take_mark(work, tenant, session)

        await change_under(self._graph, lease, "consolidation.keep_engram", keep)

    async def save_formula(self, tenant: TenantId, lease: Lease | None, formula: str) -> None:
        """Record the formula by which all engrams of a tenant are made."""

        async def save(work: Work) -> None:
            await save_property(work, tenant, "engram_formula", formula)

        await change_under(self._graph, lease, "consolidation.save_formula", save)

    async def similar_pairs(self, tenant: TenantId) -> Sequence[Association]:
        """List all pairs of near episodes, live or dormant, with the part by nearness."""
        return await self._graph.run(LIST_ASSOCIATIONS, tenant=tenant, episodes=None, concepts=[])

    async def cluster_engrams(self, tenant: TenantId) -> Sequence[str]:
        """List the ids of the engrams of clusters."""
        return await self._graph.run(_LIST_CLUSTER_ENGRAMS, tenant=tenant)

    async def members_of(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Member]:
        """Read the texts and vectors for a summary, in the order of time."""
        return await self._graph.run(
            _LIST_MEMBERS, tenant=tenant, session=None, ids=list(episodes)
        )

    async def save_cluster(
        self, tenant: TenantId, lease: Lease | None, engram: EngramRow, members: Sequence[str]
    ) -> None:
        """Store the engram of a cluster if all its members exist."""

        async def save(work: Work) -> None:
            if not await work.run(LOCK_TENANT, tenant=tenant):  # same lock, same reason
                return
            await _create(work, tenant, engram, members=members)

        await change_under(self._graph, lease, "consolidation.save_cluster", save)

    async def remove_cluster_engrams(
        self, tenant: TenantId, lease: Lease | None, engrams: Sequence[str]
    ) -> None:
        """Delete engrams of clusters, in one transaction."""

        async def remove(work: Work) -> None:
            await work.run(_REMOVE_ENGRAMS, tenant=tenant, ids=list(engrams), session=None)

        await change_under(self._graph, lease, "consolidation.remove_cluster_engrams", remove)


async def _create(
    work: Work,
    tenant: TenantId,
    engram: EngramRow,
    *,
    session: str | None = None,
    members: Sequence[str] = (),
) -> None:
    """Store the engram of a session, or of a cluster with these members."""
    await work.run(
        _CREATE_ENGRAM,
        tenant=tenant,
        session=session,
        id=engram.id,
        summary=engram.summary,
        count=engram.members,
        members=list(members),
        evidence=list(engram.evidence),
        method=engram.method,
        formula=engram.formula,
        record=engram.record.columns,
    )


async def _take_mark(work: Work, tenant: TenantId, session: TouchedSession) -> None:
    marks = [{"name": session.name, "mark": session.mark}]
    await work.run(REMOVE_MARKS, tenant=tenant, concepts=[], sessions=marks)
