"""Fit and judge the confidence of a gate, on a dataset or on a tenant's own memories.

A question is made of one statement of one memory, as the user would ask for it:

1. The statement is the sentence with the most content words that is no question; it needs five.
   What a tool or the system said is left out.
2. Half of its content words are dropped, numbers first, then by chance; three to six stay, each
   with the two function words before it. So the question is short as people ask, it is no echo,
   and what would answer it is partly missing from it.
3. It is asked from the user's side: `What did I` for what the user said, `What did you` for what
   the assistant said (then `I` and `you` change places), `What did NAME` for what another person
   said. For what nobody said it is `What did I` if it speaks in the first person, else `What is`.

The same seed makes the same questions of the same memories.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import takewhile
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.evaluation.datasets.dataset import Dataset, LabelledFile
from ecphoria.evaluation.measures import Bin, auroc, calibration_error, refusal_at, reliability
from ecphoria.evaluation.rows import chosen
from ecphoria.evaluation.run import (
    LEAST_OVERLAP,
    Connect,
    Plan,
    Watch,
    distinct_words,
    overlap,
    run,
)
from ecphoria.maths.gate import fit_logistic, logits, threshold
from ecphoria.records.episode import Episode
from ecphoria.records.tenant import Gate, GateFit, shipped_confidence
from ecphoria.text.cue import without_caption
from ecphoria.text.tokens import FIRST_PERSON, STOP_WORDS, words

LEAST: Final = 10
"""Questions needed of either kind; with fewer no fit is better than the shipped gate."""
RATES: Final = (0.021, 0.05, 0.10)
"""False refusals at which the estimate is told."""

_VERIFY_RATE, _FOLDS, _DIGITS = 0.10, 5, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question as the gate saw it.

    Attributes:
        evidence: As its recall answered it.
        group: What is left out together when the fit is judged.
    """

    evidence: Mapping[str, float]
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question judged by a gate that was fitted without its group."""

    confidence: float
    answerable: bool
    group: str
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A gate, with its quality on held-out questions.

    Attributes:
        judged: Every question, in the order given.
        by_group: Whether whole groups were left out, rather than every fifth question.
        shipped_auroc: Of the shipped gate on the same questions, none of which it has seen
            unless it was fitted on them.
        group_auroc: Of each group left out, where it has both kinds.
        ece: Expected calibration error.
        reliability: Share that has an answer, by confidence.
        refused: Share refused of the questions without an answer, by rate of false refusals.
    """

    gate: Gate
    judged: tuple[Judged, ...]
    by_group: bool
    auroc: float
    shipped_auroc: float
    group_auroc: Mapping[str, float]
    refused: Mapping[float, float]
    ece: float
    reliability: Sequence[Bin]


def calibrate(
    samples: Sequence[Sample],
    *,
    names: Sequence[str],
    false_refusals: float,
    data_sha256: str,
    fitted_at: datetime,
) -> Calibration:
    """Fit the gate on everything, and judge each question by a fit without its group.

    The thresholds are taken from those judgements, so that they hold for questions not seen.
    The same samples give the same gate.

    Args:
        samples: At least `LEAST` of either kind.
        names: The evidence to weigh.
        false_refusals: Share of answerable questions that may be refused, in [0, 1).
        data_sha256: Of the labelled file.
        fitted_at: Now.

    Raises:
        InvalidInput: There are too few questions, or the rate is no share.
    """
    labels = np.array([sample.answerable for sample in samples], dtype=np.bool_)
    _check(labels, false_refusals)
    evidence = np.array([[sample.evidence[name] for name in names] for sample in samples])
    fold, by_group = _folds(samples, labels)
    left_out = _left_out(evidence, labels, fold)
    judged = tuple(
        Judged(
            confidence=float(sure),
            answerable=sample.answerable,
            group=sample.group,
            evidence=sample.evidence,
        )
        for sure, sample in zip(left_out, samples, strict=True)
    )
    yes, no = left_out[labels].tolist(), left_out[~labels].tolist()
    cut = threshold(yes, false_refusals)
    verify = threshold(yes, max(_VERIFY_RATE, false_refusals))
    fit = fit_logistic(evidence, labels)
    worth = auroc(yes, no) or 0.0
    gate = Gate(
        weights={
            name: round(float(weight), _DIGITS)
            for name, weight in zip(names, fit.weights, strict=True)
        },
        bias=round(fit.bias, _DIGITS),
        threshold=round(cut, _DIGITS),
        verify_below=round(verify, _DIGITS),
        fit=GateFit(
            questions=len(samples),
            unanswerable=len(no),
            auroc=round(worth, _DIGITS),
            refused=round(sum(one < cut for one in no) / len(no), _DIGITS),
            false_refusals=round(sum(one < cut for one in yes) / len(yes), _DIGITS),
            data_sha256=data_sha256,
            fitted_at=fitted_at,
        ),
    )
    return Calibration(
        gate=gate,
        judged=judged,
        by_group=by_group,
        auroc=worth,
        shipped_auroc=_worth_of_shipped(samples),
        group_auroc=_by_group(judged),
        refused={rate: refusal_at(yes, no, rate) or 0.0 for rate in RATES},
        ece=calibration_error(yes, no) or 0.0,
        reliability=reliability(yes, no),
    )


def _check(labels: NDArray[np.bool_], false_refusals: float) -> None:
    if not 0.0 <= false_refusals < 1.0:
        raise InvalidInput("The rate of false refusals is a share from 0 to below 1.")
    yes, no = int(labels.sum()), int((~labels).sum())
    if min(yes, no) < LEAST:
        raise InvalidInput(
            f"A gate needs at least {LEAST} questions with an answer and {LEAST} without;"
            f" here are {yes} and {no}."
        )


def _folds(samples: Sequence[Sample], labels: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
    """Number the folds: groups, or every fifth question of each kind.

    Groups serve if whatever is left has enough questions of either kind to fit on.
    """
    names = sorted({sample.group for sample in samples})
    group = np.array([names.index(sample.group) for sample in samples], dtype=np.int64)
    rest = [labels[group != number] for number in range(len(names))]
    if len(names) > 1 and all(min(one.sum(), (~one).sum()) >= LEAST for one in rest):
        return group, True
    fold = np.zeros(labels.size, dtype=np.int64)
    for kind in (labels, ~labels):
        fold[kind] = np.arange(kind.sum()) % _FOLDS
    return fold, False


def _left_out(
    evidence: NDArray[np.float64], labels: NDArray[np.bool_], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Judge each question by a fit on all other folds; [n] confidences."""
    sure = np.empty(labels.size)
    for number in np.unique(fold):
        out = fold == number
        fit = fit_logistic(evidence[~out], labels[~out])
        sure[out] = 0.5 * (1.0 + np.tanh(0.5 * logits(fit, evidence[out])))
    return sure


def _worth_of_shipped(samples: Sequence[Sample]) -> float:
    sure = [shipped_confidence(sample.evidence) for sample in samples]
    pairs = list(zip(sure, samples, strict=True))
    found = auroc(
        [value for value, sample in pairs if sample.answerable],
        [value for value, sample in pairs if not sample.answerable],
    )
    return found or 0.0


def _by_group(judged: Sequence[Judged]) -> dict[str, float]:
    found = {}
    for name in sorted({question.group for question in judged}):
        of = [question for question in judged if question.group == name]
        share = auroc(
            [question.confidence for question in of if question.answerable],
            [question.confidence for question in of if not question.answerable],
        )
        if share is not None:
            found[name] = share
    return found


LEAST_WORDS: Final = 5
"""Distinct content words that a statement needs."""

_LEAST_KEPT, _MOST_KEPT, _BEFORE = 3, 6, 2
_LONGEST, _READ = 40, 20_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\r\n]+")
_EDGE = ".,;:!?()[]{}<>\"'`*_#|\u2018\u2019\u201c\u201d"
_SWAPPED: Final[Mapping[str, str]] = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself",
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestion:
    """A question, and the memory that answers it."""

    episode: str
    words: str
    text: str


def question_of(episode: Episode, seed: int) -> OwnQuestion | None:
    """Make a question of a memory; None if it says too little.

    Args:
        episode: The memory.
        seed: Decides which words are dropped.
    """
    role = (episode.role or episode.speaker or "").strip().lower()
    statement = _statement(without_caption(episode.text[:_READ]))
    if role in {"tool", "system"} or not statement:
        return None
    opener, turned = _asker(role, (episode.speaker or "").strip(), statement)
    random = Random(f"{seed}:{episode.id}")  # noqa: S311 (a sample, no secret)
    kept = _without_some(statement, random)
    told = [word for word in (turned.get(_bare(word), word) for word in kept) if word]
    if told[0] == "I":
        opener = "What did I"
    spoken = _trimmed(told, opener)
    return OwnQuestion(
        episode=episode.id, words=episode.text, text=f"{opener} {' '.join(spoken)}?"
    )


def _asker(role: str, speaker: str, statement: list[str]) -> tuple[str, Mapping[str, str]]:
    """Say how the question begins, and which words change."""
    if role == "user":
        return "What did I", {}
    if role == "assistant":
        return "What did you", _SWAPPED
    if not speaker:
        own = FIRST_PERSON.search(" ".join(statement)) is not None
        return "What did I" if own else "What is", {}
    theirs = {"my": f"{speaker}'s", "mine": f"{speaker}'s", "your": "", "yours": "", "you": ""}
    return f"What did {speaker}", {**dict.fromkeys(("i", "me", "myself"), speaker), **theirs}


def _statement(text: str) -> list[str]:
    """Find the sentence that says most, as words without punctuation; empty if none does."""
    best: list[str] = []
    most = LEAST_WORDS - 1
    for sentence in _SENTENCE.split(text):
        if sentence.rstrip().endswith("?"):
            continue
        spoken = [bare for word in sentence.split()[:_LONGEST] if (bare := word.strip(_EDGE))]
        content = len({word.lower() for word in spoken if _is_content(word)})
        if content > most:
            best, most = spoken, content
    return best


def _without_some(statement: list[str], random: Random) -> list[str]:
    places = [place for place, word in enumerate(statement) if _is_content(word)]
    keep = min(max(_LEAST_KEPT, len(places) // 2), _MOST_KEPT)
    random.shuffle(places)
    places.sort(key=lambda place: any(map(str.isdigit, statement[place])))
    kept = set(places[:keep])
    for place in sorted(kept):
        before = range(place - 1, max(place - 1 - _BEFORE, -1), -1)
        kept |= set(takewhile(lambda one: not _is_content(statement[one]), before))
    return [word for place, word in enumerate(statement) if place in kept]


def _trimmed(spoken: list[str], opener: str) -> list[str]:
    """Remove words that the opener repeats, and trailing function words."""
    subject = opener.rpartition(" ")[2].lower()
    start = 1 if spoken and _bare(spoken[0]) == subject else 0
    end = len(spoken)
    while end > start and not _is_content(spoken[end - 1]):
        end -= 1
    return spoken[start:end]


def _is_content(word: str) -> bool:
    return any(one not in STOP_WORDS and (len(one) > 1 or one.isdigit()) for one in words(word))


def _bare(word: str) -> str:
    """Cut a contraction at its apostrophe: `I'm` is `i`."""
    return re.split("['\u2019]", word, maxsplit=1)[0].lower()


_PAGE: Final = 1_000
_NEAREST: Final = 50
"""Hits among which the near copies of a memory are looked for."""
_LONGEST_CUE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The questions asked, and their rows.

    Attributes:
        findings: What could not be used, and how often.
    """

    samples: tuple[Sample, ...]
    findings: dict[str, int]


async def ask_memories(
    dataset: Dataset, connect: Connect, watch: Watch, *, name: str, monotonic: Callable[[], float]
) -> Asked:
    """Append each conversation to a tenant of its own, ask its questions, erase it.

    Args:
        dataset: Its category of questions without an answer counts as unanswerable.
        connect: The way to the service, with an operator's key.
        watch: Told the progress.
        name: Prefix of the tenants' names, which must be new.
        monotonic: Seconds from some fixed moment.
    """
    async with connect("default") as client:
        known = await client.strategies()
    arms = chosen(known, [known[0].name])
    outcome = await run(dataset, connect, Plan(arms=arms, name=name, monotonic=monotonic), watch)
    samples = tuple(
        Sample(evidence=row.evidence, answerable=row.scored, group=row.collection)
        for row in outcome.rows
        if (row.scored or row.adversarial) and row.error is None
    )
    return Asked(samples=samples, findings=outcome.findings)


async def ask_labelled(
    file: LabelledFile, connect: Connect, watch: Watch, tenant: str | None
) -> Asked:
    """Ask a tenant that already has its memories.

    Args:
        file: The questions.
        connect: The way to the service.
        watch: Told the progress.
        tenant: Its name; None with a tenant's own key.
    """
    samples: list[Sample] = []
    findings: Counter[str] = Counter()
    async with connect(tenant) as client:
        for number, asked in enumerate(file.questions, start=1):
            try:
                answer = await client.recall(asked.text, k=1, record=False, collapse=False)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
            else:
                samples.append(
                    Sample(
                        evidence=answer.evidence, answerable=asked.answerable, group=asked.group
                    )
                )
            watch("asking", number, len(file.questions))
    return Asked(samples=tuple(samples), findings=dict(sorted(findings.items())))


async def ask_own(
    connect: Connect, watch: Watch, tenant: str | None, *, count: int, seed: int
) -> tuple[Asked, str]:
    """Ask a tenant questions made of its own memories, with each memory and without it.

    Nothing is appended, erased or recorded: a memory and its near copies are left out by the
    recall filter `exclude`.

    Args:
        connect: The way to the service.
        watch: Told the progress.
        tenant: Its name; None with a tenant's own key.
        count: Memories to sample.
        seed: Of the sample and of the questions.

    Returns:
        What came back, and the hash of the questions.

    Raises:
        InvalidInput: Too few memories say anything that can be asked for.
    """
    samples: list[Sample] = []
    findings: Counter[str] = Counter()
    async with connect(tenant) as client:
        questions = await _sampled(client, count, seed)
        for number, question in enumerate(questions, start=1):
            try:
                samples += await _ask_both(client, question)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
            watch("asking with and without", number, len(questions))
    told = "".join(f"{one.episode} {one.text}\n" for one in questions)
    asked = Asked(samples=tuple(samples), findings=dict(sorted(findings.items())))
    return asked, sha256(told.encode()).hexdigest()


async def _sampled(client: AsyncClient, count: int, seed: int) -> list[OwnQuestion]:
    """Go through all memories once, and keep `count` questions, each as likely as any other."""
    random = Random(seed)  # noqa: S311 (a sample, no secret)
    kept: list[tuple[int, OwnQuestion]] = []
    seen = 0
    async for episode in client.list(page_size=_PAGE):
        question = question_of(episode, seed) if episode.state == "live" else None
        if question is None:
            continue
        seen += 1
        place = len(kept) if len(kept) < count else random.randrange(seen)
        if place < count:
            kept[place : place + 1] = [(seen, question)]
    if seen < LEAST:
        raise InvalidInput(
            f"Only {seen} memories of the tenant say enough to make a question of;"
            f" at least {LEAST} are needed. Give labelled questions with --data."
        )
    return [question for _, question in sorted(kept, key=lambda pair: pair[0])]


async def _ask_both(client: AsyncClient, question: OwnQuestion) -> tuple[Sample, Sample]:
    copies = await _near_copies(client, question)
    with_it = await client.recall(question.text, k=1, record=False)
    without = await client.recall(question.text, k=1, record=False, exclude=copies)
    return (
        Sample(evidence=with_it.evidence, answerable=True, group=""),
        Sample(evidence=without.evidence, answerable=False, group=""),
    )


async def _near_copies(client: AsyncClient, question: OwnQuestion) -> list[str]:
    """List a memory and its near copies: the hits of its own words."""
    found = await client.recall(question.words[:_LONGEST_CUE], k=_NEAREST, record=False)
    own = distinct_words(question.words)
    near = {
        hit.episode.id
        for hit in found.hits
        if overlap(own, distinct_words(hit.episode.text)) >= LEAST_OVERLAP
    }
    return sorted(near | {question.episode})
