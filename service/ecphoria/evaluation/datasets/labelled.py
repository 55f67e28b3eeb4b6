"""Questions about memories that are already stored, each with whether they hold the answer."""

from dataclasses import dataclass
from pathlib import Path

from ecphoria.errors import BadFile
from ecphoria.evaluation.datasets.reading import Record, digest, read_lines

__all__ = ["Labelled", "LabelledFile", "load_labelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A question and whether the store can answer it.

    Attributes:
        group: Questions that are alike, such as those about one conversation, share one; empty
            where the file does not say.
    """

    text: str
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """What one file asks."""

    questions: tuple[Labelled, ...]
    sha256: str


def load_labelled(path: Path) -> LabelledFile:
    """Read `{"question": TEXT, "answerable": true or false, "group": TEXT if any}` a line.

    Raises:
        BadFile: A line is something else; says which, and what is wrong.
    """
    return LabelledFile(
        questions=tuple(_labelled(record) for record in read_lines(path)), sha256=digest([path])
    )


def _labelled(record: Record) -> Labelled:
    for name in record.fields:
        if name not in {"question", "answerable", "group"}:
            raise BadFile(
                f"{record.where}: there is no field `{name}`; write question, answerable, group."
            )
    answerable = record.fields.get("answerable")
    if not isinstance(answerable, bool):
        raise record.bad("answerable", "true or false")
    text = record.text("question")
    if not text.strip():
        raise record.bad("question", "text to ask")
    group = record.text("group") if "group" in record.fields else ""
    return Labelled(text=text, answerable=answerable, group=group)
