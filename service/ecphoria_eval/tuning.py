"""Fit the nine parameters of `synaptic` on labelled questions.

The objective is the paper's (SynapticRAG, appendix B.2): the mean over questions of
`-(A + 0.15 B)`, A the share of the right memories that did not fire, B the number of fired ones
over that of right ones. Of equal settings the one with the higher ERC is better.

The search is successive halving: many settings are tried on few questions, the best quarter with
one changed copy each on four times as many, and so on up to all. The same seed asks the same
questions of the same settings. At the end each parameter that does not better the score goes back
to where it started. Half of the data is held out and judges the settings found.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ecphoria.cli.progress import Watch
from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput
from ecphoria.records.recall import OptionValue
from ecphoria_eval.datasets.dataset import Dataset, Question
from ecphoria_eval.dynamics.firing import FiredSets, equal_count, share_found
from ecphoria_eval.rows import Arm, chosen, write_json
from ecphoria_eval.run import ANY_TENANT, Connect, for_each, own_tenant, remember

STRATEGY: Final = "synaptic"
EXCESS: Final = 0.15
"""Weight of the size of the fired set in the objective."""
_MOST: Final = 50
"""Most memories counted as fired."""
_KEPT, _RUNGS, _AT_ONCE = 4, 3, 4
_CHANGED, _STEP = 1.0 / 3.0, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Range in which a parameter is searched."""

    low: float
    high: float
    log: bool = False

    def at(self, share: float) -> float:
        """Give the value at a share of the way from low to high, with 4 digits.

        >>> Range(low=1.0, high=100.0, log=True).at(0.5)
        10.0
        """
        if self.log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return float(f"{value:.4g}")


RANGES: Final[Mapping[str, Range]] = {
    "cos_th": Range(low=0.0, high=0.7),
    "stim_th": Range(low=0.0, high=0.4),
    "v_th": Range(low=1e-3, high=0.3, log=True),
    "tau_init": Range(low=5.0, high=500.0, log=True),
    "v_rest": Range(low=-1.0, high=10.0),
    "i_rest": Range(low=-10.0, high=1.0),
    "tau_scale": Range(low=0.1, high=10.0, log=True),
    "t_scale": Range(low=0.1, high=10.0, log=True),
    "p_scale": Range(low=0.05, high=1.0),
}
"""The nine parameters (appendix C), around the ranges of the paper's published search."""

Setting = Mapping[str, float]
"""Shares of the way through `RANGES` by parameter; those not named stay as they started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The figures of a setting on some questions.

    Attributes:
        score: Mean of `-(A + 0.15 B)`; the higher the better, at most -.15.
        sets: Fired sets beside as many memories by cosine.
    """

    score: float
    sets: FiredSets


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningReport:
    """The best parameters, and their figures on held-out questions.

    Attributes:
        start: Options that the search started from.
        found: Options found, those included.
        trials: Settings tried on the fewest questions.
        training, held_out: Of the start and of what was found.
    """

    source: str
    sha256: str
    seed: int
    trials: int
    start: Mapping[str, OptionValue]
    found: Mapping[str, OptionValue]
    training: tuple[Trial, Trial]
    held_out: tuple[Trial, Trial]


def objective(fired: Collection[str], gold: Collection[str]) -> float:
    """Score one fired set: `-(A + 0.15 B)`.

    >>> objective({"a", "x"}, {"a", "b"}), objective((), {"a"})
    (-0.65, -1.0)
    """
    return -(1.0 - share_found(fired, gold) + EXCESS * len(set(fired)) / len(set(gold)))


async def tune(
    dataset: Dataset,
    connect: Connect,
    watch: Watch,
    *,
    start: str,
    trials: int,
    seed: int,
    name: str,
) -> TuningReport:
    """Append the data, search, judge, and erase the data.

    Args:
        dataset: Questions with evidence; those without are left out.
        connect: Opens a client.
        watch: Told the progress.
        start: `synaptic`, perhaps with options: `synaptic:alignment=printed`.
        trials: Settings tried on the fewest questions.
        seed: Of everything drawn.
        name: Start of the tenants' names, which must be new.

    Raises:
        InvalidInput: There are no questions to split, or `start` is another strategy.
        EcphoriaError: The service cannot be used.
    """
    async with connect(ANY_TENANT) as client:
        (arm,) = chosen(await client.strategies(), [start])
    if arm.strategy != STRATEGY:
        raise InvalidInput(f"Only {STRATEGY} has these parameters.", field="start")
    async with AsyncExitStack() as stack:
        asked = []
        for number, part in enumerate(dataset.collections, start=1):
            client = await stack.enter_async_context(own_tenant(connect, f"{name}-{number}"))
            known = await remember(client, part, watch)
            asked.append(
                [
                    _Asked(client=client, known=known, question=question)
                    for question in part.questions
                    if question.scored
                ]
            )
        training, held_out = _split(asked)
        search = _Search(arm, training, held_out, watch, trials=trials, seed=seed)
        found = await search.run()
        return TuningReport(
            source=dataset.source,
            sha256=dataset.sha256,
            seed=seed,
            trials=trials,
            start=arm.options,
            found={**arm.options, **_values(found)},
            training=(
                await search.judge({}, search.training),
                await search.judge(found, search.training),
            ),
            held_out=(await search.judge({}, held_out), await search.judge(found, held_out)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """A question, and the tenant it is asked of."""

    client: AsyncClient
    known: Mapping[str, str]
    question: Question


def _split(asked: Sequence[Sequence[_Asked]]) -> tuple[list[_Asked], list[_Asked]]:
    """Hold out every second collection, or every second question of a single one."""
    groups = [list(part) for part in asked if part]
    if len(groups) < 2:
        groups = [[one] for part in groups for one in part]
    training = [one for group in groups[::2] for one in group]
    held_out = [one for group in groups[1::2] for one in group]
    if not held_out:
        raise InvalidInput("At least two questions need evidence.", field="data")
    return training, held_out


class _Search:
    """One search; what was asked once is not asked again."""

    def __init__(
        self,
        arm: Arm,
        training: Sequence[_Asked],
        held_out: Sequence[_Asked],
        watch: Watch,
        *,
        trials: int,
        seed: int,
    ) -> None:
        self._arm, self._watch, self._trials = arm, watch, trials
        self._drawn = np.random.default_rng(seed)
        order = self._drawn.permutation(len(training))
        self.training = [training[place] for place in order]
        self._fired: dict[tuple[str, int], frozenset[str]] = {}
        self._ranked: dict[int, list[str]] = {}
        self._done = 0
        whole = len(training)
        self._total = (
            sum(self._size(rung) * self._count(rung) for rung in range(_RUNGS))
            + whole * (len(RANGES) + 2)
            + 3 * len(held_out)
        )

    async def run(self) -> Setting:
        """Find the best setting."""
        settings: list[Setting] = [{}]
        settings += [self._draw() for _ in range(self._trials - 1)]
        for rung in range(_RUNGS):
            ranked = await self._best(settings, self.training[: self._size(rung)])
            if rung == _RUNGS - 1:
                return await self._simpler(ranked[0])
            kept = ranked[: self._count(rung + 1) // 2]
            settings = kept + [self._changed(one) for one in kept]
        raise AssertionError("there is a last rung")

    async def judge(self, setting: Setting, asked: Sequence[_Asked]) -> Trial:
        """Judge a setting beside as many memories by cosine."""
        fired = await self._fire(setting, asked)
        for one in asked:
            if id(one) not in self._ranked:
                self._ranked[id(one)] = await _nearest(one)
        rows = [
            (found, self._ranked[id(one)], one.question.gold)
            for found, one in zip(fired, asked, strict=True)
        ]
        return Trial(
            score=fmean(objective(found, gold) for found, _, gold in rows), sets=equal_count(rows)
        )

    def _size(self, rung: int) -> int:
        """Tell how many questions a rung asks."""
        return max(1, len(self.training) // int(_KEPT ** (_RUNGS - 1 - rung)))

    def _count(self, rung: int) -> int:
        """Tell how many settings a rung tries."""
        return self._trials if rung == 0 else max(2, 2 * (self._trials // int(_KEPT**rung)))

    def _draw(self) -> Setting:
        return dict(zip(RANGES, self._drawn.random(len(RANGES)).tolist(), strict=True))

    def _changed(self, setting: Setting) -> Setting:
        """Move about a third of the parameters; one that was not set is drawn."""
        after = dict(setting)
        for name in RANGES:
            moved, drawn = self._drawn.random() < _CHANGED, float(self._drawn.random())
            step = float(self._drawn.normal(0.0, _STEP))
            if moved:
                after[name] = (
                    min(1.0, max(0.0, setting[name] + step)) if name in setting else drawn
                )
        return after

    async def _best(self, settings: Sequence[Setting], asked: Sequence[_Asked]) -> list[Setting]:
        """Order settings by score, then by ERC, then as they were drawn."""
        judged = [await self._scored(setting, asked) for setting in settings]
        order = sorted(range(len(settings)), key=lambda place: judged[place], reverse=True)
        return [settings[place] for place in order]

    async def _scored(self, setting: Setting, asked: Sequence[_Asked]) -> tuple[float, float]:
        fired = await self._fire(setting, asked)
        rows = [(one, asked.question.gold) for one, asked in zip(fired, asked, strict=True)]
        return (
            round(fmean(objective(one, gold) for one, gold in rows), 9),
            round(fmean(share_found(one, gold) for one, gold in rows), 9),
        )

    async def _simpler(self, setting: Setting) -> Setting:
        """Put back every parameter that does not better the score."""
        best = await self._scored(setting, self.training)
        for name in sorted(setting):
            without = {other: share for other, share in setting.items() if other != name}
            score = await self._scored(without, self.training)
            if score >= best:
                setting, best = without, score
        return setting

    async def _fire(self, setting: Setting, asked: Sequence[_Asked]) -> list[frozenset[str]]:
        """Find the fired set of each question."""
        options: dict[str, OptionValue] = {
            **self._arm.options,
            **_values(setting),
            "fired_only": True,
            "w_activation": 1.0,
        }
        key = json.dumps(options, sort_keys=True)

        async def fire(one: _Asked) -> None:
            self._fired[key, id(one)] = await _fired(one, options)

        new = [one for one in asked if (key, id(one)) not in self._fired]
        await for_each(new, fire, at_once=_AT_ONCE)
        self._done = min(self._total, self._done + len(asked))
        self._watch("asking", self._done, self._total)
        return [self._fired[key, id(one)] for one in asked]


def _values(setting: Setting) -> dict[str, OptionValue]:
    return {name: RANGES[name].at(setting[name]) for name in RANGES if name in setting}


async def _fired(asked: _Asked, options: Mapping[str, OptionValue]) -> frozenset[str]:
    answer = await asked.client.recall(
        asked.question.text,
        strategy=STRATEGY,
        options=options,
        k=_MOST,
        record=False,
        collapse=False,
    )
    return frozenset(
        asked.known[hit.episode.id] for hit in answer.hits if hit.parts["fired"] > 0.0
    )


async def _nearest(asked: _Asked) -> list[str]:
    answer = await asked.client.recall(
        asked.question.text, strategy="dense", k=_MOST, record=False, collapse=False
    )
    return [asked.known[hit.episode.id] for hit in answer.hits]


def show_tuning(report: TuningReport, console: Console, out: Path | None) -> None:
    """Print the options and the figures, and write the report where asked."""
    table = Table(box=SIMPLE_HEAD)
    names = ("", "questions", "score", "fired", "ERC", "by cosine", "precision")
    for name in names:
        table.add_column(name, justify="right" if name else "left")
    rows = {
        "training, start": report.training[0],
        "training, found": report.training[1],
        "held out, start": report.held_out[0],
        "held out, found": report.held_out[1],
    }
    for name, judged in rows.items():
        sets = judged.sets
        means = (f"{judged.score:.3f}", f"{sets.mean_set_size:.2f}")
        shares = [f"{100 * one:.1f}" for one in (sets.erc, sets.baseline_erc, sets.precision)]
        table.add_row(name, f"{sets.questions:,}", *means, *shares)
    console.print(table)
    spelt = ",".join(f"{name}={value}" for name, value in report.found.items())
    console.print(f"{STRATEGY}:{spelt}" if spelt else f"{STRATEGY}: nothing found is better")
    if out is not None:
        write_json(out, {"suite": "tune-synaptic", **asdict(report)})
