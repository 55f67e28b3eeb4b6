"""Check the integrity of a tenant's graph and repair it.

The stored counts are kept exactly by every write, so any difference is a fault of the code or
the mark of somebody else's hand in the store.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.consolidation.archive import ArchiveService
from ecphoria.maths.lexical import REACH_AHEAD, REACH_BACK, spread_lengths
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.queries import all_of
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import Finding, IntegrityReport, Rule, Symptom
from ecphoria.text.concepts import extract
from ecphoria.text.cutting import cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A tenant's counters as stored.

    Attributes:
        stated: The stored number of names and facts that episodes came with.
        came_with: The same, as its names and its evidence say.
        passages, passage_length: The stored number of passages, and of their stems.
        passages_found, passage_length_found: The same, as the passages say.
        cut_after: Episodes behind this turn may still wait for their passages; None: none does.
    """

    change: int
    turn: int
    items: int
    titles: int
    length: int
    near_length: float
    stated: int
    came_with: int
    passages: int = 0
    passages_found: int = 0
    passage_length: int = 0
    passage_length_found: int = 0
    cut_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The counts that one episode contributes.

    Attributes:
        session: Empty for documents and notes.
        terms: Its stems, joined by blanks; None where they are not in the store.
        live: Whether recall can find it.
    """

    id: str
    turn: int
    session: str
    ordinal: int | None
    titled: bool
    length: int
    near_length: float
    terms: str | None
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """Number of items with a stem, and of items that it reaches over NEXT."""

    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The texts of an episode; the text is None where it is archived.

    Attributes:
        passages: How many it has.
    """

    turn: int
    title: str | None
    text: str | None
    id: str = ""
    passages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """The number of items with a name as title, and as candidate in their text."""

    titles: int
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _TermRow:
    stem: str
    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordRow:
    word: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameRow:
    name: str
    titles: int
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    found: int
    id: list[str]
    detail: list[str]


_FIND_TOTALS = Statement("doctor.find_totals", Totals)
_LIST_ACCOUNTS = Statement("doctor.list_accounts", Account)
_LIST_TERMS = Statement("doctor.list_terms", _TermRow)
_LIST_TEXTS = Statement("doctor.list_texts", Said)
_LIST_WORDS = Statement("doctor.list_words", _WordRow)
_LIST_NAMES = Statement("doctor.list_names", _NameRow)
_LIST_INDEXED = Statement("doctor.list_indexed", _Indexed)
_BY_RULE: Final = {
    "find_miscounted": Rule.COUNTS,
    "find_bad_chains": Rule.CHAINS,
    "find_bad_edges": Rule.EDGES,
    "find_crowded": Rule.EDGES,
    "find_orphans": Rule.ORPHANS,
    "find_dangling": Rule.PROVENANCE,
    "find_bad_engrams": Rule.PROVENANCE,
    "find_unindexed": Rule.INDEXES,
    "find_bad_states": Rule.STATES,
}
_FIND: Final = {name: Statement(f"doctor.{name}", _Faults) for name in _BY_RULE}


class IntegrityStore:
    """A tenant's graph under examination."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

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

    async def terms(self, tenant: TenantId) -> Mapping[str, TermCounts]:
        """Read the stored counts of every stem."""
        rows = await self._graph.run(_LIST_TERMS, tenant=tenant)
        return {row.stem: TermCounts(items=row.items, near=row.near) for row in rows}

    async def said(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Said]:
        """List the texts of episodes, by turn."""
        return await self._graph.run(
            _LIST_TEXTS, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def words(self, tenant: TenantId) -> Mapping[str, int]:
        """Read of how many items it is stored that they have a word in lower case."""
        rows = await self._graph.run(_LIST_WORDS, tenant=tenant)
        return {row.word: row.items for row in rows}

    async def names(self, tenant: TenantId) -> Mapping[str, NameCounts]:
        """Read the stored counts of every name."""
        rows = await self._graph.run(_LIST_NAMES, tenant=tenant)
        return {row.name: NameCounts(titles=row.titles, candidates=row.candidates) for row in rows}

    async def indexed(self, tenant: TenantId) -> frozenset[str]:
        """Name the episodes that the text index holds."""
        rows = await self._graph.run(_LIST_INDEXED, tenant=tenant, query=all_of(tenant))
        return frozenset(row.id for row in rows)

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


_NOBODY = NameCounts(titles=0, candidates=0)


class Vocabulary:
    """The words and names of all episodes; it grows with these, not with the episodes."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._titles: Counter[str] = Counter()
        self._candidates: Counter[str] = Counter()
        self._unread = 0

    def take(self, page: Iterable[Said]) -> None:
        """Count the words and names of episodes; the text of archived ones is unknown."""
        for episode in page:
            if episode.text is None:
                self._unread += 1
                continue
            found = extract(episode.title, episode.text)
            self._words.update(found.lower)
            self._candidates.update(named.name for named in found.candidates)
            if found.title:
                self._titles[found.title.name] += 1

    def differences(
        self, words: Mapping[str, int], names: Mapping[str, NameCounts]
    ) -> Iterator[Symptom]:
        """Tell which words and names are miscounted."""
        for word in sorted(words.keys() | self._words.keys()):
            yield from self._miscounted(word, "items", words.get(word, 0), self._words[word])
        for name in sorted(names.keys() | self._titles.keys() | self._candidates.keys()):
            kept = names.get(name, _NOBODY)
            yield from self._miscounted(name, "titles", kept.titles, self._titles[name])
            yield from self._miscounted(
                name, "candidates", kept.candidates, self._candidates[name]
            )

    def _miscounted(self, name: str, what: str, kept: int, found: int) -> Iterator[Symptom]:
        if not 0 <= kept - found <= self._unread:
            yield Symptom(id=name, detail=f"{what}: {kept} stored, {found} found")


_PAGE, _TEXTS = 5_000, 500
_SYMPTOMS = 20
_TRIES = 3
_CLOSE = 1e-6


class Doctor:
    """Examines tenants; changes nothing."""

    def __init__(
        self,
        patient: IntegrityStore,
        monotonic: Callable[[], float],
        archive: ArchiveService | None = None,
    ) -> None:
        """Examine a store, and its archive if there is one."""
        self._patient = patient
        self._archive = archive
        self._monotonic = monotonic

    async def examine(self, tenant: TenantId) -> IntegrityReport:
        """Check all rules; retry a few times if the graph was written meanwhile.

        Raises:
            NotFound: There is no such tenant.
            Unavailable: The store does not answer.
        """
        begun = self._monotonic()
        for _ in range(_TRIES):
            before = await self._patient.totals(tenant)
            recount, symptoms = await self._recount(tenant, before)
            found = list(await self._patient.findings(tenant, _SYMPTOMS))
            symptoms += await self._scrubbed(tenant)
            settled = (await self._patient.totals(tenant)).change == before.change
            if settled:
                break
        return IntegrityReport(
            episodes=recount.items,
            settled=settled,
            seconds=self._monotonic() - begun,
            findings=_by_rule([*found, *symptoms]),
        )

    async def _scrubbed(self, tenant: TenantId) -> list[Finding]:
        damaged = (await self._archive.scrub(tenant)).damaged if self._archive else ()
        told = tuple(_symptom(episode, "archived, and its record is missing or damaged")
                     for episode in damaged)  # fmt: skip
        return [Finding(rule=Rule.ARCHIVE, found=len(told), symptoms=told)] if told else []

    async def _recount(self, tenant: TenantId, stored: Totals) -> tuple["_Recount", list[Finding]]:
        recount = _Recount()
        async for page in self._pages(tenant):
            recount.take(page)
        recount.close_sessions()
        indexed = await self._patient.indexed(tenant)
        uncut = _Passages(stored.cut_after)
        by_rule = {
            Rule.COUNTS: [
                *recount.differences(stored),
                *recount.stem_differences(await self._patient.terms(tenant)),
                *await self._vocabulary(tenant, uncut),
            ],
            Rule.CHAINS: recount.places,
            Rule.INDEXES: [
                *uncut.symptoms,
                *(_symptom(episode, "live and not in the text index")
                  for episode in sorted(recount.live - indexed)),
                *(_symptom(episode, "in the text index and not live")
                  for episode in sorted(indexed - recount.live)),
            ],
        }  # fmt: skip
        return recount, [
            Finding(rule=rule, found=len(symptoms), symptoms=tuple(symptoms))
            for rule, symptoms in by_rule.items()
            if symptoms
        ]

    async def _vocabulary(self, tenant: TenantId, passages: "_Passages") -> list[Symptom]:
        """Recount words, names and passages from the texts."""
        vocabulary, after = Vocabulary(), 0
        while page := await self._patient.said(tenant, after, _TEXTS):
            await asyncio.to_thread(vocabulary.take, page)
            await asyncio.to_thread(passages.take, page)
            after = page[-1].turn
        words, names = await self._patient.words(tenant), await self._patient.names(tenant)
        return list(vocabulary.differences(words, names))

    async def _pages(self, tenant: TenantId) -> AsyncIterator[Sequence[Account]]:
        after = 0
        while page := await self._patient.accounts(tenant, after, _PAGE):
            yield page
            after = page[-1].turn


class _Passages:
    """Find episodes that lack passages."""

    def __init__(self, cut_after: int | None) -> None:
        """Leave out episodes that still wait for their passages, behind a turn."""
        self._cut_after = cut_after
        self.symptoms: list[Symptom] = []

    def take(self, page: Iterable[Said]) -> None:
        """Count the passages of episodes whose text is here."""
        for episode in page:
            if episode.text is None or (
                self._cut_after is not None and episode.turn > self._cut_after
            ):
                continue
            needed = len(cut(episode.text))
            if episode.passages != needed:
                remedy = "" if episode.passages else "; run `ecphoria passages`"
                told = f"passages: {episode.passages} stored, {needed} needed{remedy}"
                self.symptoms.append(_symptom(episode.id, told))


class _Recount:
    """The counts as they should be, gathered page by page."""

    def __init__(self) -> None:
        self.items = 0
        self.live: set[str] = set()
        self.places: list[Symptom] = []
        self._totals: Counter[str] = Counter()
        self._near_length = 0.0
        self._lengths: list[Symptom] = []
        self._stems: Counter[str] = Counter()
        self._near: Counter[str] = Counter()
        self._unread = 0
        self._sessions: dict[str, dict[int, list[Account]]] = {}

    def take(self, accounts: Iterable[Account]) -> None:
        """Count episodes; those of sessions count further once their session is whole."""
        for account in accounts:
            self.items += 1
            self._totals["titles"] += account.titled
            self._totals["length"] += account.length
            self._totals["turn"] = max(self._totals["turn"], account.turn)
            self._near_length += account.near_length
            if account.live:
                self.live.add(account.id)
            self._unread += account.terms is None
            self._stems.update(_stems(account))
            if account.ordinal is not None:
                places = self._sessions.setdefault(account.session, {})
                places.setdefault(account.ordinal, []).append(account)
            else:
                self._near.update(_stems(account))
                self._check_length(account, account.length)

    def close_sessions(self) -> None:
        """Count the words that reach over NEXT, and check the order of sessions."""
        for _, places in sorted(self._sessions.items()):
            accounts = [account for _, here in sorted(places.items()) for account in here]
            if sorted(places) != list(range(len(accounts))):
                self.places.append(
                    _symptom(accounts[0].id, "the places of its session do not follow one another")
                )
            stems = [_stems(account) for account in accounts]
            for place in range(len(accounts)):
                first, last = max(0, place - REACH_BACK), place + REACH_AHEAD + 1
                self._near.update(frozenset().union(*stems[first:last]))
            reaching = spread_lengths([account.length for account in accounts])
            for account, length in zip(accounts, reaching.tolist(), strict=True):
                self._check_length(account, length)
        self._sessions.clear()

    def differences(self, stored: Totals) -> Iterator[Symptom]:
        """Tell which totals are wrong."""
        yield from self._lengths
        counted = {
            "items": (stored.items, self.items),
            "titles": (stored.titles, self._totals["titles"]),
            "length": (stored.length, self._totals["length"]),
            "stated": (stored.stated, stored.came_with),
            "passages": (stored.passages, stored.passages_found),
            "passage_length": (stored.passage_length, stored.passage_length_found),
        }
        for name, (kept, found) in counted.items():
            if kept != found:
                yield _symptom(name, f"{kept} stored, {found} found")
        if stored.turn < self._totals["turn"]:
            yield _symptom("turn", f"{stored.turn} stored, {self._totals['turn']} found")
        if abs(stored.near_length - self._near_length) > _CLOSE * max(1.0, self._near_length):
            yield _symptom(
                "near_length", f"{stored.near_length:.3f} stored, {self._near_length:.3f} found"
            )

    def stem_differences(self, stored: Mapping[str, TermCounts]) -> Iterator[Symptom]:
        """Tell which stems are miscounted; stems that are not in the store may be any."""
        nothing = TermCounts(items=0, near=0)
        reach = REACH_BACK + 1 + REACH_AHEAD
        for stem in sorted(stored.keys() | self._near.keys()):
            kept = stored.get(stem, nothing)
            more = (kept.items - self._stems[stem], kept.near - self._near[stem])
            bounds = (self._unread, reach * self._unread)
            if any(not 0 <= extra <= most for extra, most in zip(more, bounds, strict=True)):
                yield _symptom(
                    stem,
                    f"items: {kept.items} stored, {self._stems[stem]} found; "
                    f"near: {kept.near} stored, {self._near[stem]} found",
                )

    def _check_length(self, account: Account, expected: float) -> None:
        if abs(account.near_length - expected) > _CLOSE * max(1.0, expected):
            self._lengths.append(
                _symptom(
                    account.id,
                    f"near_length: {account.near_length:.3f} stored, {expected:.3f} found",
                )
            )


def _stems(account: Account) -> frozenset[str]:
    return frozenset((account.terms or "").split())


def _symptom(ident: str, detail: str) -> Symptom:
    return Symptom(id=ident, detail=detail)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copies:
    place: str
    copies: int


_COUNT_COPIES = Statement("doctor.count_copies", _Copies)


async def count_copies(graph: Graph, text: str) -> Mapping[str, int]:
    """Count, by label and property, the values that hold a text; empty if there are none.

    This proves that an erasure reached every copy. It reads every node and edge of every tenant,
    so it takes long in a large store.
    """
    rows = await graph.run(_COUNT_COPIES, text=text)
    return {row.place: row.copies for row in rows}
