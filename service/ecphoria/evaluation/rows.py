"""The raw result of one question and one strategy: all figures come from these alone."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecphoria.errors import BadFile
from ecphoria.evaluation.datasets.dataset import ADVERSARIAL
from ecphoria.evaluation.datasets.reading import read_lines

__all__ = ["Row", "read_rows", "write_rows"]


class Row(BaseModel):
    """One line of ROWS.jsonl."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    strategy: str
    """Its name, or `without:...` for an ablation of the default."""
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
    """That the answer is among it."""
    evidence: dict[str, float] = Field(default_factory=dict)
    """What the gate could weigh, by name."""
    verdict: str = "failed"
    """What the gate said."""
    latency_ms: float = 0.0
    """Of the whole recall, measured by the service."""
    timings_ms: dict[str, float] = Field(default_factory=dict)
    """By phase."""
    context_tokens: int = 0
    """Size of the context block."""
    error: str | None = None
    """Code of the error if the question failed; it scores 0."""

    @property
    def adversarial(self) -> bool:
        """Whether it counts for abstention only."""
        return self.category == ADVERSARIAL

    @property
    def scored(self) -> bool:
        """Whether it counts for recall."""
        return bool(self.gold) and not self.adversarial and not self.taken_out


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a row a line."""
    text = "".join(f"{row.model_dump_json()}\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def read_rows(path: Path) -> Iterator[Row]:
    """Read what `write_rows` wrote.

    Raises:
        BadFile: It cannot be read, or is something else.
    """
    for record in read_lines(path):
        try:
            yield Row.model_validate(record.fields)
        except ValidationError as error:
            raise BadFile(f"{record.where} is not a row of results.") from error
