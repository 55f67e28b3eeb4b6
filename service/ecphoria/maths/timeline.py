"""Order claims on a timeline and decide which are valid.

Source: contradictions of NeuromemoryAI, which asks for "semantic opposition" and gives no
procedure; ours is this pure function. Claims may come in any order: all that decides is in them.

Instants are whole numbers of one unit; facts are numbered in the order of their ids.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

OPEN = 2**63 - 1
"""The end of what has not ended."""

# Evidence adds up over episodes; below this a fact is shown and has no effect, so a rumour does
# not date a move too early (docs/explanation/facts.md).
_ACCEPTED = 0.5 - 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposition:
    """A claim: its object by number, and whether it denies it."""

    object: int
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedClaim:
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
    said: Proposition
    start: int
    end: int
    recorded_at: int
    weight: float

    @property
    def order(self) -> tuple[int, float, int, int]:
        """Sort by time, then the better evidenced first."""
        return self.start, -self.weight, self.recorded_at, self.fact


def evidence(claims: Iterable[TimedClaim]) -> float:
    """Join evidence: `1 - prod (1 - reliability)` over distinct episodes, in [0, 1]; O(n log n).

    An episode that says it twice counts once, by its best word.

    >>> told = {"fact": 0, "start": 0, "recorded_at": 0, "reliability": 0.7}
    >>> two = [TimedClaim(episode=e, **told) for e in (1, 2)]
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
    stated: Sequence[Proposition],
    claims: Iterable[TimedClaim],
    intervals: Mapping[int, tuple[int, int]],
) -> list[Assertion]:
    """Combine claims into assertions that can decide, in order of time; O(n log n).

    Dated claims join those of the same beginning. Undated ones join in the order of time until
    they are enough, and the next begins anew, so that a value that is said again after another
    one has held is news. The fact begins with the first of the claims that were joined, or with
    the last if that is enough by itself: a rumour does not make an event earlier. `intervals` are
    the beginning and end of some facts, in place of what their claims say.
    """
    groups: dict[tuple[int, int], list[TimedClaim]] = {}
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

    claims: list[TimedClaim] = field(default_factory=list)
    doubt: float = 1.0
    before: float = 1.0

    def add(self, claim: TimedClaim) -> bool:
        """Take in the next claim in time, and tell whether they are enough now."""
        if not (self.claims and self.claims[-1].episode == claim.episode):
            self.before = self.doubt
        self.claims.append(claim)
        self.doubt = self.before * (1.0 - claim.reliability)
        return is_enough(1.0 - self.doubt)


def _order(claim: TimedClaim) -> tuple[int, int, int, float, int]:
    return claim.start, claim.recorded_at, claim.episode, claim.reliability, claim.end


def _end(group: Sequence[TimedClaim], start: int) -> int:
    """Take the end of the most reliable claim that states one, the last recorded of equals.

    What ended before the fact is said to begin was another time of it.
    """
    told = [claim for claim in group if start < claim.end < OPEN]
    best = max(told, key=lambda one: (one.reliability, one.recorded_at, one.end), default=None)
    return OPEN if best is None else best.end


_Losers = list[tuple[int, int]]
_Coexist = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulings:
    """The decisions of people.

    Attributes:
        retracted: Facts that count for nothing.
        together: Pairs of facts, the smaller number first, that do not end each other.
        intervals: Beginning and end of a fact, in place of all that its claims say.
    """

    retracted: frozenset[int] = frozenset()
    together: frozenset[tuple[int, int]] = frozenset()
    intervals: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def coexist(self, one: int, other: int) -> bool:
        """Tell whether two facts may hold at the same time."""
        return (min(one, other), max(one, other)) in self.together


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """A time in which a value held: [start, end).

    Attributes:
        facts: Those that say it; the first is the one that won.
        ended_by: The fact whose value came next, or that denied this one; -1 for none.
    """

    facts: tuple[int, ...]
    start: int
    end: int
    ended_by: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The timeline that claims give.

    Attributes:
        spells: By beginning, then fact.
        contested: Facts that lost to another of the same time, each with its winner.
        candidates: Facts without enough evidence to decide anything.
    """

    spells: tuple[Spell, ...]
    contested: tuple[tuple[int, int], ...]
    candidates: tuple[int, ...]

    def at(self, instant: int) -> tuple[int, ...]:
        """List the facts that held then."""
        held = (spell for spell in self.spells if spell.start <= instant < spell.end)
        return tuple(sorted({fact for spell in held for fact in spell.facts}))


def in_force(undoes: Sequence[int]) -> tuple[bool, ...]:
    """Tell which of a series of decisions count; an undo undone lets the first count again; O(n).

    In the order they were made, each gives the place of the decision that it undoes, or -1.

    >>> in_force([-1, 0, 1])
    (True, False, True)
    """
    undone: set[int] = set()
    for place in range(len(undoes) - 1, -1, -1):
        if place not in undone and undoes[place] >= 0:
            undone.add(undoes[place])
    return tuple(place not in undone for place in range(len(undoes)))


def timeline(
    kind: str, stated: Sequence[Proposition], claims: Sequence[TimedClaim], rulings: Rulings
) -> Timeline:
    """Lay the claims of one key out in time; O(n log n).

    `functional`: one value at a time; the latest beginning holds until the next, and of two that
    begin together the better evidenced. `immutable`: one value ever, the best evidenced. `multi`:
    values hold side by side. A negated fact ends the one it denies, and a later claim reopens it;
    what cannot change it cannot end. The claims are in any order.
    """
    counted = [claim for claim in claims if claim.fact not in rulings.retracted]
    if kind == "immutable":
        spells, contested, decided = _immutable(stated, counted, rulings)
    else:
        found = believed(stated, counted, rulings.intervals)
        decided = {assertion.fact for assertion in found}
        spells, contested = [], []
        for group in [found] if kind == "functional" else _by_value(found):
            some, lost = _walk(group, rulings.coexist)
            spells += some
            contested += lost
    return Timeline(
        spells=tuple(sorted(spells, key=lambda spell: (spell.start, spell.facts, spell.end))),
        contested=tuple(sorted(set(contested))),
        candidates=tuple(sorted({claim.fact for claim in counted} - decided)),
    )


def _by_value(found: Sequence[Assertion]) -> list[list[Assertion]]:
    groups: dict[int, list[Assertion]] = {}
    for assertion in found:
        groups.setdefault(assertion.said.object, []).append(assertion)
    return list(groups.values())


@dataclass(slots=True, kw_only=True)
class _Reign:
    """An open interval of a value; `said_at` is the latest time the value was stated."""

    value: int
    facts: list[int]
    start: int
    end: int
    said_at: int
    ended_by: int = -1

    @classmethod
    def of(cls, assertion: Assertion) -> "_Reign":
        return cls(
            value=assertion.said.object,
            facts=[assertion.fact],
            start=assertion.start,
            end=assertion.end,
            said_at=assertion.start,
        )

    def close(self, at: int, by: int) -> None:
        self.end = min(self.end, at)
        if self.ended_by < 0:
            self.ended_by = by

    def join(self, assertion: Assertion) -> None:
        """Extend the interval; the latest stated end counts."""
        if assertion.end < OPEN and assertion.start > self.said_at:
            self.end = assertion.end
        self.said_at = assertion.start
        if assertion.fact not in self.facts:
            self.facts.append(assertion.fact)

    def spell(self) -> Spell:
        return Spell(
            facts=tuple(self.facts), start=self.start, end=self.end, ended_by=self.ended_by
        )


def _walk(found: Sequence[Assertion], coexist: _Coexist) -> tuple[list[Spell], _Losers]:
    """Go through time once; `now` are the values that hold, one unless some stand together."""
    reigns: list[_Reign] = []
    now: list[_Reign] = []
    denied: dict[tuple[int, int], int] = {}
    contested: _Losers = []
    for assertion in found:
        now = [reign for reign in now if assertion.start < reign.end or reign.ended_by < 0]
        holding = [reign for reign in now if assertion.start < reign.end]
        same = next((reign for reign in holding if reign.value == assertion.said.object), None)
        if assertion.said.negated:
            if same is None:
                denied.setdefault((assertion.said.object, assertion.start), assertion.fact)
            elif same.said_at < assertion.start:
                same.close(assertion.start, assertion.fact)
                denied[assertion.said.object, assertion.start] = assertion.fact
            else:
                contested.append((assertion.fact, same.facts[0]))
        elif (assertion.said.object, assertion.start) in denied:
            contested.append((assertion.fact, denied[assertion.said.object, assertion.start]))
        elif same is not None:
            same.join(assertion)
        elif rival := _rival(holding, assertion, coexist):
            contested.append((assertion.fact, rival.facts[0]))
        else:
            now = _succeed(now, assertion, coexist)
            reigns.append(now[-1])
    return [reign.spell() for reign in reigns], contested


def _rival(holding: Sequence[_Reign], assertion: Assertion, coexist: _Coexist) -> _Reign | None:
    """Find the better evidenced value that was said of the same time."""
    return next(
        (
            r
            for r in holding
            if r.said_at == assertion.start and not coexist(r.facts[0], assertion.fact)
        ),
        None,
    )


def _succeed(now: Sequence[_Reign], assertion: Assertion, coexist: _Coexist) -> list[_Reign]:
    """Begin an interval, and end the intervals that cannot coexist with it."""
    for reign in now:
        if not coexist(reign.facts[0], assertion.fact):
            reign.close(
                assertion.start, assertion.fact if reign.value != assertion.said.object else -1
            )
    return [
        *(reign for reign in now if coexist(reign.facts[0], assertion.fact)),
        _Reign.of(assertion),
    ]


def _immutable(
    stated: Sequence[Proposition], claims: Sequence[TimedClaim], rulings: Rulings
) -> tuple[list[Spell], _Losers, set[int]]:
    """Let the best evidenced value hold for ever: time decides nothing here."""
    values: dict[Proposition, list[TimedClaim]] = {}
    for claim in claims:
        values.setdefault(stated[claim.fact], []).append(claim)
    ranked = [
        (said.negated, -weight, -min(c.recorded_at for c in some), sorted({c.fact for c in some}))
        for said, some in values.items()
        if is_enough(weight := evidence(some))
    ]
    spells: list[Spell] = []
    contested: _Losers = []
    for negated, _, _, facts in sorted(ranked):
        winners = [spell.facts[0] for spell in spells]
        if negated or not all(rulings.coexist(facts[0], w) for w in winners):
            contested += ((fact, winner) for fact in facts for winner in winners[:1])
            continue
        first = min(claim.start for claim in values[stated[facts[0]]])
        start, end = rulings.intervals.get(facts[0], (first, OPEN))
        spells.append(Spell(facts=tuple(facts), start=start, end=end))
    return spells, contested, {fact for *_, facts in ranked for fact in facts}
