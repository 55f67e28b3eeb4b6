"""Tell whether two long texts are almost the same: an output with other times and counters.

Texts are compared by their runs of four words. Of the runs of both, at least four fifths must be
in both. A changed word takes four runs from either text, so of `n` words `n / 36` may differ here
and there, for example five of 200; words that change side by side cost less.

Of a text with many runs the 512 with the smallest hashes stand for all (MinHash): the share is
then right within about .02.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.text.english import DENIALS
from ecphoria.text.tokens import word_set

SHORTEST: Final = 800
"""Characters. A shorter text is a turn of talk, in which each word may matter."""
LONGEST: Final = 32_000
"""Characters; a sketch takes about a second for ten million."""
_LEAST_WORDS: Final = 60
_RUN: Final = 4
_ALIKE: Final = 0.8
_KEPT: Final = 512

_WORD: Final = re.compile(r"\w+")
_OUTCOMES: Final = DENIALS | word_set("""
        pass passed passes passing fail failed fails failing failure failures ok success successful
        successfully succeeded error errors exception warning warnings true false yes no none null
        denied allowed refused accepted enabled disabled on off up down timeout killed aborted
        skipped found missing
        """)
"""Words that tell how something came out: if one is in one text only, they are no copies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """The compared parts of a text: hashes of its runs of words, and its words of outcomes."""

    runs: frozenset[int]
    outcomes: frozenset[str]


def sketch(text: str) -> Sketch | None:
    """Sketch a text; None if it is too short, too long, or has too few words."""
    if not SHORTEST <= len(text) <= LONGEST:
        return None
    said = _WORD.findall(text.lower())
    if len(said) < _LEAST_WORDS:
        return None
    return Sketch(runs=_smallest(said), outcomes=_OUTCOMES.intersection(said))


def almost_same(one: Sketch, other: Sketch) -> bool:
    """Tell whether two texts differ in a few words only, none of which tells an outcome."""
    if one.outcomes != other.outcomes:
        return False
    both = sorted(one.runs | other.runs)[:_KEPT]
    shared = one.runs & other.runs
    return sum(run in shared for run in both) >= _ALIKE * len(both)


def _smallest(said: Sequence[str]) -> frozenset[int]:
    """Hash the runs of words, and keep the smallest hashes."""
    starts = range(len(said) - _RUN + 1)
    runs = {zlib.crc32(" ".join(said[at : at + _RUN]).encode()) for at in starts}
    return frozenset(runs if len(runs) <= _KEPT else sorted(runs)[:_KEPT])
