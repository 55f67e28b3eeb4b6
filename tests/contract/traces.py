"""A trace with every field."""

from dataclasses import replace

from ecphoria.records.ids import TenantId, TraceId, fresh_id
from ecphoria.records.recall import PathStep, Trace, TracedHit, Verdict
from ecphoria.records.traced import (
    GateKind,
    Limits,
    Mark,
    SeedRecord,
    Stream,
    TracedFilters,
    Wave,
    WaveArc,
)
from tests.contract.memories import START, concept_id, episode_id

ANN = "Ann: Turn 1 was said."


def a_trace(tenant: TenantId, **changed: object) -> Trace:
    first, second = episode_id(tenant, "1"), episode_id(tenant, "2")
    rome = concept_id(tenant, "rome")
    step = PathStep(node=first, kind="episode", edge="text", label=ANN, energy=0.5)
    trace = Trace(
        id=TraceId(fresh_id()),
        cue="Was Rome meant? 東京 — “yes”",
        strategy="synapse",
        options={"fan": 15, "decay": 0.5, "gate": True, "name": "x"},
        created_at=START,
        seeds=(
            SeedRecord(node=first, kind="episode", stream=Stream.TEXT, label=ANN, energy=0.5),
            SeedRecord(node=rome, kind="concept", stream=Stream.NAME, label="Rome", energy=1.5),
        ),
        waves=(
            Wave(
                number=1,
                active=3,
                energy=1.25,
                arcs=(WaveArc(tail=first, head=second, edge="NEXT", weight=0.9, energy=0.4),),
                arcs_left_out=2,
                marks=(Mark(node=first, says="fired", value=0.12),),
            ),
        ),
        hits=(
            TracedHit(
                episode=second, rank=1, score=2.5, parts={"fused": 2.0, "act": 0.5}, path=(step,)
            ),
        ),
        truncated=False,
        cypher="MATCH (t:Trace) RETURN t",
        verdict=Verdict.REFUSE,
        confidence=0.25,
        judged_by=Limits(gate=GateKind.OWN, threshold=0.3, verify_below=0.5),
        evidence={"covered": 0.5},
        reasons=("no memory has the word pottery",),
        k=7,
        filters=TracedFilters(
            speaker="Bea",
            sessions=("one",),
            metadata={"stars": {"$gte": 4}, "kind": "note"},
            exclude=(second,),
            occurred_from=START,
        ),
        as_of=START,
    )
    return replace(trace, **changed)  # type: ignore[arg-type]  # each test names real fields
