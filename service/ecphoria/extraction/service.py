"""The step of a cycle in which a language model reads new episodes."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ecphoria.consolidation.service import TOLD, Cycle, Skipped
from ecphoria.extraction.reading import (
    INSTRUCTION,
    VERSION,
    Found,
    PromptTurns,
    Said,
    Unread,
    checked,
    halves,
    names_to_look_up,
    parts,
)
from ecphoria.extraction.store import ExtractionStore, Position
from ecphoria.ingest.changes import Reading
from ecphoria.ingest.service import IngestService
from ecphoria.models.chat import StructuredChat
from ecphoria.ports import NoAnswer, NothingUsable
from ecphoria.recall.answer import count_tokens
from ecphoria.records.ids import EpisodeId
from ecphoria.records.job import Change, StepOutcome

# The position moves at the end of a page. After a crash the page is read again, without calls for
# episodes that have the mark (decision 0034).
_PAGE: Final = 200


@dataclass(slots=True)
class _Progress:
    """The results of the step; `found` and `failed` wait until they are stored."""

    counts: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)
    found: dict[EpisodeId, Found] = field(default_factory=dict)
    failed: set[EpisodeId] = field(default_factory=set)


class Extract:
    """Reads live episodes that were not read yet, in the order of their turns.

    A call shows up to 20 turns or 3,000 tokens of one session, and two turns before them. Findings
    are stored after each call, so an attempt after a crash continues where the last one ended. If
    the model does not answer, the step ends, and the next one continues. An episode that the model
    cannot read is reported and skipped.
    """

    name = "extract"

    def __init__(
        self, store: ExtractionStore, ingest: IngestService, chat: StructuredChat | None
    ) -> None:
        self.store = store
        self._ingest = ingest
        self._chat = chat

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Read new episodes; a dry run counts the calls and estimates the tokens."""
        if self._chat is None:
            raise Skipped("There is no language model; set ECPHORIA_LLM__MODEL.")
        progress = _Progress()
        progress.counts.update(
            episodes=0, calls=0, tokens=0, tokens_written=0, names=0, facts=0, dropped=0,
            clipped=0, failed=0,
        )  # fmt: skip
        position = await self.store.position(cycle.tenant)
        degraded: tuple[str, ...] = ()
        while page := await self.store.unread(cycle.tenant, position.after_turn, _PAGE):
            position = Position(after_turn=page[-1].turn, round=position.round)
            try:
                await self._page(cycle, self._chat, page, position, progress)
            except NoAnswer as error:
                degraded = (f"extraction stopped, the next cycle goes on: {error}",)
                break
        return StepOutcome(
            counts=progress.counts, changes=tuple(progress.changes[:TOLD]), degraded=degraded
        )

    async def _page(
        self,
        cycle: Cycle,
        chat: StructuredChat,
        page: Sequence[Unread],
        position: Position,
        progress: _Progress,
    ) -> None:
        """Read a page session by session, store each call's findings, then the position."""
        calls = list(parts(sorted(page, key=lambda turn: (turn.session or "", turn.turn))))
        before = await self.store.before(cycle.tenant, [call[0].id for call in calls])
        for place, call in enumerate(calls):
            await cycle.reached(f"extract: turn {call[0].turn}")
            shown = PromptTurns(turns=call, before=before.get(call[0].id, ()))
            mark = self._mark(chat, shown, position)
            # After a crash the page is read again, without calls for episodes that have the mark
            # (decision 0034).
            if all(turn.extracted_by == mark for turn in call):
                continue
            if cycle.dry_run:
                sent = count_tokens([INSTRUCTION + shown.prompt])[0]
                progress.counts.update(calls=1, tokens=sent, episodes=len(call))
                continue
            await self._read(cycle, chat, shown, progress)
            # The findings of a long text are stored together, after its last part.
            following = calls[place + 1][0].id if place + 1 < len(calls) else None
            if following != call[-1].id:
                await self._save(cycle, chat, progress, mark)
        if not cycle.dry_run:
            await self.store.save(cycle.tenant, cycle.lease, position)

    async def _read(
        self, cycle: Cycle, chat: StructuredChat, shown: PromptTurns, progress: _Progress
    ) -> None:
        try:
            reply = await chat.ask("extract", INSTRUCTION, shown.prompt, Said, blames_text=True)
        except NothingUsable as error:
            progress.counts.update(
                calls=error.calls, tokens=error.tokens, tokens_written=error.written
            )
            if isinstance(error, NoAnswer):
                raise
            if len(shown.turns) > 1:
                # Halves are read again, so that only the text at fault counts as failed
                # (decision 0046).
                for half in halves(shown.turns):
                    await cycle.reached(f"extract: turn {half[0].turn}, fewer at once")
                    part = PromptTurns(turns=half, before=shown.before)
                    await self._read(cycle, chat, part, progress)
                return
            progress.failed.add(shown.turns[0].id)
            return
        progress.counts.update(
            calls=reply.calls, tokens=reply.tokens, tokens_written=reply.written
        )
        known = await self.store.known(cycle.tenant, names_to_look_up(reply.value, shown))
        found, counts = await asyncio.to_thread(checked, reply.value, shown, known)
        progress.counts.update(counts)
        _join(progress.found, found)

    async def _save(
        self, cycle: Cycle, chat: StructuredChat, progress: _Progress, mark: str
    ) -> None:
        """Store what was found since the last save."""
        # Stored as if the caller had sent it, so recall, facts, erasure and export need no second
        # path (decision 0034).
        readings = [
            Reading(episode=episode, found=found.extracted(), extracted_by=mark)
            for episode, found in progress.found.items()
            if episode not in progress.failed
        ]
        if readings:
            await self._ingest.restate(cycle.tenant, readings, by=chat.model, lease=cycle.lease)
        progress.counts.update(episodes=len(readings), failed=len(progress.failed))
        progress.changes += [
            Change(kind="fail", id=episode, detail="the model cannot read it")
            for episode in sorted(progress.failed)
        ]
        progress.found.clear()
        progress.failed.clear()

    def _mark(self, chat: StructuredChat, shown: PromptTurns, position: Position) -> str:
        """Build the mark: the model, and a hash of everything that decides its answer."""
        asked = f"{VERSION} {position.round}\n{INSTRUCTION}\n{shown.prompt}"
        return f"{chat.model} {sha256(asked.encode()).hexdigest()[:16]}"


def _join(into: dict[EpisodeId, Found], found: Mapping[EpisodeId, Found]) -> None:
    """Add findings, also of further parts of one text."""
    for episode, part in found.items():
        whole = into.setdefault(episode, Found())
        for name, stated in part.names.items():
            whole.names.setdefault(name, stated)
        whole.facts += part.facts
