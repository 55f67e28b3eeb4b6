"""Keep the records of recalls, a bounded number per tenant, joined to what they woke."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ecphoria.errors import NotFound
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.model.ids import EpisodeId, TenantId, TraceId
from ecphoria.model.recall import (
    PathStep,
    SeedRecord,
    Stream,
    Trace,
    TracedHit,
    Wave,
    WaveArc,
)

__all__ = ["Traces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Payload:
    payload: str


_SAVE_TRACE = Statement("traces.save_trace", Done)
_DROP_OLD_TRACES = Statement("traces.drop_old_traces", Done)
_FIND_TRACE = Statement("traces.find_trace", _Payload)


class Traces:
    """Where recalls leave their records; implements `ports.recall.TraceStore`."""

    def __init__(self, graph: Graph, keep: int) -> None:
        """Keep at most `keep` traces of each tenant, the newest."""
        self._graph = graph
        self._keep = keep

    async def save(self, tenant: TenantId, trace: Trace) -> None:
        """Store a trace with WOKE and SEEDED edges, dropping the tenant's oldest over a bound."""

        async def write(work: Work) -> None:
            await work.run(
                _SAVE_TRACE,
                tenant=tenant,
                id=trace.id,
                cue=trace.cue,
                strategy=trace.strategy,
                created_at=trace.created_at,
                payload=json.dumps(asdict(trace), default=_to_text, ensure_ascii=False),
                seeds=[
                    {
                        "node": seed.node,
                        "energy": seed.energy,
                        "weight": _to_weight(seed.energy),
                        "stream": seed.stream.value,
                    }
                    for seed in sorted(trace.seeds, key=lambda seed: seed.node)
                ],
                hits=[
                    {
                        "episode": hit.episode,
                        "rank": hit.rank,
                        "score": hit.score,
                        "weight": _to_weight(hit.score),
                    }
                    for hit in sorted(trace.hits, key=lambda hit: hit.episode)
                ],
            )
            await work.run(_DROP_OLD_TRACES, tenant=tenant, keep=self._keep)

        await self._graph.change("traces.save", write)

    async def find(self, tenant: TenantId, trace: TraceId) -> Trace:
        """Load a trace.

        Raises:
            NotFound: No such trace in this tenant, or it was dropped.
        """
        row = await self._graph.run_one(_FIND_TRACE, tenant=tenant, id=trace)
        if row is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        return _to_trace(json.loads(row.payload))


def _to_weight(value: float) -> float:
    return min(1.0, max(0.0, value))


def _to_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a trace")


def _to_trace(stored: Mapping[str, Any]) -> Trace:
    return Trace(
        id=TraceId(stored["id"]),
        cue=stored["cue"],
        strategy=stored["strategy"],
        options=stored["options"],
        created_at=datetime.fromisoformat(stored["created_at"]),
        seeds=tuple(
            SeedRecord(**{**seed, "stream": Stream(seed["stream"])}) for seed in stored["seeds"]
        ),
        waves=tuple(
            Wave(**{**wave, "arcs": tuple(WaveArc(**arc) for arc in wave["arcs"])})
            for wave in stored["waves"]
        ),
        hits=tuple(
            TracedHit(
                **{
                    **hit,
                    "episode": EpisodeId(hit["episode"]),
                    "path": tuple(PathStep(**step) for step in hit["path"]),
                }
            )
            for hit in stored["hits"]
        ),
        truncated=stored["truncated"],
        cypher=stored["cypher"],
    )
