"""The figures of one strategy, from its rows and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pydantic import BaseModel, ConfigDict

from ecphoria.evaluation.abstention import Abstention, abstention
from ecphoria.evaluation.datasets.dataset import Suite
from ecphoria.evaluation.measures import (
    all_at,
    hit_at,
    mean,
    ndcg_at,
    official_recall_at,
    percentile,
    recall_at,
    reciprocal_rank,
)
from ecphoria.evaluation.rows import Row

__all__ = ["DEPTH", "HEADLINE", "MEASURES", "Figures", "Measure", "figures", "recall_curve"]

Measure = Callable[[Row], float]

DEPTH: Mapping[Suite, int] = {Suite.LOCOMO: 50, Suite.CHATS: 50, Suite.PASSAGES: 30}
"""Hits asked for; LoCoMo's own measure looks at 50."""

_OFFICIAL = (5, 10, 25, 50)
_PHASES = ("encode", "seeds", "subgraph", "spread", "rank")

_TALK_HEADLINE = ("recall@10", "all@10", "mrr")

HEADLINE: Mapping[Suite, tuple[str, ...]] = {
    Suite.LOCOMO: _TALK_HEADLINE,
    Suite.CHATS: _TALK_HEADLINE,
    Suite.PASSAGES: ("recall@5", "all@5", "mrr"),
}
"""Measures that differences are told in; the first is drawn."""


def _at(measure: Callable[[Sequence[str], Sequence[str], int], float], k: int) -> Measure:
    return partial(_cut, measure, k)


def _cut(measure: Callable[[Sequence[str], Sequence[str], int], float], k: int, row: Row) -> float:
    return measure(row.ranked, row.gold, k)


def _mrr(row: Row) -> float:
    return reciprocal_rank(row.ranked, row.gold)


_TALK_MEASURES: Mapping[str, Measure] = {
    "recall@5": _at(recall_at, 5),
    "recall@10": _at(recall_at, 10),
    "recall@30": _at(recall_at, 30),
    "all@10": _at(all_at, 10),
    "hit@10": _at(hit_at, 10),
    "ndcg@10": _at(ndcg_at, 10),
    "mrr": _mrr,
}

MEASURES: Mapping[Suite, Mapping[str, Measure]] = {
    Suite.LOCOMO: _TALK_MEASURES,
    Suite.CHATS: _TALK_MEASURES,
    Suite.PASSAGES: {
        "recall@2": _at(recall_at, 2),
        "recall@5": _at(recall_at, 5),
        "recall@10": _at(recall_at, 10),
        "all@5": _at(all_at, 5),
        "all@10": _at(all_at, 10),
        "ndcg@10": _at(ndcg_at, 10),
        "mrr": _mrr,
    },
}
"""What each suite reports, in order; means over the scored questions."""


class Figures(BaseModel):
    """One strategy's entry in the report, in which `measures` lie flat."""

    model_config = ConfigDict(frozen=True)

    measures: dict[str, float | None]
    by_category: dict[str, dict[str, float | int | None]] | None
    by_kind: dict[str, dict[str, float | int | None]] | None
    official: dict[str, float | None] | None
    abstention: Abstention | None
    latency_ms: dict[str, float | None]
    context_tokens: dict[str, float | None]
    failed: int

    def entry(self) -> dict[str, object]:
        """Spell it as the report does, without what the suite does not have."""
        rest = self.model_dump(exclude={"measures"}, exclude_none=False)
        if self.abstention is not None and self.abstention.taken_out is None:
            del rest["abstention"]["taken_out"]
        return self.measures | {name: value for name, value in rest.items() if value is not None}


def figures(rows: Sequence[Row], suite: Suite) -> Figures:
    """Compute everything the report says of a strategy.

    Args:
        rows: All of the strategy's rows, those of questions without an answer too.
        suite: Says which measures.
    """
    scored = [row for row in rows if row.scored]
    asked = [row for row in rows if not row.taken_out]
    answered = [row for row in asked if row.error is None]
    kinds = any(row.kind for row in scored)
    judged = abstention(rows)
    return Figures(
        measures={
            name: mean([measure(row) for row in scored])
            for name, measure in MEASURES[suite].items()
        },
        by_category=_by(lambda row: row.category, scored) if suite.talk else None,
        by_kind=_by(lambda row: row.kind, scored) if kinds else None,
        official=_official(asked) if suite.talk else None,
        abstention=judged if suite.talk or judged.taken_out else None,
        latency_ms=_latency(answered),
        context_tokens={"mean": mean([row.context_tokens for row in answered])},
        failed=sum(row.error is not None for row in rows),
    )


def recall_curve(rows: Sequence[Row], depth: int) -> list[float]:
    """Give mean recall at 1, 2, ... `depth`."""
    scored = [row for row in rows if row.scored]
    return [
        mean([recall_at(row.ranked, row.gold, k) for row in scored]) or 0.0
        for k in range(1, depth + 1)
    ]


def _by(
    slice_of: Callable[[Row], str], scored: Sequence[Row]
) -> dict[str, dict[str, float | int | None]]:
    found: dict[str, dict[str, float | int | None]] = {}
    for name in sorted({slice_of(row) for row in scored}):
        rows = [row for row in scored if slice_of(row) == name]
        found[name] = {
            "n": len(rows),
            "recall@10": mean([recall_at(row.ranked, row.gold, 10) for row in rows]),
        }
    return found


def _official(rows: Sequence[Row]) -> dict[str, float | None]:
    return {
        f"recall@{k}": mean(
            [official_recall_at(row.ranked, row.official or (), k) for row in rows]
        )
        for k in _OFFICIAL
    }


def _latency(rows: Sequence[Row]) -> dict[str, float | None]:
    """Summarise latencies; the service remembers vectors of recent cues.

    The first strategy that asks a question pays for its encoding, so the figures without it are
    those to compare strategies by.
    """
    whole = [row.latency_ms for row in rows]
    bare = [row.latency_ms - row.timings_ms.get("encode", 0.0) for row in rows]
    phases = {
        f"{phase}_p50": percentile([row.timings_ms.get(phase, 0.0) for row in rows], 0.5)
        for phase in _PHASES
    }
    return {
        "p50": percentile(whole, 0.5),
        "p95": percentile(whole, 0.95),
        "without_encoding_p50": percentile(bare, 0.5),
        "without_encoding_p95": percentile(bare, 0.95),
        **phases,
    }
