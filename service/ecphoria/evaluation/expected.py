"""The mini set against the figures it must give."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import yaml

from ecphoria.evaluation.report import Report

__all__ = ["TOLERANCE", "Check", "check", "expected", "spelled"]

TOLERANCE = 0.0005
"""Largest distance from an expected figure: they are kept to four places."""

Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Value by suite, strategy and measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One figure beside what it must be; `found` is None if it was not measured."""

    suite: str
    strategy: str
    measure: str
    expected: float
    found: float | None

    @property
    def holds(self) -> bool:
        """Whether they agree."""
        return self.found is not None and abs(self.found - self.expected) <= TOLERANCE


def expected() -> Figures:
    """Read the shipped figures."""
    text = (files("ecphoria.evaluation") / "expected" / "mini.yaml").read_text(encoding="utf-8")
    found: Figures = yaml.safe_load(text)
    return found


def check(wanted: Figures, report: Report) -> list[Check]:
    """Compare every figure that is expected of this suite."""
    given = _measured(report)
    return [
        Check(
            suite=report.suite,
            strategy=strategy,
            measure=measure,
            expected=value,
            found=given.get(strategy, {}).get(measure),
        )
        for strategy, measures in wanted.get(report.suite, {}).items()
        for measure, value in measures.items()
    ]


def spelled(reports: list[Report]) -> str:
    """Write figures as the file of expected ones has them."""
    return yaml.safe_dump(
        {
            report.suite.value: {
                strategy: {name: round(value, 4) for name, value in measures.items()}
                for strategy, measures in _measured(report).items()
            }
            for report in reports
        },
        sort_keys=False,
    )


def _measured(report: Report) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, one in report.strategies.items():
        told = dict(one.measures)
        if one.abstention is not None:
            told["auroc"] = one.abstention.auroc
        found[name] = {measure: value for measure, value in told.items() if value is not None}
    return found
