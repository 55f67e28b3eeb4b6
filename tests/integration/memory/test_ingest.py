"""The graph is a function of what was said, not of the order or the batches it came in."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.errors import BadVector, Conflict, InvalidInput, NotFound, StoreUnavailable
from ecphoria.ingest import store as writing
from ecphoria.ingest.changes import StoredBody
from ecphoria.ingest.service import IngestService
from ecphoria.records.episode import Extracted, NewEpisode, Outcome, Receipt, Statement
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.text.concepts import NameTable, extract
from ecphoria.text.tokens import stems
from tests.conftest import Cypher
from tests.integration.memory.talks import without_ids


def extracted(*names: str, facts: Sequence[tuple[str, str, str]]) -> Extracted:
    stated = (Statement(subject=one, predicate=says, object=other) for one, says, other in facts)
    return Extracted(names=names, facts=tuple(stated))


START = datetime(2025, 3, 1, 9, tzinfo=UTC)
SAID = (
    ("Ida", "I saw Marlowe at the Harbour Fair yesterday."),
    ("Bo", "Marlowe again? Was Petra Lind with her?"),
    ("Ida", "No, Petra Lind moved to Oslo Fjord in spring."),
    ("Bo", "We should visit the harbour fair together, or Oslo."),
    ("Ida", "Oslo would be lovely. Is the rose garden open there?"),
    ("Bo", "Rose told me it is."),
    ("Ida", "Then let us ask Rose and Marlowe along!"),
)
BOOKS = (
    ("Marlowe", "A captain of the Harbour Fair, born in Oslo Fjord."),
    ("Oslo Fjord", "An inlet where Petra Lind keeps a boat."),
)
KNOWN = (
    # "Rose" is a name by statement, though the rules hear the ordinary word in two turns.
    extracted("Rose", "rose garden", facts=[("Rose", "works at", "the rose garden")]),
    extracted("The Harbour Fair", facts=[("Petra Lind", "sells at", "Harbour Fair")]),
    extracted("Marlowe", facts=[("Marlowe", "was born in", "Oslo Fjord")]),
    extracted(facts=[("Petra Lind", "sells at", "Harbour Fair"), ("Petra Lind", "is", "34")]),
)


def conversation() -> list[NewEpisode]:
    """Turns and documents, of which the last two of each came with an extraction."""
    turns = [
        NewEpisode(
            text=text,
            speaker=speaker,
            session="walk",
            position=place,
            occurred_at=START + timedelta(days=place),
            idempotency_key=f"t{place}",
        )
        for place, (speaker, text) in enumerate(SAID)
    ]
    documents = [NewEpisode(text=text, title=title) for title, text in BOOKS]
    known = [*turns[-2:], *documents]
    for one, extraction in zip(known, KNOWN, strict=True):
        known[known.index(one)] = replace(one, extraction=extraction)
    return [*turns[:-2], *known]


async def store(
    ingest: IngestService, tenant: TenantId, items: Sequence[NewEpisode], size: int
) -> list[EpisodeId]:
    ids: list[EpisodeId] = []
    for start in range(0, len(items), size):
        for result in await ingest.append_batch(tenant, items[start : start + size]):
            assert isinstance(result, Receipt), result
            ids.append(result.id)
    return ids


@pytest.mark.parametrize("seed", range(4))
async def test_any_order_and_any_batches_give_the_same_graph(
    seed: int, ingest: IngestService, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    items = conversation()
    shuffled = list(items)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - an order, not a secret
    await store(ingest, tenant, items, size=100)
    await store(ingest, other_tenant, shuffled, size=seed + 1)
    assert await without_ids(cypher, other_tenant) == await without_ids(cypher, tenant)


async def test_concepts_and_mentions_are_what_the_rules_say_of_the_whole(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    items = conversation()
    await store(ingest, tenant, items, size=1)
    table = NameTable()
    read = [extract(item.title, item.text, given=item.extraction) for item in items]
    table.add(read)
    stated = [{named.name for named in one.stated} for one in read]
    expected = sorted(
        (item.text, name) for item, one, names in zip(items, read, stated, strict=True)
        for name in names.union(table.mentions(one))
    )  # fmt: skip
    concepts = table.concepts.union(*stated)
    assert concepts > table.concepts
    graph = await without_ids(cypher, tenant)
    assert sorted(row[:2] for row in graph["mentions"]) == expected
    assert {row[0] for row in graph["names"] if row[3]} == concepts
    degrees = {row[0]: row[4] for row in graph["names"] if row[3]}
    assert degrees == {name: sum(mention == name for _, mention in expected) for name in concepts}


async def test_a_fact_is_stored_once_with_all_its_evidence(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    await store(ingest, tenant, conversation(), size=3)
    graph = await without_ids(cypher, tenant)
    evidence = {row[0]: (row[3], row[4]) for row in graph["facts"]}
    assert evidence["petra lind sells at harbour fair"] == (
        ["OBJECTharbour fair", "SUBJECTpetra lind"],
        [BOOKS[1][1], SAID[6][1]],
    )
    assert evidence["petra lind is 34"] == (["SUBJECTpetra lind"], [BOOKS[1][1]])
    # Two speakers state it, each with the reliability of .7.
    weights = {row[:3]: row[3] for row in graph["related"]}
    assert weights["petra lind", "sells at", "harbour fair"] == pytest.approx(1.0 - 0.3**2)
    pairs = {row[:2] for row in graph["synonyms"]}
    assert {("harbour fair", "the harbour fair"), ("rose garden", "the rose garden")} <= pairs


async def test_a_document_with_another_extraction_is_the_same_document(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    document = conversation()[-1]
    await ingest.append(tenant, document)
    before = await without_ids(cypher, tenant)
    with pytest.raises(Conflict, match="another extraction"):
        await ingest.append(tenant, replace(document, extraction=None))
    assert await without_ids(cypher, tenant) == before


@pytest.mark.parametrize("gone", range(len(SAID) + len(BOOKS)))
async def test_a_deleted_memory_leaves_the_graph_as_if_it_had_never_been(
    gone: int, ingest: IngestService, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    items = conversation()
    ids = await store(ingest, tenant, items, size=100)
    await ingest.delete(tenant, ids[gone])
    await store(ingest, other_tenant, items[:gone] + items[gone + 1 :], size=100)
    assert await without_ids(cypher, tenant) == await without_ids(cypher, other_tenant)


async def test_everything_deleted_leaves_nothing(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    for episode in await store(ingest, tenant, conversation(), size=100):
        await ingest.delete(tenant, episode)
    graph = await without_ids(cypher, tenant)
    assert graph.pop("tenant") == [(0, 0, 0, 0)]
    assert not any(graph.values())


async def stored_nodes(cypher: Cypher, tenant: TenantId) -> dict[str, dict[str, object]]:
    """Every turn by its text and every stem, with all properties."""
    rows = await cypher(
        "MATCH (n:Episode|Term {tenant: $t}) RETURN coalesce(n.text, n.stem) AS key,"
        " n {.*, embedding: null} AS properties",
        t=tenant,
    )
    return {row["key"]: row["properties"] for row in rows}


@pytest.mark.parametrize("seed", range(4))
async def test_an_append_rewrites_nothing_of_older_turns_but_their_order(
    ingest: IngestService, tenant: TenantId, cypher: Cypher, seed: int
) -> None:
    turns = [one for one in conversation() if one.session is not None]
    random.Random(seed).shuffle(turns)  # noqa: S311 - an order, not a secret
    for turn in turns:
        before = await stored_nodes(cypher, tenant)
        await ingest.append(tenant, turn)
        after = await stored_nodes(cypher, tenant)
        said = set(stems(turn.text))
        for key, old in before.items():
            changed = {name for name in old | after[key] if old.get(name) != after[key].get(name)}
            # A name that becomes a concept marks the turns that it joins for the next cycle.
            assert changed <= ({"items"} if key in said else {"ordinal", "touched"}), (
                key,
                changed,
            )


async def test_a_repeat_changes_nothing_and_another_body_is_refused(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    items = conversation()
    await store(ingest, tenant, items, size=100)
    before = await without_ids(cypher, tenant)
    again = await ingest.append_batch(tenant, items)
    assert {one.outcome for one in again if isinstance(one, Receipt)} == {Outcome.EXISTED}
    changed = replace(items[0], text="Something else.")
    with pytest.raises(Conflict):
        await ingest.append(tenant, changed)
    assert await without_ids(cypher, tenant) == before


async def test_a_batch_tells_each_item_its_own_result(
    ingest: IngestService, tenant: TenantId, cypher: Cypher
) -> None:
    good = conversation()[0]
    results = await ingest.append_batch(
        tenant,
        [
            good,
            replace(good, text=""),
            replace(good),
            replace(good, text="Another body."),
            replace(good, idempotency_key="v", vector=(0.0,) * 384),
            replace(good, idempotency_key="w", vector=(1.0,) * 12),
            replace(good, idempotency_key="x", vector=(float("nan"),) * 384),
        ],
    )
    kinds = [one.outcome if isinstance(one, Receipt) else type(one) for one in results]
    assert kinds == [
        Outcome.CREATED, InvalidInput, Outcome.EXISTED, Conflict, BadVector, BadVector, BadVector,
    ]  # fmt: skip
    assert len((await without_ids(cypher, tenant))["episodes"]) == 1


async def test_writers_at_once_lose_nothing(
    ingest: IngestService, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    items = conversation()
    await asyncio.gather(*(ingest.append(tenant, item) for item in (*items, *items)))
    await store(ingest, other_tenant, items, size=100)
    assert await without_ids(cypher, tenant) == await without_ids(cypher, other_tenant)


async def test_two_services_on_one_database_agree(
    ingest: IngestService, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    """Each service keeps a table of names; the change counter tells when it is stale."""
    twin = IngestService(store=ingest.store, embedder=ingest.embedder, clock=ingest.clock)
    items = conversation()
    for place, item in enumerate(items):
        await (ingest if place % 2 else twin).append(tenant, item)
    await store(ingest, other_tenant, items, size=100)
    assert await without_ids(cypher, tenant) == await without_ids(cypher, other_tenant)


async def test_an_unknown_tenant_is_not_made_by_writing(ingest: IngestService) -> None:
    nobody = TenantId("0" * 32)
    with pytest.raises(NotFound):
        await ingest.append(nobody, conversation()[0])


async def test_deleting_what_another_tenant_owns_is_not_found(
    ingest: IngestService, tenant: TenantId, other_tenant: TenantId
) -> None:
    ids = await store(ingest, tenant, conversation(), size=100)
    with pytest.raises(NotFound):
        await ingest.delete(other_tenant, ids[0])


async def test_what_fails_beside_the_writing_undoes_it(
    ingest: IngestService, tenant: TenantId, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = conversation()
    await ingest.append(tenant, first)
    before = await without_ids(cypher, tenant)

    async def broken(transaction: object, names: Sequence[str]) -> Sequence[StoredBody]:
        raise StoreUnavailable

    monkeypatch.setattr(writing.IngestTransaction, "bodies_with", broken)
    with pytest.raises(StoreUnavailable):
        await ingest.append_batch(tenant, rest)
    assert await without_ids(cypher, tenant) == before
    monkeypatch.undo()
    results = await ingest.append_batch(tenant, rest)
    assert {one.outcome for one in results if isinstance(one, Receipt)} == {Outcome.CREATED}
    assert len(results) == len(rest)
