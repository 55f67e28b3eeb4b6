"""Long episodes have passages: written with them, found by both indexes, gone with them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from ecphoria.consolidation.archive import ArchiveService, Archiving, ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.dormancy import ForgettingService
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.rows import from_bytes, to_bytes
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Embedder, Vector
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.ports import PassageSeed
from ecphoria.recall.scope import Scope, ScopedStore
from ecphoria.recall.store import DORMANT, EpisodeReader
from ecphoria.records.episode import NewEpisode, indexed_text
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.recall import Filters
from ecphoria.records.upkeep import Rule
from ecphoria.tenancy.store import Tenants
from ecphoria.text.cutting import cut
from ecphoria.text.tokens import stems
from tests.conftest import Cypher, WallClock, new_tenant
from tests.contract.canonical import canonical
from tests.hashing import HashingEmbedder
from tests.integration.memory.talks import START, graph_of, remember, turns

ALL = Filters()
TOPICS = (
    "The lighthouse keeper of Rathlin polished the great lens before every storm.",
    "Sourdough needs a warm corner and a patient baker who folds it twice.",
    "A violin maker in Cremona seasons spruce for at least eleven years.",
    "Glaciers carve wide valleys and leave long moraines behind them.",
)


def a_long_text(*topics: str) -> str:
    """A paragraph of about 120 word pieces for each topic."""
    filler = "Nothing else of note was said about it on that day, as far as anyone remembers. "
    return "\n\n".join(f"{topic} {filler * 6}" for topic in topics)


LONG = a_long_text(*TOPICS)


def an_answer(text: str = LONG, number: int = 0, session: str | None = "chat") -> NewEpisode:
    return NewEpisode(
        text=text,
        speaker="Guide" if session else None,
        session=session,
        title=None if session else "Crafts",
        occurred_at=START + timedelta(hours=1, minutes=number),
    )


@pytest.fixture
def reader(graph: Graph) -> EpisodeReader:
    return EpisodeReader(graph)


@pytest.fixture
def doctor(graph: Graph) -> Doctor:
    return Doctor(IntegrityStore(graph), lambda: 0.0)


def hashed(graph: Graph, like: Embedder) -> IngestService:
    """The write side with vectors that cost nothing, for texts of hundreds of passages."""
    hashing = HashingEmbedder(like.model, like.dimension)
    return IngestService(store=IngestStore(graph), embedder=hashing, clock=WallClock())


async def vector_of(embedder: Embedder, text: str) -> Vector:
    (vector,) = await embedder.embed([text])
    found: Vector = vector
    return found


def text_of(seed: PassageSeed, text: str) -> str:
    span = cut(text)[seed.part]
    return text[span.start : span.end]


async def test_every_paragraph_of_a_long_message_is_found(
    ingest: IngestService, tenant: TenantId, reader: EpisodeReader, embedder: Embedder
) -> None:
    short = await remember(ingest, tenant, turns("chat"))
    ident = (await ingest.append(tenant, an_answer())).id
    assert ident not in short
    for topic in TOPICS:
        for seeds in (
            await reader.passages_by_vector(tenant, await vector_of(embedder, topic), 5, ALL),
            await reader.passages_by_text(tenant, stems(topic), 5, ALL),
        ):
            best = seeds[0]
            assert (best.id, best.session, best.ordinal) == (ident, "chat", len(short))
            assert topic in text_of(best, LONG)
            assert [one.score for one in seeds] == sorted((s.score for s in seeds), reverse=True)
    profile = (await reader.lexicon(tenant, [], [])).profile
    assert profile.passages == len(cut(LONG)) > 1


async def test_columns_are_ordered_and_read_once(
    ingest: IngestService,
    graph: Graph,
    tenant: TenantId,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = EpisodeReader(graph)
    short = await remember(ingest, tenant, turns("chat"))
    long = [(await ingest.append(tenant, an_answer(number=n, session=None))).id for n in (1, 2)]
    await reader.lexicon(tenant, [], [])
    asked: list[str] = []
    run = Graph.run

    async def counted(self: Graph, statement: Statement[object], **params: object) -> object:
        if self is graph:  # a service that other tests share may look at the store meanwhile
            asked.append(statement.name)
        return await run(self, statement, **params)

    monkeypatch.setattr(Graph, "run", counted)
    cue = await vector_of(embedder, TOPICS[2])
    found = await reader.passages_of(tenant, [*short, *long], cue)
    assert asked == ["recall.list_passages_of"]
    again = await reader.passages_of(tenant, [long[1], short[0]], None)
    assert asked == ["recall.list_passages_of"]
    spans = cut(LONG)
    assert list(found.episode) == [one for one in sorted(long) for _ in spans]
    assert found.part.tolist() == [*range(len(spans))] * 2
    assert list(zip(found.start.tolist(), found.end.tolist(), strict=True)) == [*spans] * 2
    told = [indexed_text("Crafts", LONG[span.start : span.end]) for span in spans]
    assert found.terms == tuple(" ".join(stems(one)) for one in told) * 2
    assert found.length.tolist() == [float(len(stems(one))) for one in told] * 2
    assert np.allclose(found.cosine, np.tile(await embedder.embed(told) @ cue, 2), atol=2e-3)
    assert again.episode == (long[1],) * len(spans)
    assert not again.cosine.any()


async def test_filters_hold_for_passages(
    ingest: IngestService, tenant: TenantId, reader: EpisodeReader, embedder: Embedder
) -> None:
    one = (await ingest.append(tenant, an_answer(number=1, session="one"))).id
    two = (await ingest.append(tenant, an_answer(number=2, session="two"))).id
    paper = (await ingest.append(tenant, an_answer(number=3, session=None))).id
    cue, words = await vector_of(embedder, TOPICS[0]), stems(TOPICS[0])

    async def found(filters: Filters) -> set[EpisodeId]:
        by_vector = await reader.passages_by_vector(tenant, cue, 50, filters)
        by_text = await reader.passages_by_text(tenant, words, 50, filters)
        assert {seed.id for seed in by_vector} == {seed.id for seed in by_text}
        return {seed.id for seed in by_vector}

    assert await found(ALL) == {one, two, paper}
    assert await found(Filters(session="two")) == {two}
    assert await found(Filters(speaker="Guide")) == {one, two}
    assert await found(Filters(occurred_from=START + timedelta(hours=1, minutes=3))) == {paper}
    assert await found(Filters(occurred_before=START + timedelta(hours=1, minutes=2))) == {one}


async def test_the_past_and_another_tenant_see_no_passage(
    ingest: IngestService, tenant: TenantId, other_tenant: TenantId, reader: EpisodeReader,
    embedder: Embedder,
) -> None:  # fmt: skip
    early = (await ingest.append(tenant, an_answer(number=1))).id
    late = (await ingest.append(tenant, an_answer(number=9))).id
    cue, words = await vector_of(embedder, TOPICS[0]), stems(TOPICS[0])
    assert await reader.passages_by_vector(other_tenant, cue, 5, ALL) == []
    assert await reader.passages_by_text(other_tenant, words, 5, ALL) == []
    assert (await reader.passages_of(other_tenant, [early], cue)).episode == ()
    past = ScopedStore(reader, Scope(at=START + timedelta(hours=1, minutes=5)))
    assert {s.id for s in await past.passages_by_vector(tenant, cue, 50, ALL)} == {early}
    assert {s.id for s in await past.passages_by_text(tenant, words, 50, ALL)} == {early}
    assert set((await past.passages_of(tenant, [early, late], cue)).episode) == {early}


async def test_the_passages_of_a_hidden_text_take_no_places(
    ingest: IngestService, tenant: TenantId, reader: EpisodeReader, embedder: Embedder
) -> None:
    hidden = (await ingest.append(tenant, an_answer(a_long_text(*TOPICS[:1] * 8)))).id
    shown = (await ingest.append(tenant, an_answer(number=1))).id
    cue, words = await vector_of(embedder, TOPICS[0]), stems(TOPICS[0])
    assert {one.id for one in await reader.passages_by_text(tenant, words, 3, ALL)} == {hidden}
    scoped = ScopedStore(reader, Scope(hidden=frozenset({hidden})))
    for seeds in (
        await scoped.passages_by_vector(tenant, cue, 3, ALL),
        await scoped.passages_by_text(tenant, words, 3, ALL),
    ):
        assert {one.id for one in seeds} == {shown}


async def test_a_callers_vector_stays_and_passages_are_encoded(
    ingest: IngestService, tenant: TenantId, reader: EpisodeReader, embedder: Embedder
) -> None:
    own = np.zeros(embedder.dimension, np.float32)
    own[7] = 1.0
    given = NewEpisode(text=LONG, vector=tuple(own.tolist()))
    ident = (await ingest.append(tenant, given)).id
    assert np.array_equal((await reader.vectors(tenant, [ident]))[ident], own)
    seeds = await reader.passages_by_vector(tenant, await vector_of(embedder, TOPICS[3]), 1, ALL)
    assert TOPICS[3] in text_of(seeds[0], LONG)


async def test_deleting_leaves_a_graph_as_if_it_had_never_been(
    ingest: IngestService, tenant: TenantId, reader: EpisodeReader, doctor: Doctor, cypher: Cypher
) -> None:
    await remember(ingest, tenant, [*turns("chat"), an_answer(number=1)])
    before = await canonical(cypher, tenant)
    gone = (await ingest.append(tenant, an_answer(a_long_text(*TOPICS[::-1]), 2, None))).id
    assert (await doctor.examine(tenant)).findings == ()
    await reader.lexicon(tenant, [], [])
    assert (await reader.passages_of(tenant, [gone], None)).episode
    await ingest.delete(tenant, gone)
    assert (await doctor.examine(tenant)).findings == ()
    profile = (await reader.lexicon(tenant, [], [])).profile
    assert profile.passages == len(cut(LONG))
    assert (await reader.passages_of(tenant, [gone], None)).episode == ()
    # Episodes near one that goes are marked, and the tenant counts its turns.
    left = [line for line in await canonical(cypher, tenant) if "Episode" not in line]
    assert [line for line in left if '["Tenant"]' not in line] == [
        line for line in before if "Episode" not in line and '["Tenant"]' not in line
    ]


async def test_erasing_counts_passages(
    ingest: IngestService, graph: Graph, cypher: Cypher
) -> None:
    made = await new_tenant(graph)
    await ingest.append(made, an_answer())
    assert (await EpisodeArchive(graph).stats(made)).passages == len(cut(LONG))
    counts = await Tenants(graph).erase(made)
    assert (counts["passages"], counts["remaining"]) == (len(cut(LONG)), 0)
    assert await cypher("MATCH (n {tenant: $t}) RETURN n", t=made) == []


async def test_passages_sleep_and_wake_with_their_episode(
    ingest: IngestService, graph: Graph, tenant: TenantId, embedder: Embedder, cypher: Cypher
) -> None:
    doctor = Doctor(IntegrityStore(graph), lambda: 0.0)
    reader, dormant = EpisodeReader(graph), EpisodeReader(graph, dormant=DORMANT)
    awake = (await ingest.append(tenant, an_answer(number=1))).id
    asleep = (await ingest.append(tenant, an_answer(number=2))).id
    cue, words = await vector_of(embedder, TOPICS[1]), stems(TOPICS[1])
    before = await graph_of(cypher, tenant)

    async def found(store: EpisodeReader) -> tuple[set[EpisodeId], set[EpisodeId]]:
        return (
            {one.id for one in await store.passages_by_vector(tenant, cue, 50, ALL)},
            {one.id for one in await store.passages_by_text(tenant, words, 50, ALL)},
        )

    await DormancyStore(graph).put_to_sleep(tenant, [(asleep, "quiet")], datetime.now(UTC))
    assert await found(reader) == ({awake}, {awake})
    assert await found(dormant) == ({awake, asleep}, {awake, asleep})
    assert (await reader.passages_of(tenant, [asleep], None)).episode == ()
    assert set((await dormant.passages_of(tenant, [asleep], cue)).episode) == {asleep}
    assert (await doctor.examine(tenant)).findings == ()
    assert await ingest.wake(tenant, [asleep]) == (asleep,)
    assert await found(reader) == ({awake, asleep}, {awake, asleep})
    assert await graph_of(cypher, tenant) == before


class Cold:
    """A memory with an archive of its own."""

    def __init__(self, graph: Graph, embedder: Embedder, folder: Path) -> None:
        files, policies = ColdFiles(Disk(folder)), DormancyStore(graph)
        self.graph = ColdStore(graph)
        step = Archiving(self.graph, files, policies, settled_s=0.0)
        self.archive = ArchiveService(step, self.graph, files, WallClock())
        self.ingest = IngestService(
            store=IngestStore(graph), embedder=embedder, clock=WallClock(), archive=self.archive
        )
        self.forgetting = ForgettingService(policies, self.archive, self.ingest.wake, WallClock())
        self.doctor = Doctor(IntegrityStore(graph), lambda: 0.0, self.archive)
        self._step = step

    async def archived(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
        await self.forgetting.sleep(tenant, ids)
        later = datetime.now(UTC) + timedelta(days=100)
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=later)
        assert len(await self._step.archive(cycle, 90.0)) == len(ids)


@pytest.fixture
def cold(graph: Graph, embedder: Embedder, tmp_path: Path) -> Cold:
    return Cold(graph, embedder, tmp_path)


async def test_the_archive_takes_passages_along_byte_for_byte(
    cold: Cold, tenant: TenantId, graph: Graph, cypher: Cypher
) -> None:
    ids = await remember(cold.ingest, tenant, [*turns("chat"), an_answer(number=1)])
    await cold.forgetting.sleep(tenant, ids)
    before = await graph_of(cypher, tenant)
    contents = {one.id: one.content for one in await cold.graph.records(tenant, ids)}
    assert all(
        content == to_bytes(one, {**p.properties, "embedding": p.vector}, p.edges, p.passages)
        for one, content in contents.items()
        for p in [from_bytes(content)]
    )
    assert b'"passages":[]' in contents[ids[0]]
    await cold.archived(tenant, ids)
    assert await cypher("MATCH (p:Passage {tenant: $t}) RETURN p", t=tenant) == []
    assert (await EpisodeReader(graph).lexicon(tenant, [], [])).profile.passages == 0
    assert (await cold.doctor.examine(tenant)).findings == ()
    assert set((await cold.archive.restore(tenant, ids)).restored) == set(ids)
    assert await graph_of(cypher, tenant) == before
    again = {one.id: one.content for one in await cold.graph.records(tenant, ids)}
    assert again == contents
    assert (await cold.doctor.examine(tenant)).findings == ()
    await cold.archived(tenant, ids)
    await cold.ingest.delete(tenant, ids[-1])
    assert (await cold.doctor.examine(tenant)).findings == ()


async def test_the_doctor_finds_what_is_wrong_with_passages(
    ingest: IngestService, tenant: TenantId, doctor: Doctor, cypher: Cypher
) -> None:
    await ingest.append(tenant, an_answer())
    faults = {
        "MATCH (p:Passage {tenant: $t}) WITH p LIMIT 1 REMOVE p:LivePassage": (
            Rule.STATES, "a passage of a live episode, and not live"),
        "MATCH (t:Tenant {id: $t}) SET t.passages = t.passages + 2": (
            Rule.COUNTS, "stored"),
        "MATCH (p:LivePassage {tenant: $t}) WITH p LIMIT 1 REMOVE p.embedding": (
            Rule.INDEXES, "without a vector of the store"),
        "MATCH (:Episode {tenant: $t})-[r:HAS_PASSAGE]->() WITH r LIMIT 1 DELETE r": (
            Rule.ORPHANS, "a passage without its episode"),
        "MATCH (p:Passage {tenant: $t}) DETACH DELETE p": (
            Rule.INDEXES, "passages: 0 stored"),
    }  # fmt: skip
    for plant, (rule, says) in faults.items():
        assert not any(
            finding.rule is rule and any(says in one.detail for one in finding.symptoms)
            for finding in (await doctor.examine(tenant)).findings
        )
        await cypher(plant, t=tenant)
        found = (await doctor.examine(tenant)).findings
        assert any(
            finding.rule is rule and any(says in one.detail for one in finding.symptoms)
            for finding in found
        ), (plant, found)


async def test_a_message_of_350_000_characters_is_kept_and_its_end_is_found(
    graph: Graph, tenant: TenantId, reader: EpisodeReader, embedder: Embedder, doctor: Doctor
) -> None:
    hashing = HashingEmbedder(embedder.model, embedder.dimension)
    ingest = hashed(graph, embedder)
    rooms = ("kitchen", "cellar", "attic", "stable", "orchard", "chapel", "archive", "mill")
    filler = "".join(
        f"On day {day} the {rooms[day % 8]} cost {day * 37 % 991} crowns, and the "
        f"{rooms[day // 8 % 8]} {day * 53 % 877}; {rooms[day // 64 % 8]} closed. "
        for day in range(4_800)
    )
    secret = (
        "The spare key of the observatory hangs behind the blue enamel clock. Whoever wants to "
        "watch the comet from the dome takes this key, opens the iron door of the observatory, "
        "and turns the telescope by hand. Afterwards the key of the observatory goes back behind "
        "the clock, where the astronomer looks for it in the morning."
    )
    text = f"{filler}\n\n{secret}\n"
    assert len(text) > 350_000
    ident = (await ingest.append(tenant, NewEpisode(text=text))).id
    by_vector = await reader.passages_by_vector(
        tenant, await vector_of(hashing, "Where is the spare key of the observatory?"), 3, ALL
    )
    by_text = await reader.passages_by_text(tenant, stems("blue enamel clock observatory"), 3, ALL)
    for best in (by_vector[0], by_text[0]):
        assert best.id == ident
        assert secret in text_of(best, text)
    await reader.lexicon(tenant, [], [])
    found = await reader.passages_of(tenant, [ident], None)
    assert found.end[-1] == len(text)
    assert (await doctor.examine(tenant)).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 350_000,
        "Ab" * 20_000,
        "Б" * 20_000,
        "𐐀" * 20_000,
        "https://example.org/" + "q" * 100_000,
        "Word " * 10_000,
        "你好" * 10_000,
    ],
    ids=["one word", "one name", "Cyrillic", "Deseret", "a URL", "one long name", "Chinese"],
)
async def test_a_text_without_a_break_is_stored_and_deleted(
    text: str, graph: Graph, embedder: Embedder, tenant: TenantId, cypher: Cypher
) -> None:
    doctor = Doctor(IntegrityStore(graph), lambda: 0.0)
    ingest = hashed(graph, embedder)
    ident = (await ingest.append(tenant, NewEpisode(text=text))).id
    assert (await doctor.examine(tenant)).findings == ()
    assert (await EpisodeArchive(graph).episode(tenant, ident)).text == text
    await ingest.delete(tenant, ident)
    left = "MATCH (n {tenant: $t}) WHERE NOT n:Trace RETURN labels(n) AS labels"
    assert await cypher(left, t=tenant) == []


def test_a_record_of_floats_is_still_read() -> None:
    own, part = np.array([0.5, 0.25], np.float32), np.array([1.0, 0.0], np.float32)
    head = {"edges": [], "id": "e", "passages": [{"id": "p", "embedding": 2}], "properties": {}}
    payload = from_bytes(json.dumps(head).encode() + b"\n" + own.tobytes() + part.tobytes())
    assert payload.vector is not None
    assert payload.vector.tolist() == [0.5, 0.25]
    assert [one["embedding"].tolist() for one in payload.passages] == [[1.0, 0.0]]
    del head["passages"]
    alone = from_bytes(json.dumps(head).encode() + b"\n" + own.tobytes())
    assert (alone.vector is not None, alone.passages) == (True, [])


def test_a_record_whose_vectors_have_another_size_is_refused() -> None:
    told = {"text": "x", "embedding": bytes([127, 64])}
    content = to_bytes("e", told, [], [{"id": "p", "embedding": bytes([0, 127, 1])}])
    payload = from_bytes(content)
    assert payload.vector is not None
    assert payload.vector.tolist() == pytest.approx([0.893, 0.450], abs=1e-3)
    assert [len(one["embedding"]) for one in payload.passages] == [3]
    for damaged in (content[:-1], content + b"x"):
        with pytest.raises((ValueError, KeyError)):
            from_bytes(damaged)
