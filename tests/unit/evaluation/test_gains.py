"""What the default adds to the best baseline, and where it adds least."""

import pytest

from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.report import gains, worst_first
from ecphoria_eval.rows import Row


def rows(strategy: str, found: dict[str, bool]) -> list[Row]:
    """Each question is named by its kind; category 1 if its name is early in the alphabet."""
    return [
        Row(
            strategy=strategy,
            collection="c",
            question=kind,
            category="1" if kind < "m" else "4",
            kind=kind,
            gold=("a",),
            ranked=("a",) if hit else ("b",),
        )
        for kind, hit in found.items()
    ]


def test_the_gain_is_over_the_best_baseline_of_the_same_questions() -> None:
    of = {
        "ecphoria": rows("ecphoria", {"dates": True, "facts": False, "order": True, "wish": True}),
        "dense": rows("dense", {"dates": False, "facts": True, "order": False, "wish": True}),
        "fusion": rows("fusion", {"dates": True, "facts": False, "order": False, "wish": False}),
        "ppr": rows("ppr", {"dates": True, "facts": True, "order": True, "wish": True}),
    }
    found = gains(of, "ecphoria", Suite.CHATS)
    assert found is not None
    assert (found.measure, found.n, found.best) == ("recall@10", 4, "dense")
    assert found.gain == pytest.approx(0.25)
    assert [(kind, one.gain) for kind, one in found.by_kind.items()] == [
        ("facts", -1.0), ("dates", 0.0), ("wish", 0.0), ("order", 1.0),
    ]  # fmt: skip
    assert found.by_kind["dates"].best == "fusion"
    assert [(name, one.gain) for name, one in found.by_category.items()] == [
        ("1", 0.0), ("4", 0.5),
    ]  # fmt: skip
    assert list(worst_first({"order": 1, "new": 2, "facts": 3}, found.by_kind)) == [
        "facts", "order", "new",
    ]  # fmt: skip


def test_pools_are_compared_at_five() -> None:
    of = {name: rows(name, {"a": True}) for name in ("ecphoria", "dense")}
    found = gains(of, "ecphoria", Suite.PASSAGES)
    assert found is not None
    assert found.measure == "recall@5"


def test_without_a_baseline_there_is_no_gain() -> None:
    of = {name: rows(name, {"a": True}) for name in ("ecphoria", "ppr")}
    assert gains(of, "ecphoria", Suite.CHATS) is None
    assert gains({"dense": of["ppr"]}, "ecphoria", Suite.CHATS) is None
