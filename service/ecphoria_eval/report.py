"""The report of an evaluation, and its comparison with expected figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from ecphoria.errors import BadFile
from ecphoria.records.recall import RecallOptions
from ecphoria.wire.admin import ReadinessAnswer
from ecphoria_eval.datasets.dataset import Dataset, Suite, read_json
from ecphoria_eval.measures import (
    DEPTH,
    HEADLINE,
    MEASURES,
    Bucket,
    Difference,
    EqualCount,
    Figures,
    Measure,
    SessionMemory,
    by_similarity,
    difference,
    equal_counts,
    figures,
    mean,
    recall_at,
    session_memory,
)
from ecphoria_eval.rows import (
    UNCONSOLIDATED,
    WITHOUT,
    Row,
    read_rows,
    whole,
    write_json,
    write_rows,
)
from ecphoria_eval.run import Outcome

PLAIN: Final = ("dense", "lexical")
"""Searches by meaning and by words alone."""
BASELINES: Final = (*PLAIN, "fusion")
"""Strategies that the default must beat."""

T = TypeVar("T")


class Gain(BaseModel):
    """The default against the best baseline on the same questions."""

    model_config = ConfigDict(frozen=True)

    n: int
    default: float
    best: str
    best_value: float
    gain: float


class Gains(Gain):
    """The gain on all questions; slices stand with the smallest gain first."""

    measure: str
    by_category: dict[str, Gain]
    by_kind: dict[str, Gain]


def gains(of: Mapping[str, Sequence[Row]], default: str, suite: Suite) -> Gains | None:
    """Compare the default with the baselines; None if one side was not measured.

    Args:
        of: All rows, by strategy.
        default: Its name.
        suite: Says which measure: the first of its headline.
    """
    name = HEADLINE[suite][0]
    measure = MEASURES[suite][name]
    own = [row for row in of.get(default, ()) if row.scored]
    others = {
        one: [row for row in of[one] if row.scored]
        for one in BASELINES
        if one != default and of.get(one)
    }
    if not own or not others:
        return None
    whole = _gain(own, others, measure)
    return Gains(
        measure=name,
        **whole.model_dump(),
        by_category=_slices(own, others, measure, lambda row: row.category),
        by_kind=_slices(own, others, measure, lambda row: row.kind),
    )


def worst_first(entries: Mapping[str, T], order: Mapping[str, Gain]) -> dict[str, T]:
    """Sort entries by gain; entries without a gain come last."""
    known = {name: entries[name] for name in order if name in entries}
    return known | dict(entries)


def _slices(
    own: Sequence[Row],
    others: Mapping[str, Sequence[Row]],
    measure: Measure,
    slice_of: Callable[[Row], str],
) -> dict[str, Gain]:
    found = {
        name: _gain(
            [row for row in own if slice_of(row) == name],
            {one: [row for row in rows if slice_of(row) == name] for one, rows in others.items()},
            measure,
        )
        for name in {slice_of(row) for row in own} - {""}
    }
    return dict(sorted(found.items(), key=lambda pair: (pair[1].gain, pair[0])))


def _gain(own: Sequence[Row], others: Mapping[str, Sequence[Row]], measure: Measure) -> Gain:
    value = mean([measure(row) for row in own]) or 0.0
    means = {name: mean([measure(row) for row in rows]) or 0.0 for name, rows in others.items()}
    best = max(means, key=lambda name: means[name])
    return Gain(
        n=len(own), default=value, best=best, best_value=means[best], gain=value - means[best]
    )


class Ablation(BaseModel):
    """A strategy without one mechanism, and how it differs from the whole strategy."""

    model_config = ConfigDict(frozen=True)

    figures: Figures
    difference: dict[str, Difference]


class Report(BaseModel):
    """A run's figures; `document` spells them as the file does."""

    model_config = ConfigDict(frozen=True)

    suite: Suite
    version: str
    data: str
    data_sha256: str
    corpus_sha256: str | None
    openie_sha256: str | None = None
    engine: dict[str, str | None]
    embedder: str
    default: str
    k: int
    n: int
    n_adversarial: int
    findings: dict[str, int]
    gain: Gains | None = None
    strategies: dict[str, Figures]
    session_memory: dict[str, SessionMemory] = {}
    equal_count: dict[str, EqualCount] = {}
    by_similarity: dict[str, dict[str, Bucket]] = {}
    ablations: dict[str, Ablation]
    ingest: dict[str, int | float | None]
    consolidation: dict[str, float | None]

    def document(self, rows: str) -> dict[str, object]:
        """Build the content of the report file; `rows` names the file of the rows."""
        flat = self.model_dump(mode="json", exclude={"strategies", "ablations"})
        return flat | {
            "strategies": {name: row.entry() for name, row in self.strategies.items()},
            "ablations": {
                name: ablation.figures.entry()
                | {"difference": {of: gap.model_dump() for of, gap in ablation.difference.items()}}
                for name, ablation in self.ablations.items()
            },
            "rows": rows,
        }


class Stored(BaseModel):
    """The part of a report file that a comparison reads."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    suite: Suite
    data_sha256: str
    corpus_sha256: str | None = None
    rows: str | None = None

    @property
    def data(self) -> tuple[str | None, ...]:
        """The fields that are equal in two runs that can be compared."""
        return self.suite, self.data_sha256, self.corpus_sha256


def make_report(
    dataset: Dataset,
    outcome: Outcome,
    *,
    wanted: Sequence[str],
    default: str,
    version: str,
    service: ReadinessAnswer,
) -> Report:
    """Compute a report from the rows.

    Args:
        dataset: What was asked.
        outcome: What came of it.
        wanted: Names of the strategies; every other name among the rows is an ablation.
        default: The default strategy.
        version: Ours.
        service: Tells the engine and the embedder.
    """
    of: dict[str, list[Row]] = {}
    for row in outcome.rows:
        of.setdefault(row.strategy, []).append(row)
    apart = [name for name in of if name.startswith(WITHOUT) or name not in wanted]
    if apart and default in of and "fusion" in of and "fusion" not in apart:
        apart.append("fusion")
    gain = gains(of, default, dataset.suite)
    per_second = outcome.episodes / outcome.seconds if outcome.seconds else None
    return Report(
        suite=dataset.suite,
        version=version,
        data=dataset.source,
        data_sha256=dataset.sha256,
        corpus_sha256=dataset.corpus_sha256,
        openie_sha256=dataset.openie_sha256,
        engine={"neo4j": service.neo4j, "gds": service.gds},
        embedder=service.model,
        default=default,
        k=DEPTH[dataset.suite],
        n=sum(question.scored for question in dataset.questions),
        n_adversarial=sum(question.adversarial for question in dataset.questions),
        findings={**dataset.findings, **outcome.findings},
        gain=gain,
        strategies={
            name: _ordered(figures(of.get(name, []), dataset.suite), gain) for name in wanted
        },
        session_memory=_session_memory(of, wanted),
        equal_count=equal_counts({name: of.get(name, ()) for name in wanted}),
        by_similarity={
            name: by_similarity(of.get(name, ()), of["dense"]) for name in wanted if "dense" in of
        },
        ablations={
            name: Ablation(
                figures=figures(of[name], dataset.suite),
                difference=differences(of.get(whole(name, default), []), of[name], dataset.suite),
            )
            for name in apart
        },
        ingest={
            "episodes": outcome.episodes,
            "seconds": outcome.seconds,
            "episodes_per_second": per_second,
            "bytes_per_episode": None,
        },
        consolidation={
            "seconds": outcome.consolidation_s,
            "delta_recall@10": _recall_gain(of.get(UNCONSOLIDATED, []), of.get(default, [])),
        },
    )


def _session_memory(
    of: Mapping[str, Sequence[Row]], wanted: Sequence[str]
) -> dict[str, SessionMemory]:
    """Measure each strategy as CLS-M does; a plain search reaches no farther than itself."""
    both = [of[name] for name in PLAIN if of.get(name)]
    plain = both if len(both) == len(PLAIN) else []
    return {
        name: session_memory(of.get(name, ()), plain, budget=RecallOptions().token_budget)
        for name in wanted
    }


def _ordered(found: Figures, gain: Gains | None) -> Figures:
    """List categories and kinds with the default's smallest gain first."""
    if gain is None:
        return found
    ordered = {
        name: worst_first(entries, order)
        for name, entries, order in (
            ("by_category", found.by_category, gain.by_category),
            ("by_kind", found.by_kind, gain.by_kind),
        )
        if entries is not None
    }
    return found.model_copy(update=ordered)


def _recall_gain(before: Sequence[Row], after: Sequence[Row]) -> float | None:
    """Tell what consolidation adds to the default's recall; None if it was not asked before."""
    first = {row.key: row for row in before if row.scored}
    pairs = [(first[row.key], row) for row in after if row.scored and row.key in first]
    return mean(
        [recall_at(new.ranked, new.gold, 10) - recall_at(old.ranked, old.gold, 10)
         for old, new in pairs]
    )  # fmt: skip


def differences(
    before: Sequence[Row], after: Sequence[Row], suite: Suite
) -> dict[str, Difference]:
    """Compare the scored questions that both have, by the suite's headline measures."""
    first = {row.key: row for row in before if row.scored}
    second = {row.key: row for row in after if row.scored}
    both = [key for key in first if key in second]
    if not both:
        return {}
    return {
        name: difference(
            [MEASURES[suite][name](first[key]) for key in both],
            [MEASURES[suite][name](second[key]) for key in both],
            [owner for owner, _ in both],
        )
        for name in HEADLINE[suite]
    }


def rows_file(out: Path | None, rows: Path | None) -> Path | None:
    """Name the file of the rows: the one given, else one beside the report."""
    return rows or (out.with_suffix(".rows.jsonl") if out else None)


def write(report: Report, outcome: Outcome, out: Path | None, rows: Path | None) -> None:
    """Write the files; rows stand beside the report unless told otherwise.

    Raises:
        BadFile: A file cannot be written.
    """
    rows = rows_file(out, rows)
    if rows is not None:
        write_rows(rows, outcome.rows)
        if out is not None:
            write_json(out, report.document(_beside(rows, out)))


def read_report(path: Path) -> tuple[Stored, list[Row]]:
    """Read a report with its rows.

    Raises:
        BadFile: It is no report of recall, or its rows are missing.
    """
    content = read_json(path)
    try:
        stored = Stored.model_validate(content)
    except ValidationError as error:
        raise BadFile(f"{path.name} is not a report of recall by `ecphoria eval`.") from error
    if stored.rows is None:
        raise BadFile(f"{path.name} names no rows, so nothing can be paired.")
    return stored, list(read_rows(path.parent / stored.rows))


def _beside(rows: Path, out: Path) -> str:
    """Name the rows from the report's folder where they lie in it, else in full."""
    rows, folder = rows.resolve(), out.resolve().parent
    return str(rows.relative_to(folder)) if rows.is_relative_to(folder) else str(rows)


TOLERANCE = 0.0005
"""Largest distance from an expected figure: they are kept to four places."""

ExpectedFigures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Value by suite, strategy and measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A figure and its expected value; `found` is None if it was not measured."""

    suite: str
    strategy: str
    measure: str
    expected: float
    found: float | None

    @property
    def holds(self) -> bool:
        """Tell whether both agree."""
        return self.found is not None and abs(self.found - self.expected) <= TOLERANCE


def expected() -> ExpectedFigures:
    """Read the shipped figures."""
    text = (files("ecphoria_eval") / "expected" / "mini.yaml").read_text(encoding="utf-8")
    found: ExpectedFigures = yaml.safe_load(text)
    return found


def check(wanted: ExpectedFigures, report: Report) -> list[Check]:
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
    for name, row in report.strategies.items():
        told = dict(row.measures)
        if row.abstention is not None:
            told["auroc"] = row.abstention.auroc
        found[name] = {measure: value for measure, value in told.items() if value is not None}
    return found
