"""Read from one conversation turn the features that rank it and that tell who is meant."""

import math
from dataclasses import dataclass

from ecphoria.language.english import (
    FIRST_PERSON,
    NO_KNOWLEDGE,
    SECOND_PERSON,
    TIME_EXPRESSION,
)

__all__ = [
    "TurnFeatures",
    "has_time_expression",
    "is_question",
    "length_prior",
    "turn_features",
    "without_caption",
]

_CAPTION = "[shares "

LONGEST_EXCUSE = 120
"""Characters up to which a turn that says "I don't know" says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFeatures:
    """What a turn's text says about it besides its words; a document has none of these."""

    length: float
    is_question: bool
    has_time_expression: bool
    first_person: bool
    second_person: bool


def without_caption(text: str) -> str:
    """Cut a trailing ` [shares CAPTION]`, which describes an image and was not said."""
    trimmed = text.rstrip()
    if not trimmed.endswith("]"):
        return text
    start = trimmed.rfind(_CAPTION)
    return trimmed[:start].rstrip() if start >= 0 else text


def length_prior(stem_count: int) -> float:
    """Rise from 0 for no stems to 1 at 39 and more: `min(1, ln(1 + n) / ln 40)`.

    Stored with a turn; recall weighs lengths by `kernels.lengths.length_weight`.
    """
    return min(1.0, math.log1p(stem_count) / math.log(40))


def is_question(spoken: str) -> bool:
    """Tell whether a text answers nothing: it ends by asking, or only says "I don't know".

    Args:
        spoken: The text without its caption.
    """
    trimmed = spoken.rstrip()
    if trimmed.endswith("?"):
        return True
    # A long text may say so of one thing and still tell another.
    return len(trimmed) <= LONGEST_EXCUSE and NO_KNOWLEDGE.search(trimmed) is not None


def has_time_expression(spoken: str) -> bool:
    """Look for a word that places something in time, in a text without its caption."""
    return TIME_EXPRESSION.search(spoken.lower()) is not None


def turn_features(text: str, stem_count: int) -> TurnFeatures:
    """Read all features of a turn's text; its caption counts for the length only."""
    spoken = without_caption(text)
    return TurnFeatures(
        length=length_prior(stem_count),
        is_question=is_question(spoken),
        has_time_expression=has_time_expression(spoken),
        first_person=FIRST_PERSON.search(spoken) is not None,
        second_person=SECOND_PERSON.search(spoken) is not None,
    )
