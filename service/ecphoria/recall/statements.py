"""The facts that the rows of a frame state, as further words and meaning of these rows."""

from dataclasses import dataclass

import numpy as np

from ecphoria.maths.checks import FloatArray, IntArray
from ecphoria.records.ids import FactId


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Told:
    """s statements of the rows of a frame; a fact that several rows state is there for each.

    Attributes:
        row: [s] the row that states it.
        fact: Its id.
        subject: Normalised.
        statement: In one line.
        cosine: [s] to the cue.
        counts: [s, q] how often it has each stem of the cue.
    """

    row: IntArray
    fact: tuple[FactId, ...]
    subject: tuple[str, ...]
    statement: tuple[str, ...]
    cosine: FloatArray
    counts: FloatArray

    def added(self, own: FloatArray) -> FloatArray:
        """Count the stems that each row's statements have and the row lacks, [n, q].

        Args:
            own: [n, q] how often each row has each stem.
        """
        found = np.zeros_like(own)
        np.add.at(found, self.row, self.counts)
        return np.where(own > 0.0, 0.0, found)

    def nearest(self, own: FloatArray, share: float) -> FloatArray:
        """Take `share` of the cosine of a row's nearest statement where that is larger, [n].

        Args:
            own: [n] cosine of each row.
            share: 0 to 1; with 0 the rows keep their own.
        """
        found = own.copy()
        if share > 0.0:
            np.maximum.at(found, self.row, share * self.cosine)
        return found
