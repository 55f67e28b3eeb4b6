"""Summaries: what a group of turns came to, in a few of its own sentences.

Source: SYNAPSE's and CLS-M's session records, without a language model: the turns nearest to the
whole, said once, in their order.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from ecphoria.graph.engrams import Member
from ecphoria.kernels.central import central
from ecphoria.model.ids import TenantId, derived_id

__all__ = ["FORMULA", "Summary", "extracted", "key_of"]

FORMULA = 1
"""Grows when the same turns would be summarised otherwise; then all are made anew."""
_MOST = 5
_SAYS_ENOUGH = 8
"""Stems of a turn that says something; shorter ones count for less."""
_EXCERPT = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A few lines that stand for a group of turns.

    Attributes:
        evidence: The turns whose words are in it, by id.
        method: How it was made.
        final: Whether the same turns need not be summarised again.
    """

    text: str
    evidence: tuple[str, ...]
    method: str
    final: bool = True


def extracted(members: Sequence[Member]) -> Summary:
    """Quote up to 5 turns, the square root of their number, in the order given."""
    chosen = central(
        np.stack([one.vector for one in members]).astype(np.float64),
        [min(1.0, one.length / _SAYS_ENOUGH) for one in members],
        count=min(_MOST, ceil(sqrt(len(members)))),
    )
    quoted = [members[row] for row in sorted(chosen.tolist())]
    return Summary(
        text="\n".join(_line(one) for one in quoted),
        evidence=tuple(sorted(one.id for one in quoted)),
        method="extractive",
    )


def key_of(tenant: TenantId, of: str, members: Sequence[str], by: str = "") -> str:
    """Derive an engram's id from what it is of, its members in any order, and who writes it."""
    key = hashlib.sha256(f"{FORMULA} {of}{by and f' {by}'}".encode())
    for one in sorted(members):
        key.update(f" {one}".encode())
    return derived_id(tenant, "engram", key.hexdigest())


def _line(turn: Member) -> str:
    """Quote a turn: up to the last sentence, else the last word, that has room."""
    text = " ".join(turn.text.split())
    if len(text) > _EXCERPT:
        cut = text[:_EXCERPT]
        end = max(cut.rfind(mark) + 1 for mark in (". ", "! ", "? "))
        text = cut[:end] if end > 0 else cut.rsplit(" ", 1)[0] + " …"
    return f"{turn.speaker}: {text}" if turn.speaker else text
