"""Between what is stored and the kernel: instants, decisions, what is kept and what is shown."""

from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.facts.timelines import DEFAULTS, class_of, effective, lay_out, relation, rows_of
from ecphoria.records.fact import (
    UNENDING,
    Decision,
    FactKey,
    KeyRecord,
    PredicateClass,
    Ruling,
    Standing,
    StoredClaim,
    StoredFact,
)
from ecphoria.records.ids import EpisodeId, FactId

START = datetime(2024, 1, 1, tzinfo=UTC)
KEY = FactKey(subject="ana", relation="lives in")


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def fact(name: str, *, negated: bool = False) -> StoredFact:
    return StoredFact(
        id=FactId(name), subject="ana", predicate="lives in", object=name.removeprefix("no "),
        qualifier="", negated=negated,
    )  # fmt: skip


def claim(name: str, at: int, recorded: int | None = None, **more: object) -> StoredClaim:
    given = {"valid_from": None, "valid_to": None, "reliability": 0.9, **more}
    return StoredClaim(
        fact=FactId(name), episode=EpisodeId(f"e{name}{at}"), occurred_at=day(at),
        recorded_at=day(at if recorded is None else recorded), **given,  # type: ignore[arg-type]
    )  # fmt: skip


def decision(number: int, ruling: Ruling, name: str, **more: object) -> Decision:
    return Decision(
        id=f"d{number}", number=number, recorded_at=day(number), ruling=ruling,
        fact=FactId(name), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def record(*claims: StoredClaim, decisions: tuple[Decision, ...] = ()) -> KeyRecord:
    names = sorted({one.fact for one in claims})
    facts = tuple(fact(name, negated=name.startswith("no ")) for name in names)
    return KeyRecord(key=KEY, facts=facts, claims=claims, decisions=decisions)


MOVED = record(claim("a", 0), claim("b", 10), claim("a", 20))


def test_a_fact_that_returns_keeps_both_spells() -> None:
    rows = {row.fact: row for row in rows_of(lay_out(MOVED, {}))}
    assert rows[FactId("a")].held_from == (day(0), day(20))
    assert rows[FactId("a")].held_until == (day(10), UNENDING)
    assert rows[FactId("a")].superseded_by is None
    assert rows[FactId("b")].superseded_by == "a"


def test_what_had_not_happened_or_was_not_known_is_not_looked_at() -> None:
    assert lay_out(MOVED, {}, happened_by=day(15)).held(day(15)) == {"b"}
    late = record(claim("a", 0, recorded=30), claim("b", 10))
    assert lay_out(late, {}, known_at=day(29)).held(day(5)) == frozenset()
    assert lay_out(late, {}, known_at=day(30)).held(day(5)) == {"a"}


def test_only_decisions_that_are_in_force_count() -> None:
    rows = (
        decision(1, Ruling.RETRACT, "b"),
        decision(2, Ruling.UNDO, "b", undoes="d1"),
        decision(3, Ruling.UNDO, "b", undoes="d2"),
    )
    assert [one.id for one in effective(rows)] == ["d1"]
    assert effective(rows, day(2)) == ()
    assert [one.id for one in effective(rows, day(1))] == ["d1"]
    judged = record(*MOVED.claims, decisions=rows)
    assert lay_out(judged, {}).held(day(15)) == {"a"}
    assert lay_out(judged, {}, known_at=day(20)).standing(1) is Standing.RETRACTED


def test_values_side_by_side_leave_nothing_to_keep() -> None:
    own = {"lives in": PredicateClass.MULTI}
    assert all(row.standing is None for row in rows_of(lay_out(MOVED, own)))
    denied = record(*MOVED.claims, claim("no a", 30))
    rows = {row.fact: row for row in rows_of(lay_out(denied, own))}
    assert rows[FactId("a")].held_until == (day(30),)
    assert rows[FactId("no a")].standing is Standing.DENIAL
    assert rows[FactId("b")].standing is Standing.HELD


def test_the_weaker_of_two_is_shown_with_less_confidence() -> None:
    history = lay_out(record(claim("a", 0), claim("b", 0, reliability=0.8)), {}).history(day(1))
    held, lost = history.facts
    assert held.standing is Standing.HELD
    assert held.confidence == pytest.approx(0.9)
    assert (lost.standing, lost.contested_by) == (Standing.CONTESTED, "a")
    assert lost.evidence == pytest.approx(0.8)
    assert lost.confidence == pytest.approx(0.24)


def test_predicates_have_one_spelling_and_a_class() -> None:
    assert relation(" Lives_In\n") == "lives in"
    assert all(relation(name) == name for name in DEFAULTS)
    assert class_of("lives in", {}) is PredicateClass.FUNCTIONAL
    assert class_of("born on", {}) is PredicateClass.IMMUTABLE
    assert class_of("tells jokes about", {}) is PredicateClass.MULTI
    assert class_of("lives in", {"lives in": PredicateClass.MULTI}) is PredicateClass.MULTI
