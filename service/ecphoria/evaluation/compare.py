"""Two reports of the same data, question by question."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ecphoria.errors import BadFile
from ecphoria.evaluation.bootstrap import Difference
from ecphoria.evaluation.datasets.dataset import Suite
from ecphoria.evaluation.figures import HEADLINE, MEASURES
from ecphoria.evaluation.measures import mean
from ecphoria.evaluation.report import Stored, differences, read_report
from ecphoria.evaluation.rows import Row

__all__ = ["Comparison", "Line", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One measure of one strategy in both."""

    strategy: str
    measure: str
    before: float
    after: float
    gap: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that both reports have.

    Attributes:
        alone: Strategies that only one of them has.
        unpaired: Questions that only one of them asked.
    """

    before: Stored
    after: Stored
    lines: tuple[Line, ...]
    alone: tuple[str, ...]
    unpaired: int


def compare(before: Path, after: Path) -> Comparison:
    """Pair the rows of two reports.

    Raises:
        BadFile: One is no report, or they are of different data.
    """
    first, rows = read_report(before)
    second, others = read_report(after)
    if (first.suite, first.data_sha256) != (second.suite, second.data_sha256):
        raise BadFile(f"{before.name} and {after.name} are reports of different data.")
    names = {row.strategy: None for row in rows}
    both = [name for name in names if any(row.strategy == name for row in others)]
    return Comparison(
        before=first,
        after=second,
        lines=tuple(
            line
            for name in both
            for line in _lines(name, _of(name, rows), _of(name, others), first.suite)
        ),
        alone=tuple(sorted({row.strategy for row in (*rows, *others)} - set(both))),
        unpaired=len(_asked(rows) ^ _asked(others)),
    )


def _lines(name: str, rows: Sequence[Row], others: Sequence[Row], suite: Suite) -> list[Line]:
    both = _asked(rows) & _asked(others)
    gaps = differences(rows, others, suite)
    return [
        Line(
            strategy=name,
            measure=measure,
            before=_mean(measure, rows, both, suite),
            after=_mean(measure, others, both, suite),
            gap=gaps[measure],
        )
        for measure in HEADLINE[suite]
        if measure in gaps
    ]


def _of(name: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.strategy == name]


def _asked(rows: Sequence[Row]) -> set[tuple[str, str]]:
    return {(row.collection, row.question) for row in rows if row.scored}


def _mean(measure: str, rows: Sequence[Row], both: set[tuple[str, str]], suite: Suite) -> float:
    count = MEASURES[suite][measure]
    scored = [row for row in rows if row.scored and (row.collection, row.question) in both]
    return mean([count(row) for row in scored]) or 0.0
