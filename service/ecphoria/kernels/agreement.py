"""How far two rankings of the same things agree.

All measures are symmetric, take each thing at most once in a ranking, and cost O(n).
"""

from collections.abc import Hashable, Sequence

__all__ = ["overlap", "rank_biased_overlap", "rank_difference", "same_first"]

Ranked = Sequence[Hashable]


def overlap(one: Ranked, other: Ranked) -> float:
    """Share of the longer ranking that the other holds too, 0 to 1; two empty ones agree.

    `|A & B| / max(|A|, |B|)`; with both cut at k and both full this is overlap at k.

    >>> overlap("abcd", "bcxy")
    0.5
    """
    _check(one, other)
    longest = max(len(one), len(other))
    return len(set(one) & set(other)) / longest if longest else 1.0


def same_first(one: Ranked, other: Ranked) -> bool:
    """Whether both begin with the same thing, or both are empty."""
    return list(one[:1]) == list(other[:1])


def rank_difference(one: Ranked, other: Ranked) -> float | None:
    """Mean absolute difference in rank of what both hold, in places; None if they share nothing.

    >>> rank_difference("abcd", "bcxa")
    1.6666666666666667
    """
    _check(one, other)
    place = {thing: rank for rank, thing in enumerate(other)}
    moved = [abs(rank - place[thing]) for rank, thing in enumerate(one) if thing in place]
    return sum(moved) / len(moved) if moved else None


def rank_biased_overlap(one: Ranked, other: Ranked, persistence: float = 0.9) -> float:
    """Expected agreement for a reader who goes on to the next rank with probability p, 0 to 1.

    With `X_d` things shared by the first d ranks, s <= l the lengths, and beyond the end the
    agreement that was seen there:
    `A_d = X_d / d` for d <= s, `(X_d + X_s (d - s) / s) / d` for s < d <= l,
    `RBO = (1 - p) sum_{d=1..l} p^(d-1) A_d + p^l A_l`
    (Webber, Moffat and Zobel 2010, equation 32). An empty ranking agrees with an empty one only.

    Args:
        one: A ranking, best first.
        other: Another one; lengths may differ.
        persistence: p in (0, 1); at .9 the first ten ranks carry 86 % of the weight.

    >>> round(rank_biased_overlap("abc", "bac", 0.5), 6)
    0.5
    """
    _check(one, other)
    if not 0 < persistence < 1:
        raise ValueError("persistence must lie between 0 and 1")
    short, long = sorted((one, other), key=len)
    if not short:
        return float(not long)
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    shared = shared_at_end = 0
    total, weight, agreement = 0.0, 1.0, 0.0
    for depth, thing in enumerate(long, start=1):
        seen_long.add(thing)
        if depth <= len(short):
            twin = short[depth - 1]
            seen_short.add(twin)
            shared += (twin in seen_long) + (thing in seen_short) - (twin == thing)
            shared_at_end = shared
            agreement = shared / depth
        else:
            shared += thing in seen_short
            beyond = shared_at_end * (depth - len(short)) / len(short)
            agreement = (shared + beyond) / depth
        total += (1 - persistence) * weight * agreement
        weight *= persistence
    return total + weight * agreement


def _check(*rankings: Ranked) -> None:
    for ranking in rankings:
        if len(set(ranking)) != len(ranking):
            raise ValueError("a ranking must hold each thing once")
