"""A second search among dormant memories, which wakes those that answer."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from ecphoria.recall.shadow import SettingsOf, ShadowedRecall
from ecphoria.records.episode import State
from ecphoria.records.history import USED_HITS
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult

Wake = Callable[[TenantId, Sequence[EpisodeId]], Awaitable[Sequence[EpisodeId]]]


class SecondLookRecall:
    """Recall with a second look among dormant memories, if the tenant or the caller wants it.

    Memories wake only if the gate accepts the second search: a refusal does not show that they are
    needed.
    """

    def __init__(self, recalls: ShadowedRecall, settings_of: SettingsOf, wake: Wake) -> None:
        self._recalls = recalls
        self._settings_of = settings_of
        self._wake = wake

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        """Recall a cue; if refused and the tenant wants it, search dormant memories too.

        Args:
            tenant: Whose memories.
            cue: What is asked.
            options: How.
            record: Store a trace; without it there is no second search, and no memory wakes.

        Raises:
            InvalidInput: An empty cue, an option out of bounds; the message says what to send.
            UnknownStrategy: No such strategy.
            NotFound: No such tenant.
            Unavailable: The store or the encoder does not answer.
        """
        answer = await self._recalls.recall(tenant, cue, options, record=record)
        refused = answer.verdict.refused
        # A recall without a trace changes nothing (docs/howto/learning.md).
        if not record:
            return answer
        if refused and not options.include_dormant and await self._looks_again(tenant):
            answer = await self._look_again(tenant, cue, options, answer)
        dormant = _dormant(answer)
        if dormant and not answer.verdict.refused and (options.wake or answer.second_look):
            answer = replace(answer, woken=tuple(await self._wake(tenant, dormant)))
        return answer

    async def _looks_again(self, tenant: TenantId) -> bool:
        return (await self._settings_of(tenant)).dormancy.second_look

    async def _look_again(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, refused: RecallResult
    ) -> RecallResult:
        """Keep the refusal unless a dormant memory answers."""
        # Dormant memories are in no index, so they are compared one by one, and only if the live
        # ones give no answer (docs/howto/forgetting.md).
        wider = replace(options, include_dormant=True)
        answer = await self._recalls.recall(tenant, cue, wider, record=True)
        if not answer.verdict.refused and _dormant(answer):
            return replace(answer, second_look=True)
        return refused


def _dormant(answer: RecallResult) -> list[EpisodeId]:
    return [
        hit.episode.id for hit in answer.hits[:USED_HITS] if hit.episode.state is State.DORMANT
    ]
