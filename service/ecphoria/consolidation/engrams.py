"""Engrams: what a session came to, in a few of its own sentences.

Source: SYNAPSE's and CLS-M's session records, without a language model: the turns nearest to the
whole, said once, in their order.
"""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from math import ceil, sqrt

import numpy as np

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.kernels.central import central
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId, derived_id
from ecphoria.ports.engrams import EngramRow, EngramStore, Member, TouchedSession

__all__ = ["CLOSED_AFTER", "FORMULA", "MakeEngrams"]

FORMULA = 1
"""Grows when the same session would be summarised otherwise; then all are made anew."""
CLOSED_AFTER = timedelta(hours=1)
_LEAST, _MOST = 3, 5
_SAYS_ENOUGH = 8
"""Stems of a turn that says something; shorter ones count for less."""
_EXCERPT = 240


class MakeEngrams:
    """Gives each closed session that changed an engram, in the place of its older one.

    A session is closed an hour after its last turn occurred; one that is not keeps the mark that
    the write left on it for a later cycle. The id is a hash of the turns, so the same turns have
    the same engram. `EVIDENCE` leads to every turn whose words are in the summary: when one of
    them is deleted the engram goes with it, at once, and the next cycle makes another.
    """

    name = "engrams"

    def __init__(self, store: EngramStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Summarise what changed."""
        counts = {"sessions": 0, "open": 0, "made": 0, "dropped": 0}
        changes: list[Change] = []
        for session in await self._store.touched_sessions(cycle.tenant, FORMULA):
            await cycle.reached("engrams: session")
            if session.mark and session.last_occurred_at > cycle.now - CLOSED_AFTER:
                counts["open"] += 1
                continue
            counts["sessions"] += 1
            engram = _engram(
                cycle.tenant,
                session.name,
                await self._store.members(cycle.tenant, session.name),
            )
            told = _difference(session, engram)
            if told is not None:
                counts["made" if told.kind == "summarise" else "dropped"] += 1
                changes.append(told)
            if not cycle.dry_run:
                await self._store.save_engram(cycle.tenant, cycle.lease, session, engram)
        if not cycle.dry_run:
            await self._store.save_formula(cycle.tenant, cycle.lease, FORMULA)
        return Outcome(counts=counts, changes=tuple(changes[:TOLD]))


def _difference(session: TouchedSession, engram: EngramRow | None) -> Change | None:
    if engram is None:
        if session.engram is None:
            return None
        return Change(kind="drop", id=session.engram, detail="too few turns")
    if engram.id == session.engram:
        return None
    detail = f"{len(engram.evidence)} of {engram.members} turns"
    return Change(kind="summarise", id=engram.id, detail=detail)


def _engram(tenant: TenantId, session: str, members: Sequence[Member]) -> EngramRow | None:
    """Choose the turns that stand for the rest; None for too few to need it."""
    if len(members) < _LEAST:
        return None
    chosen = central(
        np.stack([one.vector for one in members]).astype(np.float64),
        [min(1.0, one.length / _SAYS_ENOUGH) for one in members],
        count=min(_MOST, ceil(sqrt(len(members)))),
    )
    quoted = [members[row] for row in sorted(chosen.tolist())]
    key = hashlib.sha256(f"{FORMULA} {session}".encode())
    for one in sorted(members, key=lambda one: one.id):
        key.update(f" {one.id} {one.body_hash}".encode())
    return EngramRow(
        id=derived_id(tenant, "engram", key.hexdigest()),
        session=session,
        summary="\n".join(_line(one) for one in quoted),
        members=len(members),
        evidence=tuple(sorted(one.id for one in quoted)),
        method="extractive",
        formula=FORMULA,
    )


def _line(turn: Member) -> str:
    """Quote a turn: up to the last sentence, else the last word, that has room."""
    text = " ".join(turn.text.split())
    if len(text) > _EXCERPT:
        cut = text[:_EXCERPT]
        end = max(cut.rfind(mark) + 1 for mark in (". ", "! ", "? "))
        text = cut[:end] if end > 0 else cut.rsplit(" ", 1)[0] + " …"
    return f"{turn.speaker}: {text}" if turn.speaker else text
