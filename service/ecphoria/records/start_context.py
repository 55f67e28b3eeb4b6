"""The context that a session of an agent starts with, before there is a question."""

from dataclasses import dataclass
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.ids import EpisodeId

START_BUDGET = 3_250
"""Tokens of the whole context: 5 kB of identity and 8 kB of memories, as CLS-M has them."""


class LineKind(StrEnum):
    """The kind of a line."""

    ABOUT = "about"
    FACT = "fact"
    SUMMARY = "summary"
    TURN = "turn"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class LineSource:
    """The source of one line of a start context."""

    number: int
    """The number in brackets at the start of the line."""
    kind: LineKind
    """`about`, `fact`, `summary` or `turn`."""
    id: str
    """Id of the fact, of the engram or of the episode."""
    episodes: tuple[EpisodeId, ...]
    """The memories behind it, in no special order."""
    start: int | None = None
    """Of a turn or statement, the start of the shown part in its text, in characters."""
    end: int | None = None
    """Of a turn or statement, the end of that part, exclusive."""
    topic: str | None = None
    """Of a statement about the user: `name`, `home`, `work`, `people`, `project`, `preference` or
    `decision`."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class StartContext:
    """The context at the start of a session."""

    context: str
    """Statements of the user about themselves, current facts, summaries of the last sessions and
    the latest turns, ready for a prompt; empty if there is nothing to show."""
    context_tokens: int
    """Its size, never more than `token_budget`."""
    token_counter: str
    """The byte-pair table that counts the tokens."""
    references: tuple[LineSource, ...]
    """The source of each line of `context`, in the order of the lines."""
    left_out: int
    """Number of lines that did not fit."""
    reasons: tuple[str, ...]
    """Why it is empty, or which wanted name is unknown, in words."""
