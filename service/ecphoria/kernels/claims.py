"""How much is said for a fact, and from when on it is enough to believe it.

Instants are whole numbers of one unit; facts are numbered in the order of their ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["OPEN", "Assertion", "Claim", "Stated", "believed", "evidence", "is_enough"]

OPEN = 2**63 - 1
"""The end of what has not ended."""

_ACCEPTED = 0.5 - 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What one fact says: its object by number, and whether it says that this is not so."""

    object: int
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One episode's word for a fact.

    Attributes:
        start: The stated beginning, else when the episode happened.
        end: The stated end, after `start`; else OPEN.
        dated: Whether the beginning was stated.
        reliability: [0, 1].
    """

    fact: int
    episode: int
    start: int
    recorded_at: int
    reliability: float
    end: int = OPEN
    dated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Claims that say the same of the same time, and are enough to believe it."""

    fact: int
    said: Stated
    start: int
    end: int
    recorded_at: int
    weight: float

    @property
    def order(self) -> tuple[int, float, int, int]:
        """Sort by time, then the better evidenced first."""
        return self.start, -self.weight, self.recorded_at, self.fact


def evidence(claims: Iterable[Claim]) -> float:
    """Join evidence: `1 - prod (1 - reliability)` over distinct episodes, in [0, 1]; O(n log n).

    An episode that says it twice counts once, by its best word.

    >>> two = [Claim(fact=0, episode=e, start=0, recorded_at=0, reliability=0.7) for e in (1, 2)]
    >>> round(evidence(two), 6)
    0.91
    """
    best: dict[int, float] = {}
    for claim in claims:
        best[claim.episode] = max(best.get(claim.episode, 0.0), claim.reliability)
    doubt = 1.0
    for reliability in sorted(best.values()):
        doubt *= 1.0 - reliability
    # Rounded, so that equal evidence is equal whatever it is made of.
    return round(1.0 - doubt, 12)


def is_enough(weight: float) -> bool:
    """Accept evidence of .5 and more.

    >>> is_enough(0.5), is_enough(0.3)
    (True, False)
    """
    return weight >= _ACCEPTED


def believed(
    stated: Sequence[Stated], claims: Iterable[Claim], intervals: Mapping[int, tuple[int, int]]
) -> list[Assertion]:
    """Join claims into what may decide, in order of time; O(n log n).

    Dated claims join those of the same beginning. Undated ones join in the order of time until
    they are enough, and the next begins anew, so that a value that is said again after another
    one has held is news. The fact begins with the first of the claims that were joined, or with
    the last if that is enough by itself: a rumour does not make an event earlier.

    Args:
        stated: What each fact says.
        claims: In any order.
        intervals: Beginning and end of some facts, in place of what their claims say.
    """
    groups: dict[tuple[int, int], list[Claim]] = {}
    runs: dict[int, _Run] = {}
    for claim in sorted(claims, key=_order):
        if claim.fact in intervals:
            groups.setdefault((claim.fact, intervals[claim.fact][0]), []).append(claim)
        elif claim.dated:
            groups.setdefault((claim.fact, claim.start), []).append(claim)
        elif runs.setdefault(claim.fact, _Run()).add(claim):
            enough = runs.pop(claim.fact).claims
            first = claim if is_enough(claim.reliability) else enough[0]
            groups.setdefault((claim.fact, first.start), []).extend(enough)
    found = [
        Assertion(
            fact=fact,
            said=stated[fact],
            start=start,
            end=intervals[fact][1] if fact in intervals else _end(group, start),
            recorded_at=min(claim.recorded_at for claim in group),
            weight=weight,
        )
        for (fact, start), group in groups.items()
        if is_enough(weight := evidence(group))
    ]
    return sorted(found, key=lambda one: one.order)


@dataclass(slots=True, kw_only=True)
class _Run:
    """Undated claims of a fact, from the first that was not enough."""

    claims: list[Claim] = field(default_factory=list)
    doubt: float = 1.0
    before: float = 1.0

    def add(self, claim: Claim) -> bool:
        """Take in the next claim in time, and tell whether they are enough now."""
        if not (self.claims and self.claims[-1].episode == claim.episode):
            self.before = self.doubt
        self.claims.append(claim)
        self.doubt = self.before * (1.0 - claim.reliability)
        return is_enough(1.0 - self.doubt)


def _order(claim: Claim) -> tuple[int, int, int, float, int]:
    return claim.start, claim.recorded_at, claim.episode, claim.reliability, claim.end


def _end(group: Sequence[Claim], start: int) -> int:
    """Take the end of the most reliable claim that states one, the last recorded of equals.

    What ended before the fact is said to begin was another time of it.
    """
    told = [claim for claim in group if start < claim.end < OPEN]
    best = max(told, key=lambda one: (one.reliability, one.recorded_at, one.end), default=None)
    return OPEN if best is None else best.end
