"""Engrams of clusters: what memories that are alike come to, whenever they were made.

Source: CLS-M's schemas and SYNAPSE's abstractions; the clusters are ours, over `SIMILAR` edges.
"""

import asyncio
from collections.abc import Sequence

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.consolidation.summary import FORMULA, key_of
from ecphoria.consolidation.writing import Writer
from ecphoria.graph.associations import Association
from ecphoria.graph.engrams import EngramRow, EngramStore
from ecphoria.kernels.clusters import clusters
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.ports.chat import Chat

__all__ = ["MakeClusters"]

_LEAST, _MOST = 4, 32
_CHUNK = 256


class MakeClusters:
    """Gives each cluster of at least 4 memories an engram.

    Clusters are the groups that `SIMILAR` edges of nearness hold together, strongest edges
    first, up to 32 memories in one. The edges are walked whole, but a cluster is summarised only
    when its members are others than before: the engram's id is a hash of them. As of sessions,
    `EVIDENCE` leads to those whose words are in the summary, and the engram goes with any of
    them. `SUMMARISES` leads to all members.
    """

    name = "clusters"

    def __init__(self, store: EngramStore, chat: Chat | None = None) -> None:
        """Summarise in the memories' own words, or in those of a language model."""
        self._store = store
        self._chat = chat

    async def run(self, cycle: Cycle) -> Outcome:
        """Summarise the clusters that are new, and drop the engrams of those that are no more."""
        tenant = cycle.tenant
        writer = Writer(self._chat, "cluster", dry_run=cycle.dry_run)
        await cycle.reached("clusters: find")
        groups = await asyncio.to_thread(_groups, await self._store.similar_pairs(tenant))
        due = {key_of(tenant, "cluster", group, writer.by): group for group in groups}
        there = frozenset(await self._store.cluster_engrams(tenant))
        kept, changes = set(there & due.keys()), []
        for one in sorted(due.keys() - there):
            await cycle.reached("clusters: cluster")
            engram = await self._engram(cycle, one, due[one], writer)
            if engram is None:
                continue
            kept.add(engram.id)
            if engram.id not in there:
                changes.append(_summarised(engram))
                if not cycle.dry_run:
                    await self._store.save_cluster(tenant, cycle.lease, engram, due[one])
        made, gone = len(changes), sorted(there - kept)
        changes += [Change(kind="drop", id=one, detail="a cluster no more") for one in gone]
        if not cycle.dry_run:
            async for chunk in cycle.chunks(gone, _CHUNK, "clusters: drop"):
                await self._store.remove_cluster_engrams(tenant, cycle.lease, chunk)
        counts = {"clusters": len(due), "made": made, "dropped": len(gone)}
        return Outcome(
            counts=counts | writer.counts,
            changes=tuple(changes[:TOLD]),
            degraded=writer.degraded,
        )

    async def _engram(
        self, cycle: Cycle, one: str, group: Sequence[str], writer: Writer
    ) -> EngramRow | None:
        """Summarise a cluster; None if a member went meanwhile, for the next cycle to see."""
        members = await self._store.members_of(cycle.tenant, group)
        if len(members) < len(group):
            return None
        summary = await writer.summary(members)
        return EngramRow(
            id=one if summary.final else key_of(cycle.tenant, "cluster", group),
            summary=summary.text,
            members=len(group),
            evidence=summary.evidence,
            method=summary.method,
            formula=FORMULA,
        )


def _summarised(engram: EngramRow) -> Change:
    detail = f"{len(engram.evidence)} of {engram.members} memories"
    return Change(kind="summarise", id=engram.id, detail=detail)


def _groups(pairs: Sequence[Association]) -> list[list[str]]:
    """Find the clusters, each by its members' ids in order."""
    ids = sorted({end for pair in pairs for end in (pair.one, pair.other)})
    row = {one: place for place, one in enumerate(ids)}
    names = clusters(
        [row[pair.one] for pair in pairs],
        [row[pair.other] for pair in pairs],
        [pair.part for pair in pairs],
        size=len(ids),
        most=_MOST,
    )
    groups: dict[int, list[str]] = {}
    for one, name in zip(ids, names.tolist(), strict=True):
        groups.setdefault(name, []).append(one)
    return [group for group in groups.values() if len(group) >= _LEAST]
