"""Plot recall by the number of hits, and the gain of each mechanism."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ecphoria_eval.measures import HEADLINE, recall_curve
from ecphoria_eval.report import Report
from ecphoria_eval.rows import WITHOUT, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SIZE = (7.0, 4.2)


def draw(report: Report, rows: Sequence[Row], out: Path) -> list[Path]:
    """Write SVG files beside the report; the same figures give the same bytes."""
    from matplotlib import rc_context  # noqa: PLC0415 (costly)

    written = []
    with rc_context({"svg.hashsalt": "ecphoria", "svg.fonttype": "none"}):
        drawings = [("recall", _by_k(report, rows))]
        if report.ablations:
            drawings.append(("ablation", _ablation(report)))
        for name, drawing in drawings:
            path = out.with_suffix(f".{name}.svg")
            drawing.savefig(path, metadata={"Date": None}, bbox_inches="tight")
            written.append(path)
    return written


def _by_k(report: Report, rows: Sequence[Row]) -> "Figure":
    figure = _figure()
    axes = figure.subplots()
    places = range(1, report.k + 1)
    for name in report.strategies:
        curve = recall_curve([row for row in rows if row.strategy == name], report.k)
        wide = 2.5 if name == report.default else 1.2
        axes.plot(places, [100 * value for value in curve], label=name, linewidth=wide)
    axes.set_xlabel("hits looked at")
    axes.set_ylabel("evidence found, %")
    axes.set_ylim(0, 100)
    axes.set_xlim(1, report.k)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="lower right")
    return figure


def _ablation(report: Report) -> "Figure":
    measure = HEADLINE[report.suite][0]
    found = sorted(
        (
            (_spoken(name), ablation.difference[measure])
            for name, ablation in report.ablations.items()
            if measure in ablation.difference
        ),
        key=lambda pair: (pair[1].mean, pair[0]),
    )
    figure = _figure()
    axes = figure.subplots()
    means = [100 * gap.mean for _, gap in found]
    spread = [
        [100 * (gap.mean - gap.questions[0]) for _, gap in found],
        [100 * (gap.questions[1] - gap.mean) for _, gap in found],
    ]
    axes.barh([name for name, _ in found], means, xerr=spread, color="#2a8c82", ecolor="#666666")
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel(f"{measure} without it, points, with 95 % intervals over questions")
    return figure


def _spoken(arm: str) -> str:
    return arm.replace(WITHOUT, "") if WITHOUT in arm else f"all, leaving {arm}"


def _figure() -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415 (costly)

    return Figure(figsize=_SIZE)
