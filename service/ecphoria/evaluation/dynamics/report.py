"""What a run of `eval dynamics` reports: JSON by the contract, and a table to read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rich.table import Table

__all__ = ["DynamicsReport", "Finding", "table", "write"]


class Finding(Protocol):
    """What a task found, a dataclass of figures."""

    bound: ClassVar[str]

    @property
    def holds(self) -> bool:
        """Whether the figures keep the bound."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicsReport:
    """One run."""

    version: str
    seed: int
    embedder: str
    engine: Mapping[str, str]
    findings: Mapping[str, Finding]

    @property
    def failed(self) -> tuple[str, ...]:
        """Tasks whose bound does not hold."""
        return tuple(name for name, one in self.findings.items() if not one.holds)


def write(report: DynamicsReport, target: Path) -> None:
    """Write the report as JSON."""
    told: dict[str, Any] = {
        "suite": "dynamics",
        "version": report.version,
        "seed": report.seed,
        "embedder": report.embedder,
        "engine": dict(report.engine),
    }
    target.write_text(json.dumps(told | _figures(report), indent=2) + "\n", encoding="utf-8")


def table(report: DynamicsReport) -> Table:
    """Say what each task found, and whether that is as it must be."""
    shown = Table(box=None, pad_edge=False)
    for column in ("task", "found", "must be", ""):
        shown.add_column(column, overflow="fold")
    for name, figures in _figures(report).items():
        finding = report.findings[name]
        found = ", ".join(f"{key} {_spoken(value)}" for key, value in figures.items())
        verdict = "yes" if finding.holds else "[error]no[/error]"
        shown.add_row(name, found, finding.bound, verdict)
    return shown


def _figures(report: DynamicsReport) -> dict[str, dict[str, Any]]:
    return {name: _spelled(asdict(one)) for name, one in report.findings.items()}  # type: ignore[call-overload]  # findings are dataclasses


def _spelled(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Use the contract's names: a field cannot be called `recall@10`."""
    return {
        name.replace("_at_", "@"): round(value, 6) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def _spoken(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
