"""Check the integrity of a tenant's graph, and change nothing.

Every write keeps the stored counts exact (decision 0001). So a difference means a fault in the
code or a change by another program.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.consolidation.archive import ArchiveService
from ecphoria.models.languages import Unread
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.queries import all_of
from ecphoria.neo4j_store.session import Graph, Statement, Store
from ecphoria.records.episode import indexed_text
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import Finding, IntegrityReport, Rule, Symptom
from ecphoria.text.concepts import extract
from ecphoria.text.cutting import cut
from ecphoria.text.terms import terms as terms_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A tenant's counters as stored.

    Attributes:
        stated: The stored number of names and facts that episodes state.
        came_with: The same number, counted from names and evidence.
        passages, passages_found: The stored number of passages, and the counted one.
    """

    change: int
    turn: int
    items: int
    titles: int
    length: int
    stated: int
    came_with: int
    passages: int = 0
    passages_found: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The counts that one episode contributes, and the texts from which they are computed.

    Attributes:
        session: Empty for documents and notes.
        text: None where it is archived.
        terms: Its stems, joined by blanks; None where it is archived.
        passages: Number of its passages.
        live: Whether recall can find it.
    """

    id: str
    turn: int
    session: str
    ordinal: int | None
    title: str | None
    length: int
    text: str | None
    terms: str | None
    passages: int
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCounts:
    """The stored numbers of items of each stem and of each word in lower case, and of names.

    Attributes:
        names: Each name, with the numbers of items that have it as title and as candidate.
    """

    stems: tuple[tuple[str, int], ...]
    words: tuple[tuple[str, int], ...]
    names: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    found: int
    id: list[str]
    detail: list[str]


_FIND_TOTALS = Statement("doctor.find_totals", Totals)
_LIST_ACCOUNTS = Statement("doctor.list_accounts", Account)
_LIST_COUNTS = Statement("doctor.list_counts", StoredCounts)
_LIST_INDEXED = Statement("doctor.list_indexed", str)
_BY_RULE: Final = {
    "find_miscounted": Rule.COUNTS,
    "find_bad_chains": Rule.CHAINS,
    "find_bad_edges": Rule.EDGES,
    "find_orphans": Rule.ORPHANS,
    "find_dangling": Rule.PROVENANCE,
    "find_unindexed": Rule.INDEXES,
    "find_bad_states": Rule.STATES,
}
_FIND: Final = {name: Statement(f"doctor.{name}", _Faults) for name in _BY_RULE}


class IntegrityStore(Store):
    """Reads a tenant's graph for an examination."""

    async def totals(self, tenant: TenantId) -> Totals:
        """Read the counters; NotFound without the tenant."""
        row = await self._graph.run_one(_FIND_TOTALS, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        return row

    async def accounts(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Account]:
        """List the counts that episodes contribute, by turn."""
        return await self._graph.run(
            _LIST_ACCOUNTS, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def counts(self, tenant: TenantId) -> StoredCounts:
        """Read the stored counts of every stem, word and name."""
        (found,) = await self._graph.run(_LIST_COUNTS, tenant=tenant)
        return found

    async def indexed(self, tenant: TenantId) -> frozenset[str]:
        """List the episodes in the text index."""
        return frozenset(await self._graph.run(_LIST_INDEXED, tenant=tenant, query=all_of(tenant)))

    async def findings(self, tenant: TenantId, limit: int) -> Sequence[Finding]:
        """Run the rules that are single queries, with at most `limit` symptoms each."""
        found: list[Finding] = []
        for name, rule in _BY_RULE.items():
            (row,) = await self._graph.run(_FIND[name], tenant=tenant, limit=limit)
            symptoms = (
                Symptom(id=episode, detail=detail)
                for episode, detail in zip(row.id, row.detail, strict=True)
            )
            if row.found:
                found.append(Finding(rule=rule, found=row.found, symptoms=tuple(symptoms)))
        return found


_ANEW: Final = "send their texts again into an empty store: docs/howto/upgrading.md"


class Vocabulary:
    """The words and names of all episodes; its size grows with them, not with the episodes.

    Attributes:
        passages: Episodes that lack passages, or have too many.
        outdated: Episodes whose stored stems differ from the stems of their text by today's rules.
    """

    def __init__(self) -> None:
        self.outdated = 0
        self.passages: list[Symptom] = []
        self._words: Counter[str] = Counter()
        self._titles: Counter[str] = Counter()
        self._candidates: Counter[str] = Counter()
        self._unread = 0

    def take(self, page: Iterable[Account]) -> None:
        """Count words, names and passages of episodes; the text of archived ones is unknown."""
        for episode in page:
            if episode.text is None:
                self._unread += 1
                continue
            terms = terms_of(indexed_text(episode.title, episode.text)).joined
            self.outdated += episode.terms not in {terms, None}
            found = extract(episode.title, episode.text)
            self._words.update(found.lower)
            self._candidates.update(named.name for named in found.candidates)
            if found.title:
                self._titles[found.title.name] += 1
            needed = len(cut(episode.text))
            if episode.passages != needed:
                told = f"passages: {episode.passages} stored, {needed} needed"
                self.passages.append(Symptom(id=episode.id, detail=told))

    def differences(self, stored: StoredCounts) -> Iterator[Symptom]:
        """Describe wrong counts of words and names, and episodes with outdated stems."""
        if self.outdated:
            told = f"{self.outdated} of the episodes have those of another version; {_ANEW}"
            yield Symptom(id="words", detail=told)
        words = dict(stored.words)
        names = {name: (titles, candidates) for name, titles, candidates in stored.names}
        for word in sorted(words.keys() | self._words.keys()):
            yield from self._miscounted(word, "items", words.get(word, 0), self._words[word])
        for name in sorted(names.keys() | self._titles.keys() | self._candidates.keys()):
            titles, candidates = names.get(name, (0, 0))
            yield from self._miscounted(name, "titles", titles, self._titles[name])
            yield from self._miscounted(name, "candidates", candidates, self._candidates[name])

    def _miscounted(self, name: str, what: str, kept: int, found: int) -> Iterator[Symptom]:
        if not 0 <= kept - found <= self._unread:
            yield Symptom(id=name, detail=f"{what}: {kept} stored, {found} found")


_PAGE = 500
_SYMPTOMS = 20
# Counts read during a write differ, so the examination starts again.
_TRIES = 3


@dataclass(slots=True)
class Doctor:
    """Examines tenants, and their archive if there is one, without changing them.

    Attributes:
        model: Name of the embedding model, to warn of languages that it does not read.
    """

    patient: IntegrityStore
    monotonic: Callable[[], float]
    archive: ArchiveService | None = None
    model: str = ""

    async def examine(self, tenant: TenantId) -> IntegrityReport:
        """Check all rules; start again, a few times, if the graph was written meanwhile.

        Raises:
            NotFound: There is no such tenant.
            Unavailable: The store does not answer.
        """
        begun = self.monotonic()
        for _ in range(_TRIES):
            before = await self.patient.totals(tenant)
            unread = Unread(self.model)
            recount, symptoms = await self._recount(tenant, before, unread)
            found = list(await self.patient.findings(tenant, _SYMPTOMS))
            symptoms += await self._scrubbed(tenant)
            settled = (await self.patient.totals(tenant)).change == before.change
            if settled:
                break
        return IntegrityReport(
            episodes=recount.items,
            settled=settled,
            seconds=self.monotonic() - begun,
            findings=_by_rule([*found, *symptoms]),
            warnings=tuple(filter(None, (unread.warning(),))),
        )

    async def _scrubbed(self, tenant: TenantId) -> list[Finding]:
        damaged = (await self.archive.scrub(tenant)).damaged if self.archive else ()
        told = tuple(Symptom(id=episode, detail="archived, and its record is missing or damaged")
                     for episode in damaged)  # fmt: skip
        return [Finding(rule=Rule.ARCHIVE, found=len(told), symptoms=told)] if told else []

    async def _recount(
        self, tenant: TenantId, stored: Totals, unread: Unread
    ) -> tuple["_Recount", list[Finding]]:
        recount, vocabulary = _Recount(), Vocabulary()
        async for page in self._pages(tenant):
            recount.take(page)
            await asyncio.to_thread(vocabulary.take, page)
            await asyncio.to_thread(unread.take, [one.text for one in page if one.text])
        recount.close_sessions()
        indexed = await self.patient.indexed(tenant)
        counts = await self.patient.counts(tenant)
        by_rule = {
            Rule.COUNTS: [
                *recount.differences(stored),
                *recount.stem_differences(dict(counts.stems)),
                *vocabulary.differences(counts),
            ],
            Rule.CHAINS: recount.places,
            Rule.INDEXES: [
                *vocabulary.passages,
                *(Symptom(id=episode, detail="live and not in the text index")
                  for episode in sorted(recount.live - indexed)),
                *(Symptom(id=episode, detail="in the text index and not live")
                  for episode in sorted(indexed - recount.live)),
            ],
        }  # fmt: skip
        return recount, [
            Finding(rule=rule, found=len(symptoms), symptoms=tuple(symptoms))
            for rule, symptoms in by_rule.items()
            if symptoms
        ]

    async def _pages(self, tenant: TenantId) -> AsyncIterator[Sequence[Account]]:
        after = 0
        while page := await self.patient.accounts(tenant, after, _PAGE):
            yield page
            after = page[-1].turn


class _Recount:
    """The correct counts, computed page by page."""

    def __init__(self) -> None:
        self.items = 0
        self.live: set[str] = set()
        self.places: list[Symptom] = []
        self._totals: Counter[str] = Counter()
        self._stems: Counter[str] = Counter()
        self._unread = 0
        self._sessions: dict[str, dict[int, list[str]]] = {}

    def take(self, accounts: Iterable[Account]) -> None:
        """Count episodes, and collect the ordinals of turns."""
        for account in accounts:
            self.items += 1
            self._totals["titles"] += account.title is not None
            self._totals["length"] += account.length
            self._totals["turn"] = max(self._totals["turn"], account.turn)
            if account.live:
                self.live.add(account.id)
            self._unread += account.terms is None
            self._stems.update(set((account.terms or "").split()))
            if account.ordinal is not None:
                places = self._sessions.setdefault(account.session, {})
                places.setdefault(account.ordinal, []).append(account.id)

    def close_sessions(self) -> None:
        """Check the order of sessions."""
        for _, places in sorted(self._sessions.items()):
            ids = [ident for _, here in sorted(places.items()) for ident in here]
            if sorted(places) != list(range(len(ids))):
                self.places.append(
                    Symptom(
                        id=ids[0], detail="the places of its session do not follow one another"
                    )
                )
        self._sessions.clear()

    def differences(self, stored: Totals) -> Iterator[Symptom]:
        """Describe wrong totals."""
        counted = {
            "items": (stored.items, self.items),
            "titles": (stored.titles, self._totals["titles"]),
            "length": (stored.length, self._totals["length"]),
            "stated": (stored.stated, stored.came_with),
            "passages": (stored.passages, stored.passages_found),
        }
        for name, (kept, found) in counted.items():
            if kept != found:
                yield Symptom(id=name, detail=f"{kept} stored, {found} found")
        if stored.turn < self._totals["turn"]:
            yield Symptom(id="turn", detail=f"{stored.turn} stored, {self._totals['turn']} found")

    def stem_differences(self, stored: Mapping[str, int]) -> Iterator[Symptom]:
        """Describe wrong counts of stems."""
        for stem in sorted(stored.keys() | self._stems.keys()):
            kept, found = stored.get(stem, 0), self._stems[stem]
            if not 0 <= kept - found <= self._unread:
                yield Symptom(id=stem, detail=f"items with the stem: {kept} stored, {found} found")


def _by_rule(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    joined: list[Finding] = []
    for rule in Rule:
        same = [finding for finding in findings if finding.rule is rule]
        if same:
            symptoms = tuple(symptom for finding in same for symptom in finding.symptoms)
            joined.append(
                Finding(
                    rule=rule,
                    found=sum(finding.found for finding in same),
                    symptoms=symptoms[:_SYMPTOMS],
                )
            )
    return tuple(joined)


_COUNT_COPIES = Statement("doctor.count_copies", tuple[str, int])


async def count_copies(graph: Graph, text: str) -> Mapping[str, int]:
    """Count the stored values that contain a text, by label and property; empty if there are none.

    An empty answer proves that an erasure reached every copy. It reads every node and edge of
    every tenant, so it takes long in a large store.
    """
    return dict(await graph.run(_COUNT_COPIES, text=text))
