"""Measures of a ranking against its gold, exact and pure; every one lies in 0..1.

A ranking that is empty, because the question failed or found nothing, scores 0.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from math import ceil, floor, log2

__all__ = [
    "all_at",
    "auroc",
    "hit_at",
    "mean",
    "ndcg_at",
    "official_recall_at",
    "percentile",
    "recall_at",
    "reciprocal_rank",
    "refusal_at",
]


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold that is among the first k.

    >>> recall_at(list("axybz"), {"a", "b"}, 3)
    0.5
    """
    return sum(one in gold for one in ranked[:k]) / len(gold)


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Give 1 if every gold is among the first k, else 0."""
    return float(set(gold) <= set(ranked[:k]))


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Give 1 if any gold is among the first k, else 0."""
    return float(any(one in gold for one in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Give 1 over the rank of the first gold, 0 if none was ranked."""
    return next((1.0 / rank for rank, one in enumerate(ranked, start=1) if one in gold), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Discount each gold by log2(1 + rank), over the same sum with all gold first.

    >>> round(ndcg_at(list("axybz"), {"a", "b"}, 5), 4)
    0.8772
    """
    gained = sum(1.0 / log2(1 + rank) for rank, one in enumerate(ranked[:k], 1) if one in gold)
    return gained / sum(1.0 / log2(1 + rank) for rank in range(1, min(len(gold), k) + 1))


def official_recall_at(ranked: Sequence[str], evidence: Sequence[str], k: int) -> float:
    """Score as LoCoMo's own code does: ids as written, repeats counted, no evidence scores 1."""
    if not evidence:
        return 1.0
    found = set(ranked[:k])
    return sum(one in found for one in evidence) / len(evidence)


def auroc(answerable: Sequence[float], adversarial: Sequence[float]) -> float | None:
    """Share of pairs in which the answerable question has the higher confidence; ties count half.

    >>> auroc([0.9, 0.6, 0.4], [0.5, 0.3]) == 5 / 6
    True
    """
    if not answerable or not adversarial:
        return None
    low = sorted(adversarial)
    won = sum(bisect_left(low, one) + bisect_right(low, one) for one in answerable)
    return won / (2 * len(answerable) * len(adversarial))


def refusal_at(
    answerable: Sequence[float], adversarial: Sequence[float], rate: float
) -> float | None:
    """Share of questions without an answer refused where at most `rate` of the others are.

    What lies below a threshold is refused; the threshold is the highest that keeps the rate.
    """
    if not answerable or not adversarial:
        return None
    ordered = sorted(answerable)
    allowed = floor(rate * len(ordered) + 1e-9)
    if allowed >= len(ordered):
        return 1.0
    return sum(one < ordered[allowed] for one in adversarial) / len(adversarial)


def mean(values: Sequence[float]) -> float | None:
    """Average, or nothing of nothing."""
    return sum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """Interpolate between the two values around a share of the sorted ones."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low, high = ordered[floor(place)], ordered[ceil(place)]
    return low + (high - low) * (place - floor(place))
