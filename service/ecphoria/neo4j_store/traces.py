"""Store the traces of recalls, a bounded number per tenant.

A stored trace holds ids only: no text, title or name. A reader gets the current labels of the
nodes. So an erased episode leaves no copy in any trace.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.nodes import load_nodes
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.asked import ROLES
from ecphoria.records.episode import headline
from ecphoria.records.ids import EpisodeId, TenantId, TraceId, derived_id
from ecphoria.records.recall import PathStep, Trace, TracedHit, TraceSummary, Verdict
from ecphoria.records.tenant import sums_of
from ecphoria.records.traced import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A trace, and its first hit."""

    id: TraceId
    cue: str
    strategy: str
    created_at: datetime
    verdict: Verdict
    confidence: float
    first: EpisodeId | None
    title: str | None
    speaker: str | None
    text: str | None

    def to_summary(self) -> TraceSummary:
        label = headline(self.title, self.speaker, self.text or "")
        return TraceSummary(
            id=self.id,
            cue=self.cue,
            strategy=self.strategy,
            created_at=self.created_at,
            verdict=self.verdict,
            confidence=self.confidence,
            first=self.first,
            first_label=None if self.first is None else label,
        )


_LATEST = 10**17
"""An instant after every trace, in microseconds since 1970."""
_DROPS_A_KEEP = 20  # a search for old traces costs more than saving one
# A trace keeps ids only, so an erased episode leaves no copy (docs/howto/erasing.md).
_LOOKED_UP = {"label": "", "useful": None}
"""Fields that are not stored, as they can change, and what stands for them."""
_NOBODY = "someone"
"""The name of a speaker who was erased."""
_MANY = 500
"""Recalls after which older ones count half in the scale of the evidence, so that it follows."""
_SAVE_TRACES = Statement("traces.save_traces", int)
_DROP_OLD_TRACES = Statement("traces.drop_old_traces", Done)
FIND_TRACE = Statement("traces.find_trace", Trace)
_LIST_JUDGED = Statement("traces.list_judged", tuple[EpisodeId, bool])
_LIST_TRACES = Statement("traces.list_traces", _Row)


class TraceStore:
    """Store of the traces of recalls."""

    def __init__(
        self, graph: Graph, keep: int, pending: Callable[[TenantId], None] = lambda _: None
    ) -> None:
        """Keep the newest `keep` traces of each tenant, temporarily up to a twentieth more.

        `pending` is called with a tenant that learns, after its traces were stored.
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
                _SAVE_TRACES,
                tenant=tenant,
                traces=[_to_map(tenant, trace) for trace in traces],
                sums=sums_of((one.evidence, one.without) for one in traces if one.without),
                many=_MANY,
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
        named = sorted({found.about, *found.speakers} - {"", *ROLES})
        shown = await load_nodes(self._graph, tenant, _ids(found), named)
        judged = dict(await self._graph.run(_LIST_JUDGED, tenant=tenant, id=trace))
        hits = tuple(replace(hit, useful=judged.get(hit.episode)) for hit in found.hits)
        return _told(_with_labels(replace(found, hits=hits), shown.nodes), shown.speakers)

    async def read(self, tenant: TenantId, trace: Trace) -> Trace:
        """Give a trace that is not stored as `find` gives it."""
        shown = await load_nodes(self._graph, tenant, _ids(trace))
        return replace(_with_labels(trace, shown.nodes), speakers=())

    async def list(
        self,
        tenant: TenantId,
        *,
        limit: int,
        strategy: str | None = None,
        verdict: Verdict | None = None,
        after: tuple[int, str] | None = None,
    ) -> Sequence[TraceSummary]:
        """List traces, the newest first.

        `after` is the time in microseconds since 1970, and the id, of the last trace of the page
        before.
        """
        before, after_id = after or (_LATEST, "")
        rows = await self._graph.run(
            _LIST_TRACES,
            tenant=tenant,
            strategy=strategy,
            verdict=None if verdict is None else verdict.value,
            before=before,
            after_id=after_id,
            limit=limit,
        )
        return [row.to_summary() for row in rows]


def _ids(trace: Trace) -> list[str]:
    """List the nodes of seeds, arcs, marks and paths."""
    arcs = [arc for wave in trace.waves for arc in wave.arcs]
    marks = (mark.node for wave in trace.waves for mark in wave.marks)
    steps = (step.node for hit in trace.hits for step in hit.path)
    ends = (end for arc in arcs for end in (arc.tail, arc.head))
    hits = (hit.episode for hit in trace.hits)
    seeds = (seed.node for seed in trace.seeds)
    return sorted({*seeds, *ends, *marks, *steps, *hits} - {""})


def _with_labels(trace: Trace, nodes: tuple[Node, ...]) -> Trace:
    labels = {node.id: node.label for node in nodes}

    def path(hit: TracedHit) -> tuple[PathStep, ...]:
        return tuple(replace(step, label=labels.get(step.node, "")) for step in hit.path)

    return replace(
        trace,
        nodes=nodes,
        seeds=tuple(replace(seed, label=labels.get(seed.node, "")) for seed in trace.seeds),
        hits=tuple(replace(hit, path=path(hit)) for hit in trace.hits),
    )


def _told(trace: Trace, names: Mapping[str, str]) -> Trace:
    """Write the names of speakers for their ids."""
    about = trace.about if trace.about in ROLES else names.get(trace.about, "")
    told = {one: names.get(one, _NOBODY) for one in trace.speakers}
    return replace(
        trace,
        about=about,
        reasons=tuple(_replaced(reason, told) for reason in trace.reasons),
        speakers=(),
    )


def _hidden(tenant: TenantId, trace: Trace) -> Trace:
    """Write the ids of speakers for their names, so that no name outlives its speaker."""
    ids = {name: derived_id(tenant, "speaker", name) for name in trace.speakers}
    about = trace.about
    return replace(
        trace,
        about=about if about in {"", *ROLES} else derived_id(tenant, "speaker", about),
        reasons=tuple(_replaced(reason, ids) for reason in trace.reasons),
        speakers=tuple(ids.values()),
        nodes=(),
    )


def _replaced(text: str, words: Mapping[str, str]) -> str:
    """Replace words where they stand as a whole; the longest first."""
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: words[found[0]], text)


def _to_map(tenant: TenantId, trace: Trace) -> dict[str, object]:
    return {
        "id": trace.id,
        "cue": trace.cue,
        "strategy": trace.strategy,
        "created_at": trace.created_at,
        "refused": trace.verdict.refused,
        "verdict": trace.verdict.value,
        "confidence": trace.confidence,
        "payload": json.dumps(_hidden(tenant, trace), default=_to_json, ensure_ascii=False),
        "seeds": [
            {
                "node": seed.node,
                "energy": seed.energy,
                "weight": _to_weight(seed.energy),
                "stream": seed.stream.value,
            }
            for seed in sorted(trace.seeds, key=lambda seed: seed.node)
            if seed.energy > 0.0
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
        names = (field.name for field in fields(value))
        return {name: _LOOKED_UP.get(name, getattr(value, name)) for name in names}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a trace")
