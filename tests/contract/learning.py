"""Traces to learn from, and what was learned from them."""

from datetime import UTC, datetime

from ecphoria.learning.effects import effects_of
from ecphoria.learning.service import LearningService
from ecphoria.learning.store import LearningStore, LearningTransaction
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import TenantId, TraceId
from ecphoria.records.recall import Trace, TracedHit
from tests.conftest import WallClock
from tests.contract.memories import START, episode_id
from tests.contract.traces import a_trace

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def learn(graph: Graph, tenant: TenantId, trace: TraceId) -> bool:
    """Apply one trace; whether it was due."""

    async def work(transaction: LearningTransaction) -> bool:
        found = await transaction.trace(trace)
        if found is not None:
            await transaction.write(found, await effects_of(found, transaction))
        return found is not None

    return await LearningStore(graph).change(tenant, work)


def woke(tenant: TenantId, *numbers: int, at: datetime = START, **scores: float) -> Trace:
    """A recall that returned these turns, best first, each with the score t1=..., else 1."""
    return a_trace(
        tenant,
        created_at=at,
        hits=tuple(
            TracedHit(
                episode=episode_id(tenant, str(number)),
                rank=rank,
                score=scores.get(f"t{number}", 1.0),
                parts={},
                path=(),
            )
            for rank, number in enumerate(numbers, 1)
        ),
    )


def stimulated(tenant: TenantId, number: int, turn_of_cue: int, strength: float) -> Trace:
    return a_trace(
        tenant,
        hits=(),
        stimulation=Stimulation(
            turn=turn_of_cue,
            stimuli={episode_id(tenant, str(number)): strength},
            threshold=0.099,
            tau=43.07,
            tau_scale=1.0,
            turn_scale=1.0,
            potential=0.0,
            current=0.0,
        ),
    )


async def judged(
    graph: Graph, tenant: TenantId, trace: Trace, *, useful: str = "", not_useful: str = ""
) -> dict[str, tuple[float, float]]:
    """Judge turns by their digits; what that makes of them, by turn."""
    ids = {episode_id(tenant, name): name for name in "1234567"}
    service = LearningService(LearningStore(graph), WallClock())
    regards = await service.judge(
        tenant,
        trace.id,
        useful=[episode_id(tenant, name) for name in useful],
        not_useful=[episode_id(tenant, name) for name in not_useful],
    )
    return {ids[one.episode]: (one.reliability, one.salience) for one in regards}
