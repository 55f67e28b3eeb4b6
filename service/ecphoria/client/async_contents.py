"""Namespaces of the asynchronous client for what a memory holds: facts, items, graph, archive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from datetime import datetime
from typing import Any, Literal

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_of, converted, segment


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
        return await self._get(records.fact.FactHistory, path, as_of=as_of, known_at=known_at)

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
        return await self._post(records.fact.Decision, path, wanted, repeatable=False)

    def decisions(self, *, page_size: int = 100) -> AsyncIterator[records.fact.ListedDecision]:
        """Iterate over the decisions about facts and predicates, the latest first."""
        return self._each(wire.facts.DecisionPage, "/v1/decisions", limit=page_size)

    async def undo(self, decision: str, *, why: str = "") -> records.fact.Decision:
        """Undo a decision; undoing the undo restores it."""
        wanted = body_of(wire.facts.UndoRequest, why=why)
        path = f"/v1/decisions/{segment(decision)}/undo"
        return await self._post(records.fact.Decision, path, wanted, repeatable=False)

    async def predicates(self) -> Sequence[records.fact.Predicate]:
        """List the predicates that are not `multi` by default, and the tenant's own choices."""
        return (await self._get(wire.facts.PredicateList, "/v1/predicates")).items

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
            one: The name of one concept, in any spelling.
            other: The name of the other.
            status: `accepted`: recall treats them as one. `rejected`: consolidation does not
                propose it again. `proposed`: the decision is undone.
        """
        wanted = body_of(wire.facts.MergeRequest, one=one, other=other, status=status)
        return await self._ask(records.fact.Merge, "PUT", "/v1/merges", wanted)


class AsyncItems(AsyncCalls):
    """JSON objects that are replaced, beside the episodes, which are remembered."""

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        ttl_s: float | None = None,
    ) -> None:
        """Store an item, in place of one with the same address.

        Args:
            namespace: Its place, from the outside in.
            key: Its key within the namespace.
            value: A JSON object, at most 262,144 characters.
            text: Words by which a search finds it; those of the value if absent, none if empty.
            ttl_s: Seconds of life after this write, or after a read with `refresh`.
        """
        wanted = body_of(
            records.item.ItemWrite,
            namespace=namespace,
            key=key,
            value=converted(dict, value),
            text=text,
            ttl_s=ttl_s,
        )
        await self.write([wanted])

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Delete an item; tell whether it existed.

        If several callers delete the same item, only one of them gets true.
        """
        wanted = body_of(records.item.ItemWrite, namespace=namespace, key=key, value={})
        return await self.write([replace(wanted, value=None)]) > 0

    async def write(self, items: Sequence[records.item.ItemWrite]) -> int:
        """Store, replace and delete up to 1,000 items in one transaction.

        Returns:
            Number of deleted items that existed.
        """
        # Values of records are not read again, and NaN in them would be sent as null.
        given = [asdict(item) if is_dataclass(item) else item for item in items]
        wanted = body_of(wire.items.ItemsRequest, items=given)
        return (await self._ask(wire.items.ItemsWrittenAnswer, "PUT", "/v1/items", wanted)).deleted

    async def get(
        self, namespace: Sequence[str], key: str, *, refresh: bool = False
    ) -> records.item.Item | None:
        """Fetch an item; None if it does not exist.

        Args:
            namespace: Its place, from the outside in.
            key: Its key within the namespace.
            refresh: Start its life again.
        """
        address = body_of(records.item.ItemKey, namespace=namespace, key=key)
        found = await self.find([address], refresh=refresh)
        return found[0] if found else None

    async def find(
        self, keys: Sequence[records.item.ItemKey], *, refresh: bool = False
    ) -> Sequence[records.item.Item]:
        """Fetch up to 1,000 items by address; those that do not exist are left out."""
        wanted = body_of(wire.items.FindRequest, keys=tuple(keys), refresh=refresh)
        return (await self._post(wire.items.ItemsAnswer, "/v1/items/find", wanted)).items

    async def search(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = False,
    ) -> Sequence[records.item.Item]:
        """Search items.

        Args:
            namespace: Only items whose namespace begins with these labels.
            query: Rank by meaning; the last written come first if absent.
            where: Conditions on fields of the value, such as `{"age": {"$gte": 18}}`.
            limit: Number of items, at most 1,000.
            offset: Number of items to leave out first.
            refresh: Start the lives of the found items again.
        """
        wanted = body_of(
            records.item.ItemSearch,
            namespace=namespace,
            query=query,
            filter=converted(dict, where),
            limit=limit,
            offset=offset,
            refresh=refresh,
        )
        return (await self._post(wire.items.ItemsAnswer, "/v1/items/search", wanted)).items

    async def namespaces(
        self,
        prefix: Sequence[str] = (),
        *,
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Sequence[Sequence[str]]:
        """List namespaces that hold items.

        Args:
            prefix: First labels; `*` stands for any one.
            suffix: Last labels; `*` stands for any one.
            max_depth: Cut namespaces to this many labels.
            limit: Number of namespaces, at most 1,000.
            offset: Number of namespaces to leave out first.
        """
        wanted = body_of(
            records.item.NamespaceSearch,
            prefix=prefix,
            suffix=suffix,
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
        path = "/v1/items/namespaces"
        return (await self._post(wire.items.NamespacesAnswer, path, wanted)).items


class AsyncGraph(AsyncCalls):
    """Traces of recalls, concepts, counts over time, and the nodes around a node."""

    def traces(
        self,
        *,
        strategy: str | None = None,
        verdict: records.recall.Verdict | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[records.recall.TraceSummary]:
        """Iterate over the traces of recalls, the newest first, page by page.

        Args:
            strategy: Only recalls by this strategy.
            verdict: Only recalls with this verdict.
            page_size: Size of a page.
        """
        return self._each(
            wire.graph.TracePage, "/v1/traces", strategy=strategy, verdict=verdict, limit=page_size
        )

    def concepts(
        self,
        q: str | None = None,
        *,
        sort: records.graph.ConceptSort | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[records.graph.Concept]:
        """Iterate over concepts, page by page.

        Args:
            q: Only those whose name has this, in any spelling.
            sort: `mentions`, `name` or `last`; the most mentioned first if absent.
            page_size: Size of a page.
        """
        return self._each(wire.graph.ConceptPage, "/v1/concepts", q=q, sort=sort, limit=page_size)

    async def concept(self, concept: str) -> records.graph.ConceptView:
        """Fetch a concept by its id, with its neighbours and merges."""
        path = f"/v1/concepts/{segment(concept)}"
        return await self._get(records.graph.ConceptView, path)

    def timeline(
        self,
        by: records.episode.BucketKind | Literal["session", "day", "month"] = "day",
        *,
        speaker: str | None = None,
        page_size: int = 1_000,
    ) -> AsyncIterator[records.episode.Bucket]:
        """Iterate over the counts of episodes by session, day or month, in the order of time.

        Args:
            by: What to count by.
            speaker: Only what this speaker said, named in any case.
            page_size: Size of a page.
        """
        return self._each(
            wire.graph.TimelinePage, "/v1/timeline", by=by, speaker=speaker, limit=page_size
        )

    async def around(
        self,
        around: str,
        *,
        hops: int = 1,
        kinds: Sequence[records.traced.NodeKind] = (),
        as_of: datetime | None = None,
        limit: int = 200,
    ) -> records.graph.Neighbourhood:
        """Fetch the nodes and edges around a node.

        Args:
            around: Id of a memory or of a concept, `concept:` and a name, or `session:` and a
                name.
            hops: Number of edges to walk, 1 or 2.
            kinds: Kinds of nodes to walk to, `episode` or `concept`; both if empty.
            as_of: Only what had occurred by then, and facts that held then.
            limit: Greatest number of nodes, at most 2,000.
        """
        return await self._get(
            records.graph.Neighbourhood,
            "/v1/graph",
            around=around,
            hops=hops,
            kinds=kinds or None,
            as_of=as_of,
            limit=limit,
        )


class AsyncArchive(AsyncCalls):
    """Dormant memories, and archived ones, which were dormant for long."""

    async def add(
        self, *, days: float = 90.0, timeout_s: float = 600.0
    ) -> wire.upkeep.ArchiveAnswer:
        """Move long dormant memories to the files of the archive; needs the scope admin.

        Args:
            days: Only memories that have been dormant for this many days.
            timeout_s: Longest to wait for the end.
        """
        wanted = body_of(wire.upkeep.ArchiveRequest, days=days)
        return await self._post(
            wire.upkeep.ArchiveAnswer, "/v1/archive", wanted, timeout_s=timeout_s
        )

    def list(
        self, *, session: str | None = None, speaker: str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.upkeep.ArchivedMemory]:
        """Iterate over archived episodes in the order of their append, page by page.

        Args:
            session: Only those of this session.
            speaker: Only those of this speaker.
            page_size: How many to ask for at once.
        """
        return self._each(
            wire.upkeep.ArchivedPage,
            "/v1/archive",
            session=session,
            speaker=speaker,
            limit=page_size,
        )

    async def restore(self, episodes: Sequence[str]) -> records.upkeep.Restored:
        """Restore archived memories as dormant, byte for byte; returns damaged records too."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        return await self._post(records.upkeep.Restored, "/v1/archive/restore", wanted)

    async def scrub(self, *, timeout_s: float = 600.0) -> records.upkeep.Scrub:
        """Check every record of the archive; needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end.
        """
        return await self._post(records.upkeep.Scrub, "/v1/archive/scrub", timeout_s=timeout_s)

    def dormant(self, *, page_size: int = 100) -> AsyncIterator[records.upkeep.Sleeper]:
        """Iterate over dormant episodes in the order of their append, page by page."""
        return self._each(wire.upkeep.SleeperPage, "/v1/dormancy", limit=page_size)

    def expiring(self, *, page_size: int = 100) -> AsyncIterator[records.episode.Episode]:
        """Iterate over episodes whose life has an end, the soonest first, page by page."""
        return self._each(wire.episodes.EpisodePage, "/v1/expiring", limit=page_size)

    async def preview(
        self,
        *,
        mode: records.settings.DormancyMode | str | None = None,
        budget: int | None = None,
        quiet_days: float | None = None,
        stability: records.settings.Stability | str | None = None,
        limit: int = 100,
    ) -> records.upkeep.DormancyPreview:
        """Tell which memories a policy would make dormant now, and change nothing.

        Args:
            mode: `off`, `budget` or `threshold`; what is absent is as in the tenant's settings.
            budget: Live memories to keep.
            quiet_days: Younger memories stay live.
            stability: How long a memory of each kind lasts.
            limit: Most memories to list, at most 1,000.
        """
        wanted = body_of(
            wire.upkeep.PreviewRequest,
            mode=mode,
            budget=budget,
            quiet_days=None if quiet_days is None else float(quiet_days),
            stability=stability,
            limit=limit,
        )
        return await self._post(records.upkeep.DormancyPreview, "/v1/dormancy/preview", wanted)

    async def sleep(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make live memories dormant, except pinned ones; returns those that became dormant."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        done = await self._post(wire.upkeep.IdsAnswer, "/v1/dormancy/sleep", wanted)
        return done.ids

    async def wake(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make dormant memories live again, unchanged; returns those that became live."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        done = await self._post(wire.upkeep.IdsAnswer, "/v1/dormancy/wake", wanted)
        return done.ids
