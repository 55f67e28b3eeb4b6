"""Units of text: what a row's words and meaning are read from.

A short memory is one unit; a long one has a unit for each of its passages.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.passages import PassageColumns
from ecphoria.recall.ports import Columns

FloatArray = NDArray[np.float64]

_MANY = 100
"""Stems of a cue above which reading every word once is faster than a search a stem."""

_BETWEEN = " \n "
"""Between two texts that are searched as one; no stem has a line break."""


_SEARCHES = 100
"""Searches for a stem through a text that take as long as to find its names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """u units of n rows, at least one a row.

    Attributes:
        row: [u] the row each unit is a part of.
        rows: n.
        counts: [u, q] how often each unit has each stem of the cue.
        length: [u] stems.
        cosine: [u] to the cue.
        start, end: [u] span in the episode's text; -1 where the unit is the whole episode.
        part: [u] ordinal of the passage; -1 where the unit is the whole episode.
    """

    row: NDArray[np.int64]
    rows: int
    counts: FloatArray
    length: FloatArray
    cosine: FloatArray
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    part: NDArray[np.int64]

    def best(self, values: FloatArray) -> FloatArray:
        """Take each row's largest value, [n], of values [u]."""
        found = np.full(self.rows, -np.inf)
        np.maximum.at(found, self.row, values)
        return found

    def most(self, values: FloatArray) -> FloatArray:
        """Take each row's largest value a column, [n, q], of values [u, q] >= 0."""
        found = np.zeros((self.rows, values.shape[1]))
        np.maximum.at(found, self.row, values)
        return found

    def mean(self, values: FloatArray) -> FloatArray:
        """Average each row's values, [n], of values [u]."""
        total = np.bincount(self.row, weights=values, minlength=self.rows)
        return np.asarray(total / np.maximum(1, np.bincount(self.row, minlength=self.rows)))


def units_of(
    columns: Columns, counts: FloatArray, passages: PassageColumns | None, stems: Sequence[str]
) -> Units:
    """Cut the rows into units: a row with passages into these, each other row is one.

    Args:
        columns: The rows, n.
        counts: [n, q] stems of whole rows.
        passages: Of some of the rows; None where the store has none.
        stems: The cue's, q.
    """
    size = len(columns.id)
    whole = np.arange(size, dtype=np.int64)
    nothing = np.full(size, -1, dtype=np.int64)
    short = Units(
        row=whole, rows=size, counts=counts, length=columns.length, cosine=columns.cosine,
        start=nothing, end=nothing, part=nothing,
    )  # fmt: skip
    if passages is None or not passages.episode:
        return short
    place = {episode: row for row, episode in enumerate(columns.id)}
    of = np.array([place[episode] for episode in passages.episode], dtype=np.int64)
    kept = np.ones(size, np.bool_)
    kept[of] = False
    return Units(
        row=np.concatenate((whole[kept], of)),
        rows=size,
        counts=np.concatenate((counts[kept], count_stems(passages.terms, stems))),
        length=np.concatenate((columns.length[kept], passages.length)),
        cosine=np.concatenate((columns.cosine[kept], passages.cosine)),
        start=np.concatenate((nothing[kept], passages.start)),
        end=np.concatenate((nothing[kept], passages.end)),
        part=np.concatenate((nothing[kept], passages.part)),
    )


def count_stems(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count stems in texts that are given as stems joined by blanks, [n, q]."""
    if len(stems) > _MANY:
        return _count_all(terms, stems)
    counts = np.zeros((len(terms), len(stems)))
    # One search through all texts at once is several times faster than one a text.
    everything = f" {_BETWEEN.join(terms)} "
    starts = np.cumsum([0, *(len(joined) + len(_BETWEEN) for joined in terms)])
    for column, stem in enumerate(stems):
        rows = np.searchsorted(starts, _find_all(everything, f" {stem} "), side="right") - 1
        counts[:, column] = np.bincount(rows, minlength=len(terms))
    return counts


def counting_work(terms: Iterable[str], stems: Sequence[str]) -> int:
    """Estimate the work of `count_stems`, in the characters that `loop.aside` expects."""
    return sum(map(len, terms)) * len(stems) // _SEARCHES


def _count_all(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count by reading each text once, whatever the number of stems."""
    counts = np.zeros((len(terms), len(stems)))
    place = {stem: column for column, stem in enumerate(stems)}
    for row, joined in enumerate(terms):
        for stem, count in Counter(joined.split()).items():
            if stem in place:
                counts[row, place[stem]] = count
    return counts


def _find_all(text: str, sought: str) -> NDArray[np.int64]:
    """Find every place of `" stem "`; neighbours share the blank between them."""
    places = []
    at = text.find(sought)
    while at >= 0:
        places.append(at)
        at = text.find(sought, at + len(sought) - 1)
    return np.array(places, dtype=np.int64)
