"""Tables of a report, of the reports of several data sets, and of the comparison of two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ecphoria.errors import BadFile
from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.evaluate import Domain, mean_of_known
from ecphoria_eval.live import LIVE
from ecphoria_eval.measures import (
    HEADLINE,
    MEASURES,
    Abstention,
    Difference,
    Figures,
    Interval,
    TakenOut,
    mean,
)
from ecphoria_eval.report import Gain, Report, differences, read_report
from ecphoria_eval.rows import Row


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

    lines: tuple[Line, ...]
    alone: tuple[str, ...]
    unpaired: int


def compare(before: Path, after: Path) -> Comparison:
    """Pair the rows of two reports.

    Raises:
        BadFile: One is no report, they are of different data, or no strategy was asked the same
            question in both.
    """
    first, rows = read_report(before)
    second, others = read_report(after)
    if first.data != second.data:
        raise BadFile(f"{before.name} and {after.name} are reports of different data.")
    names = {row.strategy: None for row in rows}
    both = [name for name in names if any(row.strategy == name for row in others)]
    lines = tuple(
        line
        for name in both
        for line in _lines(name, _of(name, rows), _of(name, others), first.suite)
    )
    if not lines:
        raise BadFile(f"{before.name} and {after.name} share no strategy that was asked the same.")
    return Comparison(
        lines=lines,
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
    return {row.key for row in rows if row.scored}


def _mean(measure: str, rows: Sequence[Row], both: set[tuple[str, str]], suite: Suite) -> float:
    count = MEASURES[suite][measure]
    scored = [row for row in rows if row.scored and row.key in both]
    return mean([count(row) for row in scored]) or 0.0


_CATEGORIES: Mapping[Suite, Mapping[str, str]] = {
    Suite.LOCOMO: {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop"},
    Suite.CHATS: {"1": "several messages", "2": "time", "3": "hardly retrieval", "4": "one fact"},
}
_SHORT = {"recall": "R", "all": "all", "hit": "hit", "ndcg": "nDCG", "mrr": "MRR"}


def strategy_table(report: Report) -> Table:
    """One line a strategy: recall, refusal, latency."""
    table = _table("strategy")
    measures = next(iter(report.strategies.values())).measures if report.strategies else {}
    talk = report.suite.talk
    for name in (*map(_short, measures), *(("AUROC", "refused") if talk else ())):
        table.add_column(name, justify="right")
    for name in ("p50", "p95"):
        table.add_column(name, justify="right", style="dim")
    for name, figures in report.strategies.items():
        latency = (
            _ms(figures.latency_ms[f"without_encoding_{share}"]) for share in ("p50", "p95")
        )
        cells = [
            *map(_percent, figures.measures.values()),
            *(_refusal(figures) if talk else ()),
            *latency,
        ]
        table.add_row(name, *cells, style="bold" if name == report.default else "")
    return table


def verdict_table(report: Report) -> Table | None:
    """One line a strategy: the share its gate refused; None without unanswerable questions."""
    if not report.n_adversarial:
        return None
    table = _table("refused by the gate")
    for name in ("with an answer", "without one"):
        table.add_column(name, justify="right")
    for name, figures in report.strategies.items():
        if (judged := figures.abstention) is not None:
            refused = judged.refused
            table.add_row(name, _percent(refused.with_answer), _percent(refused.without_answer))
    return table


def equal_table(report: Report) -> Table | None:
    """One line a strategy: recall with as many hits as memories fire; None if nothing fires."""
    counted = {name: one for name, one in report.equal_count.items() if one.counted_by}
    if not counted:
        return None
    table = _table(f"as many hits as fire by {next(iter(counted.values())).counted_by}")
    for name in ("k", "ERC", "ERC-MG", "P@5", "P@10"):
        table.add_column(name, justify="right")
    for name, one in counted.items():
        k = "" if one.mean_k is None else f"{one.mean_k:.1f}"
        shares = (one.erc, one.erc_mg, one.precision["5"], one.precision["10"])
        table.add_row(name, k, *map(_percent, shares))
    return table


def gain_table(report: Report) -> Table | None:
    """One line a kind and a category of question, the default's smallest gain first."""
    if report.gain is None or not (report.gain.by_kind or report.gain.by_category):
        return None
    table = _table("questions")
    for name in ("n", f"{report.default} {_short(report.gain.measure)}"):
        table.add_column(name, justify="right")
    table.add_column("best baseline")
    for name in ("", "gain"):
        table.add_column(name, justify="right")
    names = _CATEGORIES.get(report.suite, {})
    for kind, gain in report.gain.by_kind.items():
        table.add_row(escape(kind), *_gain_cells(gain))
    if report.gain.by_kind:
        table.add_section()
    for category, gain in report.gain.by_category.items():
        table.add_row(escape(f"{category} {names.get(category, '')}".strip()), *_gain_cells(gain))
    return table


def refusal_table(judged: Abstention) -> Table:
    """A table of abstention by the default, one line for each kind of unanswerable questions."""
    table = _table("questions without an answer")
    for name in ("AUROC", *(f"at {float(rate):.1%}" for rate in judged.refusal_at_frr), "ECE"):
        table.add_column(name, justify="right")
    kinds: list[tuple[str, Abstention | TakenOut | None]] = [
        ("of the data", judged if judged.auroc is not None else None),
        ("evidence taken out", judged.taken_out),
    ]
    for name, one in kinds:
        if one is not None:
            refused = map(_percent, one.refusal_at_frr.values())
            table.add_row(name, _percent(one.auroc), *refused, _percent(one.ece))
    return table


def ablation_table(report: Report) -> Table:
    """One line a mechanism: the loss without it."""
    table = _table("ablation")
    told = next(iter(report.ablations.values())).difference if report.ablations else {}
    headline = [name for name in told if not name.startswith("all")]
    for name in headline:
        table.add_column(_short(name), justify="right")
        table.add_column("", justify="right")
    table.add_column("over questions", justify="right", style="dim")
    table.add_column("over collections", justify="right", style="dim")
    for name, ablation in report.ablations.items():
        cells = []
        for measure in headline:
            cells += [
                _percent(ablation.figures.measures[measure]),
                _signed(ablation.difference[measure].mean),
            ]
        first = ablation.difference[headline[0]] if headline else None
        table.add_row(name, *cells, *_intervals(first))
    return table


def live_table(report: Report) -> Table:
    """One line a replay: recall, and the gate on questions before and after their evidence."""
    table = _table("replay")
    replays = {
        "questions not stored": report.strategies[report.default],
        "questions and replies stored": report.ablations[LIVE].figures,
    }
    measures = HEADLINE[report.suite]
    for name in (*map(_short, measures), "AUROC", "ECE"):
        table.add_column(name, justify="right")
    for name, figures in replays.items():
        judged = figures.abstention and figures.abstention.taken_out
        gate = (_percent(judged.auroc), _percent(judged.ece)) if judged else ("", "")
        table.add_row(name, *(_percent(figures.measures[one]) for one in measures), *gate)
    return table


def comparison_table(found: Comparison) -> Table:
    """One line a strategy and measure: both figures and how sure their difference is."""
    table = _table("strategy")
    table.add_column("")
    for name in ("before", "after", "difference"):
        table.add_column(name, justify="right")
    for name in ("over questions", "over collections"):
        table.add_column(name, justify="right", style="dim")
    for line in found.lines:
        table.add_row(
            line.strategy,
            _short(line.measure),
            _percent(line.before),
            _percent(line.after),
            _signed(line.gap.mean),
            *_intervals(line.gap),
        )
    return table


def domain_table(found: Sequence[Domain]) -> Table:
    """One line a data set, and the mean of all last."""
    table = _table("domain")
    for name in (
        "n", "recall", "", "best baseline", "gain", "AUROC", "taken out", "ECE", "t. out",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for domain in found:
        best = "" if domain.best is None else f"{domain.best} {_percent(domain.best_value)}"
        table.add_row(
            escape(domain.name),
            f"{domain.n:,}",
            _short(domain.measure),
            _percent(domain.default),
            best,
            _signed(domain.gain),
            *(_percent(value) for value in _judged(domain)),
        )
    table.add_section()
    table.add_row(
        "mean",
        "",
        "",
        _percent(mean_of_known([domain.default for domain in found])),
        _percent(mean_of_known([domain.best_value for domain in found])),
        _signed(mean_of_known([domain.gain for domain in found])),
        *(_percent(mean_of_known(column)) for column in zip(*map(_judged, found), strict=True)),
        style="bold",
    )
    return table


def _table(first: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column(first, no_wrap=True)
    return table


def _refusal(figures: Figures) -> Sequence[str]:
    found = figures.abstention
    if found is None:
        return "", ""
    return _percent(found.auroc), _percent(found.refusal_at_frr["0.021"])


def _gain_cells(gain: Gain) -> tuple[str, ...]:
    return (
        f"{gain.n:,}",
        _percent(gain.default),
        gain.best,
        _percent(gain.best_value),
        _signed(gain.gain),
    )


def _judged(domain: Domain) -> tuple[float | None, ...]:
    return domain.auroc, domain.auroc_taken_out, domain.ece, domain.ece_taken_out


def _intervals(gap: Difference | None) -> tuple[str, str]:
    return (_interval(gap.questions), _interval(gap.collections)) if gap else ("", "")


def _interval(found: Interval | None) -> str:
    return f"{_signed(found[0])} to {_signed(found[1])}" if found else ""


def _short(measure: str) -> str:
    name, _, k = measure.partition("@")
    return _SHORT[name] + (f"@{k}" if k else "")


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f}"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"
