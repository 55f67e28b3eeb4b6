"""Store the traces of recalls, a bounded number per tenant.

A stored trace holds ids only: no text, title or name. A reader gets the current labels of the
nodes. So an erased episode leaves no copy in any trace.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.asked import ROLES
from ecphoria.records.episode import headline
from ecphoria.records.ids import TenantId, TraceId, derived_id
from ecphoria.records.recall import PathStep, Trace, TracedHit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    id: str
    title: str | None
    speaker: str | None
    text: str | None

    def to_read(self) -> str:
        return headline(self.title, self.speaker, self.text or "")


_DROPS_A_KEEP = 20  # a search for old traces costs more than saving one
# A trace keeps ids only, so an erased episode leaves no copy (docs/howto/erasing.md).
_LOOKED_UP = frozenset({"label"})
"""Fields that are not stored: they would be copies of what can be erased."""
_SAVE_TRACES = Statement("traces.save_traces", int)
_DROP_OLD_TRACES = Statement("traces.drop_old_traces", Done)
FIND_TRACE = Statement("traces.find_trace", Trace)
_LIST_LABELS = Statement("traces.list_labels", _Label)


class TraceStore:
    """Store of the traces of recalls."""

    def __init__(
        self, graph: Graph, keep: int, pending: Callable[[TenantId], None] = lambda _: None
    ) -> None:
        """Keep the newest `keep` traces of each tenant, temporarily up to a twentieth more.

        Args:
            graph: The store.
            keep: Number of traces.
            pending: Called with a tenant that learns, after its traces were stored.
        """
        self._graph = graph
        self._keep = keep
        self._pending = pending
        self._saved: Counter[TenantId] = Counter()

    async def save(self, tenant: TenantId, traces: Sequence[Trace]) -> None:
        """Store traces with WOKE and SEEDED edges; drop the oldest from time to time."""
        before = self._saved[tenant]
        self._saved[tenant] += len(traces)
        between = max(1, self._keep // _DROPS_A_KEEP)

        async def write(work: Work) -> int:
            # The statement locks the tenant, so no trace outlives an erasure, and marks traces of
            # tenants that learn (decisions 0008, 0015).
            (saved,) = await work.run(
                _SAVE_TRACES, tenant=tenant, traces=[_to_map(tenant, trace) for trace in traces]
            )
            if before // between != self._saved[tenant] // between:
                await work.run(_DROP_OLD_TRACES, tenant=tenant, keep=self._keep)
            return saved

        if await self._graph.change("traces.save", write):
            self._pending(tenant)

    async def find(self, tenant: TenantId, trace: TraceId) -> Trace:
        """Load a trace, with the current labels of its nodes; empty for erased ones.

        Raises:
            NotFound: No such trace in this tenant, or it was dropped.
        """
        found = await self._graph.run_one(FIND_TRACE, tenant=tenant, id=trace, pending_only=False)
        if found is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        rows = await self._graph.run(
            _LIST_LABELS, tenant=tenant, ids=_named(found), speaker=found.about
        )
        return _labelled(found, {row.id: row.to_read() for row in rows})


def _named(trace: Trace) -> list[str]:
    """List the nodes whose labels a reader gets."""
    steps = (step for hit in trace.hits for step in hit.path)
    nodes = {seed.node for seed in trace.seeds}.union(step.node for step in steps)
    return sorted(nodes | {trace.about} - {"", *ROLES})


def _labelled(trace: Trace, labels: Mapping[str, str]) -> Trace:
    def path(hit: TracedHit) -> tuple[PathStep, ...]:
        return tuple(replace(step, label=labels.get(step.node, "")) for step in hit.path)

    about = trace.about if trace.about in ROLES else labels.get(trace.about, "")
    return replace(
        trace,
        about=about,
        seeds=tuple(replace(seed, label=labels.get(seed.node, "")) for seed in trace.seeds),
        hits=tuple(replace(hit, path=path(hit)) for hit in trace.hits),
    )


def _to_map(tenant: TenantId, trace: Trace) -> dict[str, object]:
    return {
        "id": trace.id,
        "cue": trace.cue,
        "strategy": trace.strategy,
        "created_at": trace.created_at,
        "refused": trace.refused,
        "payload": json.dumps(
            replace(trace, about=_about(tenant, trace.about)), default=_to_json, ensure_ascii=False
        ),
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


def _about(tenant: TenantId, about: str) -> str:
    """Replace a speaker by its id; keep a role."""
    return about if about in {"", *ROLES} else derived_id(tenant, "speaker", about)


def _to_json(value: object) -> object:
    if is_dataclass(value):
        names = (field.name for field in fields(value))
        return {name: "" if name in _LOOKED_UP else getattr(value, name) for name in names}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a trace")
