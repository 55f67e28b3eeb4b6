"""Engrams of sessions: what each came to, once it is closed."""

from collections.abc import Sequence
from datetime import timedelta

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.consolidation.summary import FORMULA, extracted, key_of
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId
from ecphoria.ports.engrams import EngramRow, EngramStore, Member, TouchedSession

__all__ = ["CLOSED_AFTER", "MakeEngrams"]

CLOSED_AFTER = timedelta(hours=1)
_LEAST = 3


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
            members = await self._store.members(cycle.tenant, session.name)
            engram = _engram(cycle.tenant, session.name, members)
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
    """Summarise a session; None for one of too few turns to need it."""
    if len(members) < _LEAST:
        return None
    summary = extracted(members)
    return EngramRow(
        id=key_of(tenant, session, [f"{one.id} {one.body_hash}" for one in members]),
        summary=summary.text,
        members=len(members),
        evidence=summary.evidence,
        method=summary.method,
        formula=FORMULA,
    )
