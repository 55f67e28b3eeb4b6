"""Ask the questions of a data set for answers in words, and score them.

The figures are those of the service and of its language model together, so a report always names
the model. The oracle is no model: it gives the data's answer if the evidence is among the memories
that a model would read. Its figures are the upper bound of `ask`, and say nothing of quality.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ecphoria.cli.progress import Watch
from ecphoria.errors import BadFile, InvalidInput, ModelUnavailable, Timeout, TooLarge
from ecphoria.models.chat import StructuredChat
from ecphoria.records.job import StepReport
from ecphoria_eval.answering import Answerer, FromGold, FromMemories, FromNames, Said
from ecphoria_eval.answers import bleu_1, exact_match, f1, locomo_f1
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question
from ecphoria_eval.judge import INSTRUCTION, Judge, Judged
from ecphoria_eval.prices import Price
from ecphoria_eval.rows import Arm, chosen, write_json
from ecphoria_eval.run import (
    ANY_TENANT,
    LONGEST_READING_S,
    Connect,
    own_tenant,
    remember,
    require_steps,
)

ALL = "all"
ANSWERABLE = "all with an answer"
"""Every category but the unanswerable, each question once: SYNAPSE's weighted mean (Eq. 6)."""
UNANSWERABLE = "unanswerable"
ORACLE: Final = "oracle (upper bound)"
"""Stands in the place of the model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A question and the scores of its answer.

    Attributes:
        category: As the data names it.
        answered: Whether there was an answer.
        right: Of a question without an answer, whether none was given; else the exact match. A
            failure is never right.
        judged: What the judge says of it; None without a judge.
    """

    category: str
    said: Said
    right: float
    f1: float
    locomo_f1: float
    bleu_1: float
    judged: Judged | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """Means over the questions of a category.

    Attributes:
        answered: Share with an answer.
        exact: Exact match by HotpotQA's rules; of unanswerable questions the share without answer.
        f1: F1 by HotpotQA's rules.
        locomo_f1: F1 by LoCoMo's rules.
        bleu_1: BLEU-1.
        tokens: Tokens a question.
        price: Price of a question, in the currency of the table of prices; None without one.
        failed: Number of questions for which the model gave nothing usable; they score 0.
        judged: Share that the judge finds right, of those that it judged; None without a judge. A
            question without an answer, or a missing answer, needs no judge.
        score: Mean of the judge's scores, 0 to 100, of the same answers.
        unjudged: Number of answers of which the judge gave nothing usable.
    """

    questions: int
    answered: float
    exact: float
    f1: float
    locomo_f1: float
    bleu_1: float
    tokens: float
    failed: int
    price: float | None = None
    judged: float | None = None
    score: float | None = None
    unjudged: int = 0


@dataclass(slots=True, kw_only=True)
class Indexing:
    """The cost of the consolidation before the questions.

    Attributes:
        tokens: Read and written by the service's language model.
        written: Tokens that the model wrote.
        price: Their price; None without a table of prices.
    """

    tokens: int = 0
    written: int = 0
    seconds: float = 0.0
    price: float | None = None

    def add(self, steps: Sequence[StepReport], price: Price | None) -> None:
        """Count the steps of a cycle."""
        self.tokens += sum(step.counts.get("tokens", 0) for step in steps)
        self.written += sum(step.counts.get("tokens_written", 0) for step in steps)
        self.seconds += sum(step.seconds for step in steps)
        if price is not None:
            self.price = price.of(self.tokens, self.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """The figures of a data set, by category and of all questions.

    Attributes:
        model: Name of the language model, or `ORACLE`.
        strategy: As it was named; None for the service's default.
        read: What the model answered from: `memories`, or `names` with their descriptions.
        indexing: What consolidation cost; None without.
        prices: What a million of the model's tokens cost; None without a table of prices. The
            judge is not counted.
        unscored: Questions that the data has no answer for, or, for the oracle, no evidence.
        first_failure: Why the first question failed that did.
        judge, judge_prompt: Name and instruction of the judge, if there is one.
    """

    source: str
    sha256: str
    model: str
    strategy: str | None
    read: str
    categories: Mapping[str, AnswerFigures]
    unscored: int
    indexing: Indexing | None = None
    prices: Price | None = None
    first_failure: str | None = None
    judge: str | None = None
    judge_prompt: str | None = None


async def measure_answers(
    dataset: Dataset,
    connect: Connect,
    watch: Watch,
    *,
    name: str,
    model: str | None,
    steps: Sequence[str] | None = None,
    judge: Judge | None = None,
    strategy: str | None = None,
    price: Price | None = None,
    names: StructuredChat | None = None,
) -> AnswerReport:
    """Append each collection to a tenant of its own, ask, and erase it.

    Args:
        dataset: What to ask.
        connect: Opens a client.
        watch: Told the progress.
        name: Start of the tenants' names.
        model: The language model that the service is said to have; None for the oracle.
        steps: Of consolidation before the questions; None for none.
        judge: Judges the answers of the model.
        strategy: Recalls, perhaps with options: `cls:preset=paper`; None for the default.
        price: Of the model's tokens; None if it is not to be told.
        names: Answers from the names that a recall woke, in the place of the service's model,
            which answers from memories.

    Raises:
        BadFile: No question can be scored.
        ModelMissing: The service has no language model.
        UnknownStrategy: It has no such strategy.
        InvalidInput: It has another one, or the oracle is to be judged.
        EcphoriaError: The service cannot be used.
    """
    if model is None and judge is not None:
        raise InvalidInput("The oracle gives the data's answers; leave out the judge.")
    arm = None if strategy is None else await _arm(connect, strategy)
    answerer = _answerer(model, arm, names)
    scored: list[Scored] = []
    indexing = None if steps is None else Indexing()
    total = sum(len(_scorable(part, model)) for part in dataset.collections)
    if not total:
        lacking = "evidence and an answer" if model is None else "an answer"
        raise BadFile(f"{dataset.source} has no question with {lacking}.")
    for number, part in enumerate(dataset.collections, start=1):
        async with own_tenant(connect, f"{name}-{number}") as client:
            if number == 1:
                await require_steps(client, steps)
            known = await remember(client, part, watch)
            places = {ident: episode for episode, ident in known.items()}
            if steps is not None and indexing is not None:
                done = await client.consolidate(steps=steps, timeout_s=LONGEST_READING_S)
                indexing.add(done.steps, price)
            for question in _scorable(part, model):
                try:
                    said = await answerer.answer(client, question, places)
                except (ModelUnavailable, Timeout, TooLarge) as error:
                    said = Said(failed=error.message)
                scored.append(await score_answer(question, said, judge))
                watch("asking", len(scored), total)
    return AnswerReport(
        source=dataset.source,
        sha256=dataset.sha256,
        model=model or ORACLE,
        strategy=strategy,
        read="memories" if names is None else "names",
        categories=_by_category(scored, price, is_judged=judge is not None),
        unscored=len(dataset.questions) - total,
        indexing=indexing,
        prices=price,
        first_failure=next((one.said.failed for one in scored if one.said.failed), None),
        judge=None if judge is None else judge.model,
        judge_prompt=None if judge is None else INSTRUCTION,
    )


def _scorable(part: Collection, model: str | None) -> list[Question]:
    """List the questions with an answer; the oracle needs their evidence too."""
    return [
        question
        for question in part.questions
        if question.adversarial or (question.answers and (model is not None or question.gold))
    ]


def _answerer(model: str | None, arm: Arm | None, names: StructuredChat | None) -> Answerer:
    if model is None:
        return FromGold(arm)
    return FromMemories(model, arm) if names is None else FromNames(names, arm)


async def _arm(connect: Connect, wanted: str) -> Arm:
    async with connect(ANY_TENANT) as client:
        (arm,) = chosen(await client.strategies(), [wanted])
    return arm


async def score_answer(question: Question, said: Said, judge: Judge | None) -> Scored:
    """Score an answer, and let a judge judge it if there is one."""
    wanted = question.answers
    judged = None
    if question.adversarial or not said.answered or said.by_oracle:
        # A question without an answer wants none, each other one wants one. A failure is neither.
        right = float(said.failed is None and question.adversarial != said.answered)
        scores = (right, right, right, right)
    else:
        scores = (
            exact_match(said.text, wanted),
            f1(said.text, wanted),
            locomo_f1(said.text, wanted, question.category),
            bleu_1(said.text, wanted),
        )
    if judge is not None:
        if question.adversarial or not said.answered:
            judged = Judged(correct=bool(scores[0]), score=100.0 * scores[0])
        else:
            judged = await judge.judge(question.text, said.text, wanted)
    return Scored(
        category=UNANSWERABLE if question.adversarial else question.kind or question.category,
        said=said,
        right=scores[0],
        f1=scores[1],
        locomo_f1=scores[2],
        bleu_1=scores[3],
        judged=judged,
    )


def _by_category(
    scored: Sequence[Scored], price: Price | None, *, is_judged: bool
) -> dict[str, AnswerFigures]:
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(one.category, []).append(one)
    named = {name: groups[name] for name in sorted(groups) if name}
    answerable = [one for one in scored if one.category != UNANSWERABLE]
    every = {**named, ANSWERABLE: answerable, ALL: list(scored)}
    if len(answerable) == len(scored):
        del every[ANSWERABLE]
    return {
        name: _figures(group, price, is_judged=is_judged) for name, group in every.items() if group
    }


def _figures(group: Sequence[Scored], price: Price | None, *, is_judged: bool) -> AnswerFigures:
    judged = [one.judged for one in group if one.judged is not None]
    told = [one.correct for one in judged if one.correct is not None]
    scores = [one.score for one in judged if one.score is not None]
    return AnswerFigures(
        questions=len(group),
        answered=fmean(one.said.answered for one in group),
        exact=fmean(one.right for one in group),
        f1=fmean(one.f1 for one in group),
        locomo_f1=fmean(one.locomo_f1 for one in group),
        bleu_1=fmean(one.bleu_1 for one in group),
        tokens=fmean(one.said.tokens for one in group),
        failed=sum(one.said.failed is not None for one in group),
        price=None
        if price is None
        else fmean(price.of(one.said.tokens, one.said.written) for one in group),
        judged=fmean(told) if told else None,
        score=fmean(scores) if scores else None,
        unjudged=len(group) - len(told) if is_judged else 0,
    )


def show_answers(report: AnswerReport, console: Console, out: Path | None) -> None:
    """Print the table, and write the report where asked."""
    table = Table(box=SIMPLE_HEAD)
    names = ["", "questions", "answered", "exact", "F1", "F1 LoCoMo", "BLEU-1", "tokens", "failed"]
    for name in names + ["judged", "score"] * (report.judge is not None):
        table.add_column(name, justify="right" if name else "left")
    for name, row in report.categories.items():
        shares = (row.answered, row.exact, row.f1, row.locomo_f1, row.bleu_1)
        figures = [f"{100 * share:.1f}" for share in shares]
        figures += [f"{row.tokens:,.0f}", f"{row.failed:,}"]
        figures += ["-" if row.judged is None else f"{100 * row.judged:.1f}"]
        figures += ["-" if row.score is None else f"{row.score:.1f}"]
        table.add_row(name, f"{row.questions:,}", *figures[: len(table.columns) - 2])
    by = "" if report.strategy is None else f" with {report.strategy}"
    by += "" if report.read == "memories" else f", from {report.read} alone"
    console.print(f"{report.source}, answered by {report.model}{by}")
    if report.model == ORACLE:
        console.print(
            "No language model was asked: these figures bound `ask`, and are no quality."
        )
    if report.judge is not None:
        unjudged = report.categories[ALL].unjudged
        console.print(f"judged by {report.judge}" + (f", {unjudged:,} not" if unjudged else ""))
    console.print(table)
    if (row := report.categories[ALL]).price is not None:
        console.print(f"price of 1,000 questions: {1000 * row.price:,.2f}")
    if (cost := report.indexing) is not None:
        paid = "" if cost.price is None else f", price {cost.price:,.2f}"
        told = f"{cost.tokens:,} tokens{paid}, {cost.seconds:.1f} s of consolidation"
        console.print(f"indexing: {told}")
    if report.first_failure is not None:
        console.print(f"the first failure: {report.first_failure}", markup=False)
    if report.unscored:
        lacking = "evidence or answer" if report.model == ORACLE else "answer"
        console.print(f"{report.unscored:,} questions have no {lacking} in the data")
    if out is not None:
        write_json(out, asdict(report))
