"""Store the traces of recalls, a bounded number per tenant.

A record holds ids and no label: no text, title or name. Who reads it is told the labels that the
nodes have then. Erasing an episode therefore leaves no copy of it in any trace.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.episode import ROLES, headline
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import EpisodeId, TenantId, TraceId, derived_id
from ecphoria.records.recall import (
    Mark,
    PathStep,
    SeedRecord,
    Stream,
    Trace,
    TracedHit,
    Wave,
    WaveArc,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrace:
    """A trace as it is kept."""

    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    id: str
    title: str | None
    speaker: str | None
    text: str | None

    def to_read(self) -> str:
        return headline(self.title, self.speaker, self.text or "")


_DROPS_A_KEEP = 20  # looking for old traces costs more than saving one
_LOOKED_UP = frozenset({"label"})
"""Fields that are not stored: they would be copies of what can be erased."""
_SAVE_TRACES = Statement("traces.save_traces", _Saved)
_DROP_OLD_TRACES = Statement("traces.drop_old_traces", Done)
FIND_TRACE = Statement("traces.find_trace", StoredTrace)
_LIST_LABELS = Statement("traces.list_labels", _Label)


class TraceStore:
    """Store of the traces of recalls."""

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
                _SAVE_TRACES, tenant=tenant, traces=[_to_map(tenant, trace) for trace in traces]
            )
            if before // between != self._saved[tenant] // between:
                await work.run(_DROP_OLD_TRACES, tenant=tenant, keep=self._keep)
            return saved.pending

        if await self._graph.change("traces.save", write):
            self._pending(tenant)

    async def find(self, tenant: TenantId, trace: TraceId) -> Trace:
        """Load a trace, with the current labels of its nodes; empty for erased ones.

        Raises:
            NotFound: No such trace in this tenant, or it was dropped.
        """
        row = await self._graph.run_one(FIND_TRACE, tenant=tenant, id=trace, pending_only=False)
        if row is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        found = to_trace(json.loads(row.payload))
        rows = await self._graph.run(
            _LIST_LABELS, tenant=tenant, ids=_named(found), speaker=found.about
        )
        return _labelled(found, {row.id: row.to_read() for row in rows})


def _named(trace: Trace) -> list[str]:
    """List the nodes whose labels are shown to a reader."""
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
    """Keep a role, and of a speaker the id."""
    return about if about in {"", *ROLES} else derived_id(tenant, "speaker", about)


def _to_json(value: object) -> object:
    if is_dataclass(value):
        names = (field.name for field in fields(value) if field.name not in _LOOKED_UP)
        return {name: getattr(value, name) for name in names}
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
            SeedRecord(**{**seed, "stream": Stream(seed["stream"]), "label": ""})
            for seed in stored["seeds"]
        ),
        waves=tuple(_to_wave(wave) for wave in stored["waves"]),
        hits=tuple(
            TracedHit(
                **{
                    **hit,
                    "episode": EpisodeId(hit["episode"]),
                    "path": tuple(PathStep(**{**step, "label": ""}) for step in hit["path"]),
                }
            )
            for hit in stored["hits"]
        ),
        truncated=stored["truncated"],
        cypher=stored["cypher"],
        stimulation=_to_stimulation(stored.get("stimulation")),
        refused=stored.get("refused", False),
        about=stored.get("about", ""),
        names=tuple(stored.get("names", ())),
        expansions=tuple(stored.get("expansions", ())),
    )


def _to_wave(stored: Mapping[str, Any]) -> Wave:
    arcs = tuple(WaveArc(**arc) for arc in stored["arcs"])
    marks = tuple(Mark(**mark) for mark in stored.get("marks", ()))
    return Wave(**{**stored, "arcs": arcs, "marks": marks})


def _to_stimulation(stored: Mapping[str, Any] | None) -> Stimulation | None:
    return Stimulation(**stored) if stored else None
