"""Read what recalls left on memories; learning reads it to go on, recall to rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.learning import Charge, Use

__all__ = [
    "LIST_CHARGES",
    "LIST_USES",
    "HistoryReader",
    "StoredCharge",
    "StoredUse",
    "to_charge",
    "to_use",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUse:
    """An episode's uses as they are kept; of one never used `occurred_ms` and maybe salience."""

    id: str
    occurred_ms: int
    recent_ms: list[int] | None
    count: int
    first_ms: int
    stability: float
    stability_ms: int
    working: float
    lasting: float
    chain_ms: int
    recalls: int
    salience: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCharge:
    """An episode's charge as it is kept; only its `own` turn if it was never stimulated."""

    id: str
    own: int
    turns: list[int] | None
    strengths: list[float]
    tau: float
    potential: float
    current: float
    turn: int


LIST_USES = Statement("learning.list_uses", StoredUse)
LIST_CHARGES = Statement("learning.list_charges", StoredCharge)


class HistoryReader:
    """Reads episodes' histories; implements `ports.recall.Histories`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Tell how episodes were used; those that are gone are absent."""
        rows = await self._graph.run(LIST_USES, tenant=tenant, ids=list(ids))
        return {EpisodeId(row.id): to_use(row) for row in rows}

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Tell the charges of episodes; those never stimulated are absent."""
        rows = await self._graph.run(LIST_CHARGES, tenant=tenant, ids=list(ids))
        found = ((EpisodeId(row.id), to_charge(row)) for row in rows)
        return {one: charge for one, charge in found if charge is not None}


def to_use(row: StoredUse) -> Use:
    """Read an episode's uses."""
    if row.recent_ms is None:
        return Use.fresh(row.occurred_ms, salience=row.salience)
    return Use(
        recent_ms=tuple(row.recent_ms),
        count=row.count,
        first_ms=row.first_ms,
        stability=row.stability,
        stability_ms=row.stability_ms,
        working=row.working,
        lasting=row.lasting,
        chain_ms=row.chain_ms,
        recalls=row.recalls,
        salience=row.salience,
    )


def to_charge(row: StoredCharge) -> Charge | None:
    """Read an episode's charge; None if it was never stimulated."""
    if row.turns is None:
        return None
    return Charge(
        turns=tuple(row.turns),
        strengths=tuple(row.strengths),
        tau=row.tau,
        potential=row.potential,
        current=row.current,
        turn=row.turn,
    )
