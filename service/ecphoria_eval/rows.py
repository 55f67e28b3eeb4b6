"""The strategies that are measured, one row for each question asked, and the files of reports."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecphoria.calibration.labelled import read_lines
from ecphoria.errors import BadFile, InvalidInput, UnknownStrategy
from ecphoria.records.recall import OptionValue
from ecphoria.records.strategy import Parameter, StrategyInfo
from ecphoria_eval.datasets.dataset import ADVERSARIAL


class Row(BaseModel):
    """One line of ROWS.jsonl."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    strategy: str
    """Its name, `without:...` for an ablation of the default, `NAME:without:...` of another."""
    collection: str
    """The conversation or pool."""
    question: str
    """Id of the question in its collection."""
    category: str
    """Of the question."""
    kind: str = ""
    """Of the question, as the data names it."""
    taken_out: bool = False
    """Whether its evidence was erased from the store before it was asked."""
    gold: tuple[str, ...]
    """Ids of the memories that hold the evidence."""
    official: tuple[str, ...] | None = None
    """Evidence as the data spells it."""
    ranked: tuple[str, ...] = ()
    """Ids of what was recalled, best first."""
    scores: tuple[float, ...] = ()
    """Of what was recalled."""
    confidence: float = 0.0
    """Whether the answer is among the hits."""
    evidence: dict[str, float] = Field(default_factory=dict)
    """Evidence for the gate, by name."""
    verdict: str = "failed"
    """Verdict of the gate."""
    latency_ms: float = 0.0
    """Of the whole recall, measured by the service."""
    timings_ms: dict[str, float] = Field(default_factory=dict)
    """By phase."""
    context_tokens: int = 0
    """Size of the context block."""
    fired: int | None = None
    """Hits that fired, of a strategy in which memories fire."""
    error: str | None = None
    """Code of the error if the question failed; it scores 0."""

    @property
    def key(self) -> tuple[str, str]:
        """Collection and id of the question: what the rows of one question have in common."""
        return self.collection, self.question

    @property
    def adversarial(self) -> bool:
        """Tell whether the row counts for abstention only."""
        return self.category == ADVERSARIAL

    @property
    def scored(self) -> bool:
        """Tell whether the row counts for recall."""
        return bool(self.gold) and not self.adversarial and not self.taken_out


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a row a line.

    Raises:
        BadFile: The file cannot be written.
    """
    _write(path, "".join(f"{row.model_dump_json()}\n" for row in rows))


def write_json(path: Path, content: object) -> None:
    """Write a report.

    Raises:
        BadFile: The file cannot be written.
    """
    _write(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror}.") from error


def read_rows(path: Path) -> Iterator[Row]:
    """Read the file of `write_rows`.

    Raises:
        BadFile: It cannot be read, or is something else.
    """
    for record in read_lines(path):
        try:
            yield Row.model_validate(record.fields)
        except ValidationError as error:
            raise BadFile(f"{record.where} is not a row of results.") from error


NAMES = (
    "dense", "lexical", "fusion", "ppr", "ecphoria", "synapse", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
"""Strategies measured if none is named, as far as the service has them."""

WITHOUT = "without:"
_CONSOLIDATION = "consolidation"
_RERANK = "rerank"
"""An option of the recall, not of its strategy."""
UNCONSOLIDATED = WITHOUT + _CONSOLIDATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A strategy with options, under the name it has in the report.

    With `rerank` the reader orders the first turns of each recall, with false of none; with None
    the service decides.
    """

    name: str
    strategy: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    rerank: bool | None = None


def chosen(known: Sequence[StrategyInfo], wanted: Sequence[str]) -> list[Arm]:
    """Take the strategies wanted, or all that the service has of `NAMES`.

    Args:
        known: What the service has.
        wanted: Each a strategy's name, perhaps with options: `cls:preset=paper,base=fusion`;
            `rerank=true` is one of all strategies.

    Raises:
        UnknownStrategy: The service has none of this name.
        InvalidInput: What follows the name are no options, or the strategy does not take them.
    """
    there = {strategy.name: strategy for strategy in known}
    names = list(dict.fromkeys(wanted)) or [name for name in NAMES if name in there]
    return [_arm(there, name) for name in names]


def _arm(there: Mapping[str, StrategyInfo], wanted: str) -> Arm:
    name, _, given = wanted.partition(":")
    if name not in there:
        raise UnknownStrategy(
            f"The service has no strategy `{name}`; it has: {', '.join(sorted(there))}."
        )
    options: dict[str, OptionValue] = {}
    for part in given.split(",") if given else ():
        option, equals, text = part.partition("=")
        if not equals:
            raise InvalidInput(
                f"`{part}` is no option; write {name}:OPTION=VALUE,OPTION=VALUE.", field="strategy"
            )
        options[option] = _value(there[name], option, text)
    rerank = cast("bool | None", options.pop(_RERANK, None))
    return Arm(name=wanted, strategy=name, options=options, rerank=rerank)


def _value(strategy: StrategyInfo, name: str, text: str) -> OptionValue:
    """Read the value of an option as the option's type."""
    option = _option(strategy, name)
    if option is not None:
        value = _typed(text, type(option.default))
        fits = _takes(option, value)
    elif name == _RERANK:
        value = _typed(text, bool)
        fits = isinstance(value, bool)
    elif name == "preset":
        value, fits = text, text in strategy.presets
    else:
        known = ", ".join(["preset", _RERANK, *(one.name for one in strategy.parameters)])
        raise InvalidInput(
            f"{strategy.name} has no option `{name}`; it has: {known}.", field="strategy"
        )
    if not fits:
        raise InvalidInput(f"`{name}` of {strategy.name} does not take `{text}`", field="strategy")
    return value


def _typed(text: str, wanted: type[str | int | float | bool]) -> OptionValue:
    """Read a value; text that is none of this type stays text."""
    if wanted is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return wanted(text)
    except ValueError:
        return text


def ablations(known: Sequence[StrategyInfo], arms: Sequence[Arm]) -> list[Arm]:
    """Switch off each mechanism of some arms, one at a time; beside the default also add fusion.

    A mechanism that an arm has off already is left out. The values of a preset are not known
    here, so an arm with a preset is measured without each mechanism of its strategy.

    Args:
        known: What the service has, the default first.
        arms: To switch mechanisms off in.
    """
    default = known[0].name
    there = {strategy.name: strategy for strategy in known}
    found = [
        replace(arm, name=_without(arm.name, mechanism, default), options={**arm.options, **off})
        for arm in arms
        for mechanism, off in there[arm.strategy].mechanisms.items()
        if not _is_off(there[arm.strategy], arm, off)
    ]
    if "fusion" in there and any(arm.name == default for arm in arms):
        found.append(Arm(name="fusion", strategy="fusion"))
    return found


def sweeps(known: Sequence[StrategyInfo], arms: Sequence[Arm], wanted: Sequence[str]) -> list[Arm]:
    """Give some arms each value of an option, one option at a time.

    Args:
        known: What the service has.
        arms: To vary; those whose strategy lacks an option are left out.
        wanted: Each an option with its values: `steps=1,2,3`.

    Raises:
        InvalidInput: No strategy of the arms has an option, or it does not take a value.
    """
    there = {strategy.name: strategy for strategy in known}
    found: list[Arm] = []
    for each in wanted:
        option, _, values = each.partition("=")
        able = [arm for arm in arms if _option(there[arm.strategy], option) is not None]
        if not able:
            raise InvalidInput(
                f"no strategy of this run has an option `{option}`; write OPTION=VALUE,VALUE",
                field="sweep",
            )
        found += [
            _arm(there, f"{arm.name}{',' if ':' in arm.name else ':'}{option}={value}")
            for arm in able
            for value in values.split(",")
        ]
    return found


def _option(strategy: StrategyInfo, name: str) -> Parameter | None:
    return next((one for one in strategy.parameters if one.name == name), None)


def _takes(option: Parameter, value: OptionValue) -> bool:
    """Tell whether an option has this type, and its bounds or words allow the value."""
    if type(value) is not type(option.default):
        return False
    if isinstance(value, str):
        return not option.choices or value in option.choices
    low, high = option.low, option.high
    return (low is None or low <= value) and (high is None or value <= high)


def unconsolidated(arm: Arm, default: str) -> Arm:
    """Name an arm as it is before the memory was consolidated."""
    return replace(arm, name=_without(arm.name, _CONSOLIDATION, default))


def whole(name: str, default: str) -> str:
    """Name the arm that an ablation is compared with.

    >>> whole("synapse:without:fan effect", "ecphoria"), whole("fusion", "ecphoria")
    ('synapse', 'ecphoria')
    """
    arm, _, _ = name.rpartition(f":{WITHOUT}")
    return arm or default


def _without(arm: str, mechanism: str, default: str) -> str:
    return f"{WITHOUT}{mechanism}" if arm == default else f"{arm}:{WITHOUT}{mechanism}"


def _is_off(strategy: StrategyInfo, arm: Arm, off: Mapping[str, OptionValue]) -> bool:
    defaults = {option.name: option.default for option in strategy.parameters}
    values = arm.options if "preset" in arm.options else {**defaults, **arm.options}
    return all(values.get(name) == value for name, value in off.items())
