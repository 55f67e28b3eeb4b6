"""Engrams of sessions: what each came to, once it is closed."""

from datetime import timedelta

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.consolidation.summary import FORMULA, key_of
from ecphoria.consolidation.writing import Writer
from ecphoria.graph.engrams import EngramRow, EngramStore, TouchedSession
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.ports.chat import Chat

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

    def __init__(self, store: EngramStore, chat: Chat | None = None) -> None:
        """Summarise in the turns' own words, or in those of a language model."""
        self._store = store
        self._chat = chat

    async def run(self, cycle: Cycle) -> Outcome:
        """Summarise what changed."""
        writer = Writer(self._chat, "session", dry_run=cycle.dry_run)
        formula = f"{FORMULA} {writer.by}".strip()
        touched = await self._store.touched_sessions(cycle.tenant, formula)
        closed = [
            session
            for session in touched
            if not session.mark or session.last_occurred_at <= cycle.now - CLOSED_AFTER
        ]
        counts = {
            "sessions": len(closed), "open": len(touched) - len(closed), "made": 0, "dropped": 0
        }  # fmt: skip
        changes: list[Change] = []
        for session in closed:
            await cycle.reached("engrams: session")
            told = await self._summarise(cycle, session, writer)
            if told is not None:
                counts["made" if told.kind == "summarise" else "dropped"] += 1
                changes.append(told)
        if not cycle.dry_run and not writer.is_owing:
            await self._store.save_formula(cycle.tenant, cycle.lease, formula)
        return Outcome(
            counts=counts | writer.counts,
            changes=tuple(changes[:TOLD]),
            degraded=writer.degraded,
        )

    async def _summarise(
        self, cycle: Cycle, session: TouchedSession, writer: Writer
    ) -> Change | None:
        """Give a session its engram, unless it has the right one; tell what changed."""
        members = await self._store.members(cycle.tenant, session.name)
        if len(members) < _LEAST:
            return await self._save(cycle, session, None)
        keys = [f"{one.id} {one.body_hash}" for one in members]
        wanted = key_of(cycle.tenant, session.name, keys, writer.by)
        if wanted == session.engram:
            if not cycle.dry_run:
                await self._store.keep_engram(cycle.tenant, cycle.lease, session)
            return None
        summary = await writer.summary(members)
        engram = EngramRow(
            id=wanted if summary.final else key_of(cycle.tenant, session.name, keys),
            summary=summary.text,
            members=len(members),
            evidence=summary.evidence,
            method=summary.method,
            formula=FORMULA,
        )
        return await self._save(cycle, session, engram, final=summary.final)

    async def _save(
        self,
        cycle: Cycle,
        session: TouchedSession,
        engram: EngramRow | None,
        *,
        final: bool = True,
    ) -> Change | None:
        if not cycle.dry_run:
            await self._store.save_engram(cycle.tenant, cycle.lease, session, engram, final=final)
        if engram is None:
            if session.engram is None:
                return None
            return Change(kind="drop", id=session.engram, detail="too few turns")
        if engram.id == session.engram:
            return None
        detail = f"{len(engram.evidence)} of {engram.members} turns"
        return Change(kind="summarise", id=engram.id, detail=detail)
