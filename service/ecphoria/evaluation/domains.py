"""Several data sets in one run: a line a domain, the one with the smallest gain first."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.markup import escape
from rich.table import Table

from ecphoria.errors import BadFile
from ecphoria.evaluation.datasets.dataset import Suite
from ecphoria.evaluation.figures import HEADLINE
from ecphoria.evaluation.measures import mean
from ecphoria.evaluation.report import Report
from ecphoria.evaluation.rows import write_rows
from ecphoria.evaluation.run import Outcome

__all__ = ["Domain", "document", "domain_table", "domains", "write_domains"]


class Domain(BaseModel):
    """One data set in a line; what was not measured is None."""

    model_config = ConfigDict(frozen=True)

    name: str
    suite: Suite
    n: int
    measure: str
    default: float | None
    best: str | None
    best_value: float | None
    gain: float | None
    auroc: float | None
    auroc_taken_out: float | None
    ece: float | None
    ece_taken_out: float | None


def domains(reports: Mapping[str, Report]) -> list[Domain]:
    """Sum up each report; the smallest gain comes first, those without a gain last."""
    found = [_domain(name, report) for name, report in reports.items()]
    return sorted(found, key=lambda one: (one.gain is None, one.gain or 0.0, one.name))


def document(reports: Mapping[str, Report], rows: Mapping[str, str]) -> dict[str, object]:
    """Give what goes into the file of a run over several data sets.

    Args:
        reports: By name of the data set.
        rows: Name of the file of each one's rows.
    """
    found = domains(reports)
    measured = [one for one in found if one.gain is not None]
    return {
        "suite": "all",
        "domains": {one.name: reports[one.name].document(rows[one.name]) for one in found},
        "table": [one.model_dump(mode="json") for one in found],
        "worst": measured[0].model_dump(mode="json") if measured else None,
        "mean_gain": _mean([one.gain for one in found]),
    }


def write_domains(measured: Mapping[str, tuple[Report, Outcome]], out: Path) -> None:
    """Write one report of all, and beside it the rows of each data set.

    Raises:
        BadFile: A file cannot be written.
    """
    rows = {name: out.with_suffix(f".{name}.rows.jsonl") for name in measured}
    try:
        for name, (_, outcome) in measured.items():
            write_rows(rows[name], outcome.rows)
        content = document(
            {name: report for name, (report, _) in measured.items()},
            {name: path.name for name, path in rows.items()},
        )
        text = json.dumps(content, indent=2, ensure_ascii=False)
        out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{error.filename} cannot be written: {error.strerror}.") from error


def domain_table(found: Sequence[Domain]) -> Table:
    """One line a data set, and the mean of all last."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("domain", no_wrap=True)
    for name in (
        "n",
        "recall",
        "",
        "best baseline",
        "gain",
        "AUROC",
        "taken out",
        "ECE",
        "t. out",
    ):
        table.add_column(name, justify="right")
    for one in found:
        best = "" if one.best is None else f"{one.best} {_points(one.best_value)}"
        table.add_row(
            escape(one.name),
            f"{one.n:,}",
            f"R@{one.measure.partition('@')[2]}",
            _points(one.default),
            best,
            _signed(one.gain),
            *(_points(value) for value in _judged(one)),
        )
    table.add_section()
    table.add_row(
        "mean",
        "",
        "",
        _points(_mean([one.default for one in found])),
        _points(_mean([one.best_value for one in found])),
        _signed(_mean([one.gain for one in found])),
        *(_points(_mean(column)) for column in zip(*map(_judged, found), strict=True)),
        style="bold",
    )
    return table


def _domain(name: str, report: Report) -> Domain:
    own = report.strategies.get(report.default)
    judged = None if own is None else own.abstention
    without = None if judged is None else judged.taken_out
    measure = HEADLINE[report.suite][0]
    gain = report.gain
    return Domain(
        name=name,
        suite=report.suite,
        n=report.n,
        measure=measure,
        default=None if own is None else own.measures[measure],
        best=None if gain is None else gain.best,
        best_value=None if gain is None else gain.best_value,
        gain=None if gain is None else gain.gain,
        auroc=None if judged is None else judged.auroc,
        auroc_taken_out=None if without is None else without.auroc,
        ece=None if judged is None else judged.ece,
        ece_taken_out=None if without is None else without.ece,
    )


def _judged(one: Domain) -> tuple[float | None, ...]:
    return one.auroc, one.auroc_taken_out, one.ece, one.ece_taken_out


def _mean(values: Sequence[float | None]) -> float | None:
    return mean([one for one in values if one is not None])


def _points(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f}"
