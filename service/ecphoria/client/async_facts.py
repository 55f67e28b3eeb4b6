"""The calls of the asynchronous client about facts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_of, segment


class AsyncFacts(AsyncCalls):
    """Facts with their times, decisions about them, and merges of their concepts."""

    def list(
        self,
        concept: str | None = None,
        *,
        predicate: str | None = None,
        standing: records.fact.Standing | str | None = None,
        sort: records.fact.FactSort | Literal["id", "time"] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[records.fact.FactView]:
        """Iterate over facts, page by page.

        Args:
            concept: Only facts with this name at an end.
            predicate: Only facts of this predicate.
            standing: Only those that are `held`, a `denial`, `contested`, a `candidate` or
                `retracted`.
            sort: By `id`, the default, or `time`: the last stated first.
            as_of: Tell which held then; now if absent.
            known_at: Look only at what was recorded and decided by then.
            page_size: Facts fetched at a time.
        """
        return self._each(
            wire.facts.FactPage,
            "/v1/facts",
            concept=concept,
            predicate=predicate,
            standing=standing,
            sort=sort,
            as_of=as_of,
            known_at=known_at,
            limit=page_size,
        )

    async def history(
        self, fact: str, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> records.fact.FactHistory:
        """Show all facts and decisions of the same subject and predicate."""
        path = f"/v1/facts/{segment(fact)}/history"
        times = {"as_of": as_of, "known_at": known_at}
        return await self._ask(records.fact.FactHistory, "GET", path, parameters=times)

    async def decide(
        self,
        fact: str,
        ruling: Literal["retract", "keep_open", "set_interval"],
        *,
        other: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        why: str = "",
    ) -> records.fact.Decision:
        """Decide that a fact is wrong, holds beside another one, or held in an interval.

        Args:
            fact: Its id.
            ruling: What is decided.
            other: The fact to keep open with it.
            valid_from: Beginning of the interval to set.
            valid_to: End of the interval to set; open if absent.
            why: The reason, kept with the decision.
        """
        wanted = body_of(
            records.fact.NewDecision,
            ruling=ruling,
            other=other,
            valid_from=valid_from,
            valid_to=valid_to,
            why=why,
        )
        path = f"/v1/facts/{segment(fact)}/decisions"
        return await self._ask(records.fact.Decision, "POST", path, wanted, repeatable=False)

    def decisions(self, *, page_size: int = 100) -> AsyncIterator[records.fact.ListedDecision]:
        """Iterate over the decisions about facts and predicates, the latest first."""
        return self._each(wire.facts.DecisionPage, "/v1/decisions", limit=page_size)

    async def undo(self, decision: str, *, why: str = "") -> records.fact.Decision:
        """Undo a decision; undoing the undo restores it."""
        wanted = body_of(wire.facts.UndoRequest, why=why)
        path = f"/v1/decisions/{segment(decision)}/undo"
        return await self._ask(records.fact.Decision, "POST", path, wanted, repeatable=False)

    async def predicates(self) -> Sequence[records.fact.Predicate]:
        """List the predicates that are not `multi` by default, and the tenant's own choices."""
        return (await self._ask(wire.facts.PredicateList, "GET", "/v1/predicates")).items

    async def set_predicate_class(
        self, predicate: str, predicate_class: records.fact.PredicateClass, *, why: str = ""
    ) -> records.fact.Decision:
        """Set the class of a predicate; needs the scope admin, and can be undone."""
        wanted = body_of(wire.facts.ClassRequest, predicate_class=predicate_class, why=why)
        path = f"/v1/predicates/{segment(predicate)}"
        return await self._ask(records.fact.Decision, "PUT", path, wanted, repeatable=False)

    def merges(
        self, *, status: records.fact.MergeStatus | str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.fact.MergeView]:
        """Iterate over the merges that consolidation proposed, with the memories of both concepts.

        Args:
            status: Only `proposed`, `accepted` or `rejected` ones.
            page_size: Merges fetched at a time.
        """
        return self._each(wire.facts.MergePage, "/v1/merges", status=status, limit=page_size)

    async def decide_merge(
        self, one: str, other: str, status: Literal["accepted", "rejected", "proposed"]
    ) -> records.fact.Merge:
        """Decide whether two concepts are one.

        Args:
            one: The name of one concept, as `merges` lists it.
            other: The name of the other.
            status: `accepted`: recall treats them as one. `rejected`: consolidation does not
                propose it again. `proposed`: the decision is undone.
        """
        wanted = body_of(wire.facts.MergeRequest, one=one, other=other, status=status)
        return await self._ask(records.fact.Merge, "PUT", "/v1/merges", wanted)
