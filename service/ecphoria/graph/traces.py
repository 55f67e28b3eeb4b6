"""Keep the records of recalls, a bounded number per tenant, joined to what they woke."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from ecphoria.errors import NotFound
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.model.ids import EpisodeId, TenantId, TraceId
from ecphoria.model.recall import (
    Mark,
    PathStep,
    SeedRecord,
    Stimulation,
    Stream,
    Trace,
    TracedHit,
    Wave,
    WaveArc,
)

__all__ = ["StoredTrace", "Traces", "to_trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrace:
    """A trace as it is kept."""

    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    pending: int


_DROPS_A_KEEP = 20  # looking for old traces costs more than saving one
_SAVE_TRACES = Statement("traces.save_traces", _Saved)
_DROP_OLD_TRACES = Statement("traces.drop_old_traces", Done)
_FIND_TRACE = Statement("traces.find_trace", StoredTrace)


class Traces:
    """Where recalls leave their records; implements `ports.recall.TraceStore`."""

    def __init__(
        self, graph: Graph, keep: int, pending: Callable[[TenantId], None] = lambda _: None
    ) -> None:
        """Keep the newest `keep` traces of each tenant, for a while up to a twentieth more.

        Args:
            graph: Where.
            keep: How many.
            pending: Told a tenant that learns from traces just stored.
        """
        self._graph = graph
        self._keep = keep
        self._pending = pending
        self._saved: Counter[TenantId] = Counter()

    async def save(self, tenant: TenantId, traces: Sequence[Trace]) -> None:
        """Store traces with WOKE and SEEDED edges, now and then dropping the oldest."""
        before = self._saved[tenant]
        self._saved[tenant] += len(traces)
        between = max(1, self._keep // _DROPS_A_KEEP)

        async def write(work: Work) -> int:
            (saved,) = await work.run(
                _SAVE_TRACES, tenant=tenant, traces=[_to_map(one) for one in traces]
            )
            if before // between != self._saved[tenant] // between:
                await work.run(_DROP_OLD_TRACES, tenant=tenant, keep=self._keep)
            return saved.pending

        if await self._graph.change("traces.save", write):
            self._pending(tenant)

    async def find(self, tenant: TenantId, trace: TraceId) -> Trace:
        """Load a trace.

        Raises:
            NotFound: No such trace in this tenant, or it was dropped.
        """
        row = await self._graph.run_one(_FIND_TRACE, tenant=tenant, id=trace)
        if row is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        return to_trace(json.loads(row.payload))


def _to_map(trace: Trace) -> dict[str, object]:
    return {
        "id": trace.id,
        "cue": trace.cue,
        "strategy": trace.strategy,
        "created_at": trace.created_at,
        "refused": trace.refused,
        "payload": json.dumps(trace, default=_to_json, ensure_ascii=False),
        "seeds": [
            {
                "node": seed.node,
                "energy": seed.energy,
                "weight": _to_weight(seed.energy),
                "stream": seed.stream.value,
            }
            for seed in sorted(trace.seeds, key=lambda seed: seed.node)
        ],
        "hits": [
            {
                "episode": hit.episode,
                "rank": hit.rank,
                "score": hit.score,
                "weight": _to_weight(hit.score),
            }
            for hit in sorted(trace.hits, key=lambda hit: hit.episode)
        ],
    }


def _to_weight(value: float) -> float:
    return min(1.0, max(0.0, value))


def _to_json(value: object) -> object:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a trace")


def to_trace(stored: Mapping[str, Any]) -> Trace:
    """Read a trace's payload."""
    return Trace(
        id=TraceId(stored["id"]),
        cue=stored["cue"],
        strategy=stored["strategy"],
        options=stored["options"],
        created_at=datetime.fromisoformat(stored["created_at"]),
        seeds=tuple(
            SeedRecord(**{**seed, "stream": Stream(seed["stream"])}) for seed in stored["seeds"]
        ),
        waves=tuple(_to_wave(wave) for wave in stored["waves"]),
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
        stimulation=_to_stimulation(stored.get("stimulation")),
        refused=stored.get("refused", False),
        about=stored.get("about", ""),
    )


def _to_wave(stored: Mapping[str, Any]) -> Wave:
    arcs = tuple(WaveArc(**arc) for arc in stored["arcs"])
    marks = tuple(Mark(**mark) for mark in stored.get("marks", ()))
    return Wave(**{**stored, "arcs": arcs, "marks": marks})


def _to_stimulation(stored: Mapping[str, Any] | None) -> Stimulation | None:
    return Stimulation(**stored) if stored else None
