"""Calls of facts, on the asynchronous client."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of, instant_text, segment
from ecphoria.model.fact import PredicateClass
from ecphoria.wire.facts import (
    ClassRequest,
    DecisionAnswer,
    DecisionRequest,
    FactAnswer,
    FactPageAnswer,
    HistoryAnswer,
    PredicateAnswer,
    UndoRequest,
)

__all__ = ["AsyncFacts"]


class AsyncFacts(AsyncSender):
    """What was claimed, when it held, and what people decide about it."""

    async def facts(
        self,
        concept: str | None = None,
        *,
        predicate: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[FactAnswer]:
        """Walk through facts by id, page after page.

        Args:
            concept: Only facts with this name at an end.
            predicate: Only facts of this predicate.
            as_of: Tell which held then; now if absent.
            known_at: Look only at what was recorded and decided by then.
            page_size: Facts fetched at a time.
        """
        cursor: str | None = None
        while True:
            page = await self._get(
                "/v1/facts",
                FactPageAnswer,
                concept=concept,
                predicate=predicate,
                as_of=instant_text(as_of),
                known_at=instant_text(known_at),
                cursor=cursor,
                limit=page_size,
            )
            for fact in page.facts:
                yield fact
            cursor = page.next_cursor
            if cursor is None:
                return

    async def fact_history(
        self, fact: str, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> HistoryAnswer:
        """Show everything claimed of the subject and predicate of a fact, and decided about it."""
        return await self._get(
            f"/v1/facts/{segment(fact)}/history",
            HistoryAnswer,
            as_of=instant_text(as_of),
            known_at=instant_text(known_at),
        )

    async def decide(
        self,
        fact: str,
        ruling: Literal["retract", "keep_open", "set_interval"],
        *,
        other: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        why: str = "",
    ) -> DecisionAnswer:
        """Decide that a fact is wrong, holds beside another one, or held in an interval.

        Args:
            fact: Its id.
            ruling: What is decided.
            other: The fact to keep open with it.
            valid_from: Beginning of the interval to set.
            valid_to: End of the interval to set; open if absent.
            why: The reason, kept with the decision.
        """
        given = {
            "ruling": ruling,
            "other": other,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "why": why,
        }
        wanted = body_of(DecisionRequest, given)
        path = f"/v1/facts/{segment(fact)}/decisions"
        return await self._post(path, wanted, DecisionAnswer, repeatable=False)

    async def undo(self, decision: str, *, why: str = "") -> DecisionAnswer:
        """Take a decision back; undo the undo, and it counts again."""
        wanted = body_of(UndoRequest, {"why": why})
        path = f"/v1/decisions/{segment(decision)}/undo"
        return await self._post(path, wanted, DecisionAnswer, repeatable=False)

    async def predicates(self) -> Sequence[PredicateAnswer]:
        """List the predicates that are not `multi` by default, and the tenant's own choices."""
        return await self._get_all("/v1/predicates", PredicateAnswer)

    async def set_predicate_class(
        self, predicate: str, predicate_class: PredicateClass, *, why: str = ""
    ) -> DecisionAnswer:
        """Give a predicate another class; needs the scope admin, and can be undone."""
        wanted = body_of(ClassRequest, {"predicate_class": predicate_class, "why": why})
        path = f"/v1/predicates/{segment(predicate)}"
        call = Call(method="PUT", path=path, repeatable=False, body=wanted)
        return DecisionAnswer.model_validate_json((await self._send(call)).content)
