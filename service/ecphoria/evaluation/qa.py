"""Ask the questions of a data set for answers in words, and score them.

The figures are those of the service and of its language model together, so a report always names
the model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ecphoria.client import AsyncClient
from ecphoria.errors import EcphoriaError, InvalidInput, ModelUnavailable
from ecphoria.evaluation.answers import bleu_1, exact_match, f1, locomo_f1
from ecphoria.evaluation.datasets.dataset import Collection, Dataset, Question
from ecphoria.evaluation.run import LONGEST_READING_S, Connect, Watch, batches, own_tenant
from ecphoria.records.ask import CitedAnswer

ALL = "all"
UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A question and the scores of its answer.

    Attributes:
        category: As the data names it.
        answered: Whether there was an answer.
        right: Of a question without an answer, whether none was given; else the exact match.
        tokens: Tokens that the model read and wrote.
        failed: Whether the model gave nothing usable; it counts as no answer.
    """

    category: str
    said: str
    answered: bool
    right: float
    f1: float
    locomo_f1: float
    bleu_1: float
    tokens: int
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Means over the questions of a category.

    Attributes:
        answered: Share with an answer.
        exact: Exact match by HotpotQA's rules; of unanswerable questions the share without answer.
        f1: F1 by HotpotQA's rules.
        locomo_f1: F1 by LoCoMo's rules.
        bleu_1: BLEU-1.
        tokens: Tokens a question.
        failed: Number of questions for which the model gave nothing usable.
    """

    questions: int
    answered: float
    exact: float
    f1: float
    locomo_f1: float
    bleu_1: float
    tokens: float
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """The figures of a data set, by category and of all questions.

    Attributes:
        model: Name of the language model.
        unscored: Questions that the data has no answer for.
    """

    source: str
    sha256: str
    model: str
    categories: Mapping[str, Figures]
    unscored: int

    def to_json(self) -> dict[str, object]:
        """Write it as plain values."""
        return asdict(self)


async def measure_answers(
    dataset: Dataset,
    connect: Connect,
    watch: Watch,
    *,
    name: str,
    model: str,
    steps: Sequence[str] | None = None,
) -> AnswerReport:
    """Append each collection to a tenant of its own, ask, and erase it.

    Args:
        dataset: What to ask.
        connect: Opens a client.
        watch: Told the progress.
        name: Start of the tenants' names.
        model: The language model that the service is said to have.
        steps: Of consolidation before the questions; None for none.

    Raises:
        ModelMissing: The service has no language model.
        InvalidInput: It has another one.
        EcphoriaError: The service cannot be used.
    """
    scored: list[Scored] = []
    total = sum(len(_scorable(part)) for part in dataset.collections)
    for number, part in enumerate(dataset.collections, start=1):
        async with own_tenant(connect, f"{name}-{number}") as client:
            parts = batches(part)
            for place, batch in enumerate(parts, start=1):
                await client.append_batch([request for _, request in batch])
                watch(f"remembering {part.name}", place, len(parts))
            if steps is not None:
                await client.consolidate(steps=steps, timeout_s=LONGEST_READING_S)
            for question in _scorable(part):
                answer = await _asked(client, question)
                if isinstance(answer, CitedAnswer) and answer.model != model:
                    raise InvalidInput(
                        f"The service asks {answer.model}, not {model}; give the right name.",
                        field="model",
                    )
                scored.append(_score(question, answer))
                watch("asking", len(scored), total)
    return AnswerReport(
        source=dataset.source,
        sha256=dataset.sha256,
        model=model,
        categories=_by_category(scored),
        unscored=len(dataset.questions) - total,
    )


def _scorable(part: Collection) -> list[Question]:
    return [question for question in part.questions if question.answers or question.adversarial]


async def _asked(client: AsyncClient, question: Question) -> CitedAnswer | EcphoriaError:
    try:
        return await client.ask(question.text, brief=True, record=False)
    except ModelUnavailable as error:
        return error


def _score(question: Question, answer: CitedAnswer | EcphoriaError) -> Scored:
    is_said = isinstance(answer, CitedAnswer) and answer.answered
    said = answer.text if isinstance(answer, CitedAnswer) and is_said else ""
    tokens = answer.tokens if isinstance(answer, CitedAnswer) else 0
    wanted = question.answers
    if question.adversarial:
        right = float(not is_said)
        scores = (right, right, right, right)
    else:
        scores = (
            exact_match(said, wanted) if is_said else 0.0,
            f1(said, wanted),
            locomo_f1(said, wanted, question.category),
            bleu_1(said, wanted),
        )
    return Scored(
        category=UNANSWERABLE if question.adversarial else question.kind or question.category,
        said=said,
        answered=is_said,
        right=scores[0],
        f1=scores[1],
        locomo_f1=scores[2],
        bleu_1=scores[3],
        tokens=tokens,
        failed=isinstance(answer, EcphoriaError),
    )


def _by_category(scored: Sequence[Scored]) -> dict[str, Figures]:
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(one.category, []).append(one)
    named = {name: groups[name] for name in sorted(groups) if name}
    return {name: _figures(group) for name, group in {**named, ALL: list(scored)}.items() if group}


def _figures(group: Sequence[Scored]) -> Figures:
    return Figures(
        questions=len(group),
        answered=fmean(one.answered for one in group),
        exact=fmean(one.right for one in group),
        f1=fmean(one.f1 for one in group),
        locomo_f1=fmean(one.locomo_f1 for one in group),
        bleu_1=fmean(one.bleu_1 for one in group),
        tokens=fmean(one.tokens for one in group),
        failed=sum(one.failed for one in group),
    )


def show_answers(report: AnswerReport, console: Console, out: Path | None) -> None:
    """Print the table, and write the report where asked."""
    table = Table(box=SIMPLE_HEAD)
    names = ("", "questions", "answered", "exact", "F1", "F1 LoCoMo", "BLEU-1", "tokens", "failed")
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    for name, row in report.categories.items():
        shares = (row.answered, row.exact, row.f1, row.locomo_f1, row.bleu_1)
        figures = [f"{100 * share:.1f}" for share in shares]
        table.add_row(
            name, f"{row.questions:,}", *figures, f"{row.tokens:,.0f}", f"{row.failed:,}"
        )
    console.print(f"{report.source}, answered by {report.model}")
    console.print(table)
    if report.unscored:
        console.print(f"{report.unscored:,} questions have no answer in the data")
    if out is not None:
        out.write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
