"""Measures of ranked lists and of abstention, with bootstrap intervals.

A ranking that is empty, because the question failed or found nothing, scores 0.

Efron's percentile method on paired differences. Questions of one conversation are alike, so the
interval over collections is the honest one for data nobody has seen.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import inf, log2

import numpy as np
from pydantic import BaseModel, ConfigDict

from ecphoria.calibration.separation import auroc, calibration_error, refusal_at, reliability_bins
from ecphoria.maths.arrays import FloatArray
from ecphoria.records.calibration import Bin
from ecphoria.records.recall import Verdict
from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.rows import Row


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold that is among the first k.

    >>> recall_at(list("axybz"), {"a", "b"}, 3)
    0.5
    """
    return sum(item in gold for item in ranked[:k]) / len(gold)


def precision_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of gold among the first k; a missing hit counts as wrong.

    >>> precision_at(list("axb"), {"a", "b"}, 4)
    0.5
    """
    return sum(item in gold for item in ranked[:k]) / k


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Give 1 if every gold is among the first k, else 0."""
    return float(set(gold) <= set(ranked[:k]))


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Give 1 if any gold is among the first k, else 0."""
    return float(any(item in gold for item in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Give 1 over the rank of the first gold, 0 if none was ranked."""
    return next((1.0 / rank for rank, item in enumerate(ranked, start=1) if item in gold), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Discount each gold by log2(1 + rank), over the same sum with all gold first.

    >>> round(ndcg_at(list("axybz"), {"a", "b"}, 5), 4)
    0.8772
    """
    gained = sum(1.0 / log2(1 + rank) for rank, item in enumerate(ranked[:k], 1) if item in gold)
    return gained / sum(1.0 / log2(1 + rank) for rank in range(1, min(len(gold), k) + 1))


def official_recall_at(ranked: Sequence[str], evidence: Sequence[str], k: int) -> float:
    """Score as LoCoMo's own code does: ids as written, repeats counted, no evidence scores 1."""
    if not evidence:
        return 1.0
    found = set(ranked[:k])
    return sum(item in found for item in evidence) / len(evidence)


def mean(values: Sequence[float]) -> float | None:
    """Average, or nothing of nothing."""
    return sum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Interpolate between the two values around a share of the sorted ones."""
    if not values:
        return None
    return float(np.quantile(values, share))


SEED = 20_250
_DRAWS = 10_000
_AT_ONCE = 500

Interval = tuple[float, float]


class Difference(BaseModel):
    """A mean difference with 95 % intervals."""

    model_config = ConfigDict(frozen=True)

    mean: float
    questions: Interval
    """Over questions."""
    collections: Interval | None
    """Over whole conversations or pools; None with a single one."""


def difference(
    before: Sequence[float], after: Sequence[float], owners: Sequence[str], *, seed: int = SEED
) -> Difference:
    """Compare two lists of scores of the same questions.

    Args:
        before: Score of each question; not empty.
        after: Score of each question, in the same order.
        owners: The collection of each question.
        seed: Of the draws; the same data and seed give the same intervals.
    """
    gain = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    names, place = np.unique(np.asarray(owners), return_inverse=True)
    sums = np.bincount(place, weights=gain).astype(np.float64)
    sizes = np.bincount(place).astype(np.float64)
    several = len(names) > 1
    return Difference(
        mean=float(gain.mean()),
        questions=_interval(gain, np.ones(gain.size), seed),
        collections=_interval(sums, sizes, seed) if several else None,
    )


def _interval(sums: FloatArray, sizes: FloatArray, seed: int) -> Interval:
    """Draw units with replacement; each mean weighs a unit by its size."""
    from scipy.stats import bootstrap  # noqa: PLC0415 (costly)

    if sums.size == 1:
        return (only := float(sums[0] / sizes[0])), only
    found = bootstrap(
        (sums, sizes),
        lambda drawn, size, axis: drawn.sum(axis=axis) / size.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=_DRAWS,
        batch=_AT_ONCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


_FALSE_REFUSALS = ("0.021", "0.05", "0.10")


class TakenOut(BaseModel):
    """Questions with their evidence in the store against the same questions without it."""

    model_config = ConfigDict(frozen=True)

    n: int
    auroc: float | None
    refusal_at_frr: dict[str, float | None]
    ece: float | None
    reliability: list[Bin]


class Refused(BaseModel):
    """Shares of the questions that the gate refused."""

    model_config = ConfigDict(frozen=True)

    with_answer: float | None
    without_answer: float | None


class Abstention(BaseModel):
    """Questions with an answer compared with questions without one."""

    model_config = ConfigDict(frozen=True)

    refused: Refused
    auroc: float | None
    refusal_at_frr: dict[str, float | None]
    ece: float | None
    reliability: list[Bin]
    taken_out: TakenOut | None = None


def abstention(rows: Sequence[Row]) -> Abstention:
    """Judge the confidence of one strategy's rows.

    A question that failed refused nothing: it counts as the worst confidence, 0 where there is an
    answer and 1 where there is none.
    """
    present = {row.key: row.confidence for row in rows if row.scored}
    pairs = [
        (present[row.key], _confidence_without(row))
        for row in rows
        if row.taken_out and row.key in present
    ]
    yes = list(present.values())
    no = [_confidence_without(row) for row in rows if row.adversarial]
    return Abstention(
        refused=Refused(
            with_answer=mean([_is_refused(row) for row in rows if row.scored]),
            without_answer=mean([_is_refused(row) for row in rows if row.adversarial]),
        ),
        auroc=auroc(yes, no),
        refusal_at_frr=_refusals(yes, no),
        ece=calibration_error(yes, no),
        reliability=reliability_bins(yes, no),
        taken_out=_taken_out(pairs) if pairs else None,
    )


def _confidence_without(row: Row) -> float:
    return row.confidence if row.error is None else 1.0


def _is_refused(row: Row) -> bool:
    return row.verdict in {Verdict.REFUSE, Verdict.EMPTY}


def _taken_out(pairs: Sequence[tuple[float, float]]) -> TakenOut:
    present = [value for value, _ in pairs]
    without = [value for _, value in pairs]
    return TakenOut(
        n=len(pairs),
        auroc=auroc(present, without),
        refusal_at_frr=_refusals(present, without),
        ece=calibration_error(present, without),
        reliability=reliability_bins(present, without),
    )


def _refusals(yes: Sequence[float], no: Sequence[float]) -> dict[str, float | None]:
    return {rate: refusal_at(yes, no, float(rate)) for rate in _FALSE_REFUSALS}


class SessionMemory(BaseModel):
    """The measures of CLS-M 5.1 and 5.3, over the first ten hits, from labelled evidence."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    relevance: float | None
    """Share of the hits that are evidence."""
    efficiency: float | None
    """1 - tokens of the context / tokens of the budget; 0 of a question that failed."""
    retention: float | None
    """Share of the questions with all their evidence among the hits."""
    reach: float | None
    """Share of evidence among the hits that neither words nor meaning alone find; None if
    `dense` and `lexical` were not asked, or nothing else was found."""
    coverage: float | None
    """Share of the questions with any evidence among the hits."""
    precision: float | None
    """Mean over the questions: share of their hits that are evidence."""
    recall: float | None
    """Mean over the questions: share of their evidence among the hits."""
    f1: float | None
    """Mean over the questions: harmonic mean of both."""


_SHOWN = 10


def session_memory(
    rows: Sequence[Row], plain: Sequence[Sequence[Row]], *, budget: int
) -> SessionMemory:
    """Measure a strategy as CLS-M does, with evidence in place of a person's judgement.

    Args:
        rows: The strategy's.
        plain: Rows of each plain search, by words and by vector; its first ten are what it finds.
        budget: Tokens that the context may have.
    """
    scored = [row for row in rows if row.scored]
    found = [{row.key: set(row.ranked[:_SHOWN]) for row in one} for one in plain]
    farther = [
        (item in row.gold)
        for row in scored
        if all(row.key in one for one in found)
        for item in row.ranked[:_SHOWN]
        if not any(item in one[row.key] for one in found)
    ]
    hits = [item in row.gold for row in scored for item in row.ranked[:_SHOWN]]
    both = [_precision_and_recall(row) for row in scored]
    return SessionMemory(
        relevance=mean(hits),
        efficiency=mean(
            [1.0 - row.context_tokens / budget if row.error is None else 0.0 for row in scored]
        ),
        retention=mean([all_at(row.ranked, row.gold, _SHOWN) for row in scored]),
        reach=mean(farther) if plain else None,
        coverage=mean([hit_at(row.ranked, row.gold, _SHOWN) for row in scored]),
        precision=mean([precision for precision, _ in both]),
        recall=mean([recall for _, recall in both]),
        f1=mean([_harmonic_mean(precision, recall) for precision, recall in both]),
    )


def _precision_and_recall(row: Row) -> tuple[float, float]:
    shown = row.ranked[:_SHOWN]
    precision = precision_at(shown, row.gold, len(shown)) if shown else 0.0
    return precision, recall_at(shown, row.gold, _SHOWN)


def _harmonic_mean(one: float, other: float) -> float:
    return 2.0 * one * other / (one + other) if one + other else 0.0


class EqualCount(BaseModel):
    """Measures of SynapticRAG 4.3: precision, and recall with as many hits as memories fire."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    counted_by: str | None
    """The strategy whose fired memories give the number of hits, k; None if nothing fires."""
    erc: float | None
    """Share of the gold among the first k hits."""
    erc_mg: float | None
    """The same with at least as many hits as there is gold, except for `counted_by` itself."""
    mean_k: float | None
    """Mean of k."""
    precision: dict[str, float | None]
    """Share of gold among the first 3 to 12 hits; missing hits count as wrong."""


_PRECISION_AT = range(3, 13)


def equal_counts(of: Mapping[str, Sequence[Row]]) -> dict[str, EqualCount]:
    """Compare strategies at the number of memories that one of them returns by firing.

    Args:
        of: The rows of each strategy; the first in which memories fire gives the number.
    """
    counter = next((name for name in of if any(row.fired is not None for row in of[name])), None)
    fired = {
        row.key: row.fired or 0 for row in (() if counter is None else of[counter]) if row.scored
    }
    return {name: _equal_count(name, rows, counter, fired) for name, rows in of.items()}


def _equal_count(
    name: str, rows: Sequence[Row], counter: str | None, fired: Mapping[tuple[str, str], int]
) -> EqualCount:
    scored = [row for row in rows if row.scored]
    pairs = [(row, fired[row.key]) for row in scored if row.key in fired]
    least = [(row, k if name == counter else max(k, len(set(row.gold)))) for row, k in pairs]
    return EqualCount(
        counted_by=counter,
        erc=mean([recall_at(row.ranked, row.gold, k) for row, k in pairs]),
        erc_mg=mean([recall_at(row.ranked, row.gold, k) for row, k in least]),
        mean_k=mean([k for _, k in pairs]),
        precision={
            str(k): mean([precision_at(row.ranked, row.gold, k) for row in scored])
            for k in _PRECISION_AT
        },
    )


class Bucket(BaseModel):
    """Recall of the questions whose evidence is at most so similar to them."""

    model_config = ConfigDict(frozen=True)

    n: int
    recall_at_10: float | None


_SIMILARITY = {"all": inf, "0.5": 0.5, "0.3": 0.3}
"""The thresholds of SYNAPSE's table 9."""


def by_similarity(rows: Sequence[Row], dense: Sequence[Row]) -> dict[str, Bucket]:
    """Sort a strategy's questions by the cosine between question and nearest evidence.

    Args:
        rows: The strategy's.
        dense: Rows of `dense`: their scores are cosines; evidence that they do not list counts
            with their last cosine.
    """
    near = {row.key: _nearest(row) for row in dense if row.scores}
    scored = [(row, near[row.key]) for row in rows if row.scored and row.key in near]
    buckets = {
        name: [row for row, cosine in scored if cosine <= most]
        for name, most in _SIMILARITY.items()
    }
    return {
        name: Bucket(
            n=len(found), recall_at_10=mean([recall_at(row.ranked, row.gold, 10) for row in found])
        )
        for name, found in buckets.items()
    }


def _nearest(row: Row) -> float:
    pairs = zip(row.ranked, row.scores, strict=True)
    return max((score for item, score in pairs if item in row.gold), default=row.scores[-1])


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
"""The measures of each suite, in order; means over the scored questions."""


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
        """Convert to the form of the report, without absent figures."""
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
