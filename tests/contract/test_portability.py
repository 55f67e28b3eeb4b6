"""Copies of tenants: what comes back is what was there, or nothing comes back."""

import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ecphoria.consolidation.archive import ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.errors import (
    ArchiveDamaged,
    ArchiveUnavailable,
    BadFile,
    Conflict,
    EcphoriaError,
    NotFound,
    StoreUnavailable,
)
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.portability.service import Portability
from ecphoria.portability.store import Copies
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.tenant import SHIPPED, Scope, Tenant
from ecphoria.records.upkeep import ColdRecord
from ecphoria.tenancy.store import Keys, Tenants
from tests.conftest import Cypher, new_tenant
from tests.contract.jobs import jobs_of
from tests.contract.learning import learn, woke
from tests.contract.memories import episode_id, everything, place_in_time, write
from tests.contract.tenants import a_key, gate_values, set_settings
from tests.contract.traces import a_trace
from tests.unit.portability.copied import edited, read
from tests.unit.portability.copied import write as write_lines

NOW = datetime(2024, 3, 1, tzinfo=UTC)


def silent(what: str, done: int, total: int) -> None:
    """Take no notice."""


class Failing(Copies):
    """Loses the store after some writes, as if the process were killed there."""

    def __init__(self, graph: Graph, after: int) -> None:
        super().__init__(graph)
        self.left = after

    async def add(self, tenant: str, digest: str, done: int, **records: Any) -> None:
        if not self.left:
            raise StoreUnavailable
        self.left -= 1
        await super().add(tenant, digest, done, **records)


@dataclass(frozen=True)
class World:
    """A store with an archive of its own, asked through the product and past it."""

    graph: Graph
    ask: Cypher
    archive: ColdFiles
    folder: Path

    @property
    def copies(self) -> Portability:
        return Portability(Copies(self.graph), Tenants(self.graph), self.archive, batch=3)

    def failing(self, after: int) -> Portability:
        copies = Failing(self.graph, after)
        return Portability(copies, Tenants(self.graph), self.archive, batch=3)

    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    async def erase(self, tenant: TenantId) -> None:
        await Tenants(self.graph).erase(tenant)
        await self.archive.erase(tenant)

    async def archived(self, tenant: TenantId) -> list[ColdRecord]:
        return [
            ColdRecord(id=place.id, content=await self.archive.read(tenant, place))
            for place, _ in await ColdStore(self.graph).stubs(tenant, 0, 100)
        ]

    async def whole(self, tenant: TenantId) -> list[str]:
        """Every node and edge of a tenant with all properties, a line each, in order."""
        nodes = await self.ask(
            "MATCH (n) WHERE n.tenant = $tenant OR (n:Tenant AND n.id = $tenant)"
            " RETURN labels(n) AS labels, properties(n) AS properties",
            tenant=tenant,
        )
        edges = await self.ask(
            "MATCH (a)-[r]->(b) WHERE a.tenant = $tenant OR (a:Tenant AND a.id = $tenant)"
            " RETURN type(r) AS type, properties(r) AS properties,"
            " properties(a) AS tail, properties(b) AS head",
            tenant=tenant,
        )
        return sorted(
            [_told(sorted(node["labels"]), node["properties"]) for node in nodes]
            + [
                _told(edge["type"], edge["properties"], edge["tail"], edge["head"])
                for edge in edges
            ]
        )


@pytest.fixture
def world(graph: Graph, cypher: Cypher, tmp_path: Path) -> World:
    return World(
        graph=graph, ask=cypher, archive=ColdFiles(Disk(tmp_path / "cold")), folder=tmp_path
    )


@pytest.fixture
async def tenant(world: World) -> AsyncIterator[TenantId]:
    """A tenant that has one of everything: learned, judged, scheduled, archived, with a key."""
    graph, archive = world.graph, world.archive
    made = await new_tenant(graph)
    await write(graph, made, everything(made))
    await set_settings(graph, made, learning={"on": True}, now=NOW)
    traces = [woke(made, 1, 2), a_trace(made)]
    await TraceStore(graph, keep=5).save(made, traces)
    await learn(graph, made, traces[0].id)
    await jobs_of(graph, made)
    await place_in_time(graph, made)
    await set_settings(graph, made, gate=gate_values(SHIPPED))
    asleep = episode_id(made, "2")
    await DormancyStore(graph).put_to_sleep(made, [(asleep, "x")], NOW)
    cold = ColdStore(graph)
    records = await cold.records(made, [asleep])
    assert await cold.replace(made, await archive.write(made, records), NOW) == [asleep]
    key = a_key(made, Scope.READ)
    await Keys(graph).create(key, fresh_id())
    yield made
    # Its jobs and schedules are due, and other tests' workers would take them.
    with suppress(NotFound):
        await world.erase(made)


def _told(*parts: Any) -> str:
    return json.dumps(
        [
            {name: _exact(value) for name, value in sorted(part.items()) if name != "locked_at"}
            if isinstance(part, dict)
            else part
            for part in parts
        ]
    )


def _exact(value: Any) -> str:
    return value.raw().hex() if hasattr(value, "raw") else repr(value)


def lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt") as file:
        return list(file)


async def test_a_tenant_comes_back_as_it_was(world: World, tenant: TenantId) -> None:
    before, cold = await world.whole(tenant), await world.archived(tenant)
    assert len(cold) == 1
    made = await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    assert made.nodes > 20
    assert await world.whole(tenant) == before
    await world.erase(tenant)
    assert await world.copies.take_in(world.folder / "copy", silent) == made
    assert await world.whole(tenant) == before
    assert await world.archived(tenant) == cold
    assert await world.ask("MATCH (n:Imported|Import) RETURN n") == []


async def test_a_copy_has_every_kind_of_node_and_edge_that_the_tenant_has(
    world: World, tenant: TenantId
) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    lines = [json.loads(line) for line in lines_of(world.folder / "copy")]
    labels = {label for line in lines if "node" in line for label in line["node"]["labels"]}
    types = {line["edge"]["type"] for line in lines if "edge" in line}
    assert {"Tenant", "ApiKey", "Trace", "Job", "Tombstone"} & labels == {
        "Tenant", "ApiKey", "Trace", "Job"
    }  # fmt: skip
    there = await world.ask(
        "MATCH (n {tenant: $tenant}) UNWIND labels(n) AS label RETURN DISTINCT label",
        tenant=tenant,
    )
    assert labels == {row["label"] for row in there} | {"Tenant"}
    joined = await world.ask(
        "MATCH (n {tenant: $tenant})-[r]->() RETURN DISTINCT type(r) AS type", tenant=tenant
    )
    assert types == {row["type"] for row in joined}


async def test_a_copy_holds_nothing_of_another_tenant(world: World, tenant: TenantId) -> None:
    other = await new_tenant(world.graph)
    await write(world.graph, other, everything(other))
    await world.copies.export(f"t-{other}", world.folder / "copy", silent)
    text = gzip.decompress((world.folder / "copy").read_bytes()).decode()
    assert other in text
    assert tenant not in text


@pytest.mark.parametrize("writes", [0, 1, 3, 8, 14])
async def test_an_interrupted_import_shows_nothing_and_goes_on(
    world: World, tenant: TenantId, writes: int
) -> None:
    before = await world.whole(tenant)
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    with pytest.raises(StoreUnavailable):
        await world.failing(writes).take_in(world.folder / "copy", silent)
    with pytest.raises(NotFound):
        await Tenants(world.graph).find(f"t-{tenant}")
    assert await world.ask("MATCH (k:ApiKey {tenant: $tenant}) RETURN k", tenant=tenant) == []
    await world.copies.take_in(world.folder / "copy", silent)
    assert await world.whole(tenant) == before


async def test_each_file_of_the_archive_is_stored_once_and_whole(
    world: World, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket can only replace a file, so one written in parts would be sent again for each."""
    monkeypatch.setattr("ecphoria.consolidation.archive_files._PART", 100)
    await world.archive.write(tenant, [ColdRecord(id=episode_id(tenant, "2"), content=b"x")])
    before = [part async for part in world.archive.parts(tenant)]
    assert len({name for name, _, _ in before}) == 2 < len(before)
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    stored = list[str]()

    class Told(Disk):
        def create(self, folder: str, name: str, content: bytes) -> None:
            stored.append(name)
            super().create(folder, name, content)

    into = replace(world, archive=ColdFiles(Told(world.folder / "cold")))
    await into.copies.take_in(world.folder / "copy", silent)
    assert [part async for part in world.archive.parts(tenant)] == before
    assert stored == sorted({name for name, _, _ in before})


async def test_an_interrupted_import_can_be_given_up(world: World, tenant: TenantId) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    with pytest.raises(StoreUnavailable):
        await world.failing(4).take_in(world.folder / "copy", silent)
    assert await world.copies.discard(world.folder / "copy") == 1
    assert await world.whole(tenant) == []
    assert await world.ask("MATCH (n:Imported|Import) RETURN n") == []
    await world.copies.take_in(world.folder / "copy", silent)
    assert await world.whole(tenant)


async def test_an_import_is_given_up_again_if_its_archive_could_not_be_deleted(
    world: World, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unusable(*_: object) -> int:
        raise ArchiveUnavailable

    file = world.folder / "copy"
    await world.copies.export(f"t-{tenant}", file, silent)
    await world.erase(tenant)
    with pytest.raises(StoreUnavailable):
        await world.failing(4).take_in(file, silent)
    with monkeypatch.context() as patched:
        patched.setattr(ColdFiles, "erase", unusable)
        with pytest.raises(ArchiveUnavailable):
            await world.copies.discard(file)
    assert await world.copies.discard(file) == 1
    assert await world.whole(tenant) == []


async def test_a_tenant_that_exists_is_left_alone(world: World, tenant: TenantId) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    before = await world.whole(tenant)
    with pytest.raises(Conflict, match="exists already"):
        await world.copies.take_in(world.folder / "copy", silent)
    assert await world.copies.discard(world.folder / "copy") == 0
    assert await world.whole(tenant) == before


async def test_another_file_of_the_same_tenant_does_not_mix_in(
    world: World, tenant: TenantId
) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.copies.export(f"t-{tenant}", world.folder / "other", silent)
    await world.erase(tenant)
    with pytest.raises(StoreUnavailable):
        await world.failing(4).take_in(world.folder / "copy", silent)
    lines = gzip.decompress((world.folder / "other").read_bytes())
    (world.folder / "other").write_bytes(gzip.compress(lines, compresslevel=1))
    with pytest.raises(Conflict, match="stored in part"):
        await world.copies.take_in(world.folder / "other", silent)
    await world.copies.discard(world.folder / "copy")


async def test_files_made_for_another_store_are_refused(world: World, tenant: TenantId) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    first, *rest = lines_of(world.folder / "copy")
    manifest = json.loads(first)["ecphoria"]
    changes: Sequence[tuple[dict[str, object], str]] = (
        ({"format": 3}, "newer format"),
        ({"model": "another"}, "vectors of another"),
        ({"migration": "schema.0001_pre_identity"}, "brings it up to date"),
    )
    for change, said in changes:
        file = world.folder / str(change)
        with gzip.open(file, "wt") as changed:
            changed.writelines([json.dumps({"ecphoria": manifest | change}) + "\n", *rest])
        with pytest.raises(BadFile, match=said):
            await world.copies.take_in(file, silent)


async def test_a_damaged_file_stores_nothing(world: World, tenant: TenantId) -> None:
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    lines = lines_of(world.folder / "copy")
    damages = {
        "cut": lines[: len(lines) // 2],
        "last": lines[:-1],
        "changed": [line.replace("rome", "room") for line in lines],
        "missing": [*lines[:3], *lines[4:]],
        "twice": [*lines, lines[-1]],
        "other": ["{}\n"],
        "none": [],
    }
    for name, kept in damages.items():
        file = world.folder / name
        with gzip.open(file, "wt") as damaged:
            damaged.writelines(kept)
        with pytest.raises(EcphoriaError) as refused:
            await world.copies.take_in(file, silent)
        assert isinstance(refused.value, BadFile), name
    half = (world.folder / "copy").read_bytes()
    (world.folder / "half").write_bytes(half[: len(half) // 2])
    with pytest.raises(BadFile, match="damaged"):
        await world.copies.take_in(world.folder / "half", silent)
    assert await world.whole(tenant) == []


async def test_a_file_that_exists_is_not_overwritten(world: World, tenant: TenantId) -> None:
    file = world.folder / "copy"
    file.write_text("mine")
    with pytest.raises(BadFile, match="exists"):
        await world.copies.export(f"t-{tenant}", file, silent)
    assert file.read_text() == "mine"
    with pytest.raises(NotFound):
        await world.copies.export("nobody", world.folder / "none", silent)
    assert not [path for path in world.files() if path.name.startswith("none")]


async def test_a_whole_store_comes_back_with_the_keys_of_its_operators(
    world: World, tenant: TenantId
) -> None:
    other = await new_tenant(world.graph)
    await write(world.graph, other, everything(other))
    operator = a_key(None, Scope.ADMIN)
    await Keys(world.graph).create(operator, fresh_id())
    before = [await world.whole(one) for one in (tenant, other)]
    cold, keys = await world.archived(tenant), await operators_keys(world)
    assert keys
    # Tenants of other tests stay, so this names its own, as `backup` names all.
    listed = [(tenant, f"t-{tenant}"), (other, f"t-{other}"), (None, "operators' keys")]
    file = world.folder / "copy"
    made = await world.copies.write(file, "store", listed, silent)
    await world.erase(tenant)
    await world.erase(other)
    await world.ask("MATCH (k:ApiKey {tenant: ''}) DELETE k")
    assert await operators_keys(world) == []
    assert await world.copies.restore(file, silent) == made
    assert made.tenants == 2
    assert [await world.whole(one) for one in (tenant, other)] == before
    assert await world.archived(tenant) == cold
    assert await operators_keys(world) == keys
    await world.ask("MATCH (k:ApiKey {id: $id}) DELETE k", id=operator.id)
    assert await world.ask("MATCH (n:Imported|Import) RETURN n") == []
    await world.erase(other)


async def operators_keys(world: World) -> list[str]:
    rows = await world.ask("MATCH (k:ApiKey {tenant: ''}) RETURN properties(k) AS properties")
    return sorted(_told(row["properties"]) for row in rows)


@pytest.mark.parametrize("writes", [1, 6, 16, 20, 24])
async def test_an_interrupted_restore_of_several_tenants_goes_on(
    world: World, writes: int
) -> None:
    """One of them has the name that the section of the operators' keys might have had."""
    tenants = []
    for name in ("operators", f"second-{fresh_id()}"):
        made = TenantId(fresh_id())
        await Tenants(world.graph).create(Tenant(id=made, name=name, created_at=NOW))
        await write(world.graph, made, everything(made))
        tenants.append((made, name))
    before = [await world.whole(made) for made, _ in tenants]
    file, copies = world.folder / "copy", world.copies
    await copies.write(file, "store", tenants, silent)
    for made, _ in tenants:
        await world.erase(made)
    with pytest.raises(StoreUnavailable):
        await world.failing(writes).restore(file, silent)
    done = await copies.restore(file, silent)
    assert done.tenants == 2
    assert [await world.whole(made) for made, _ in tenants] == before
    assert await world.ask("MATCH (n:Imported|Import) RETURN n") == []
    for made, _ in tenants:
        await world.erase(made)


async def test_giving_up_a_restore_keeps_the_tenants_that_are_whole(world: World) -> None:
    """The archive of a tenant that can be used already is not erased with the rest."""
    tenants = []
    for name in (f"first-{fresh_id()}", f"second-{fresh_id()}"):
        made = TenantId(fresh_id())
        await Tenants(world.graph).create(Tenant(id=made, name=name, created_at=NOW))
        await write(world.graph, made, everything(made))
        asleep = episode_id(made, "2")
        await DormancyStore(world.graph).put_to_sleep(made, [(asleep, "x")], NOW)
        cold = ColdStore(world.graph)
        records = await cold.records(made, [asleep])
        await cold.replace(made, await world.archive.write(made, records), NOW)
        tenants.append((made, name))
    (first, _), (second, _) = tenants
    before, archived = await world.whole(first), await world.archived(first)
    file = world.folder / "copy"
    await world.copies.write(file, "store", tenants, silent)
    for made, _ in tenants:
        await world.erase(made)
    for writes in range(60):
        # One write more each time, until the first tenant is whole and the second is not.
        with pytest.raises(StoreUnavailable):
            await world.failing(1).restore(file, silent)
        if await world.whole(first) == before and writes and len(await world.whole(second)) > 3:
            break
    await world.copies.discard(file)
    assert await world.whole(first) == before
    assert await world.archived(first) == archived
    assert await world.whole(second) == []
    assert await world.ask("MATCH (n:Imported|Import) RETURN n") == []
    await world.erase(first)


async def test_a_restore_beside_a_tenant_that_exists_stores_nothing(
    world: World, tenant: TenantId
) -> None:
    other = await new_tenant(world.graph)
    await write(world.graph, other, everything(other))
    file = world.folder / "copy"
    listed = [(one, f"t-{one}") for one in (other, tenant)]
    await world.copies.write(file, "store", listed, silent)
    await world.erase(other)
    with pytest.raises(Conflict, match="exists already"):
        await world.copies.restore(file, silent)
    assert await world.whole(other) == []


async def test_no_edited_copy_reaches_another_tenant_or_the_operators(
    world: World, tenant: TenantId
) -> None:
    """Every edit of a true copy is refused before anything of it is stored."""
    victim = await new_tenant(world.graph)
    await write(world.graph, victim, everything(victim))
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    before = await world.whole(victim), await operators_keys(world), await nodes(world)
    edits = list(edited(read(world.folder / "copy"), victim))
    assert len(edits) > 1_000, len(edits)
    for number, (told, lines) in enumerate(edits):
        if number % 29 and "Tenant" not in told and "archive" not in told:
            continue
        file = world.folder / "edited"
        write_lines(file, lines)
        assert await is_refused(world, file), told
        with suppress(BadFile):
            await world.copies.discard(file)
    assert (await world.whole(victim), await operators_keys(world), await nodes(world)) == before
    await world.copies.take_in(world.folder / "copy", silent)
    await world.erase(victim)


async def is_refused(world: World, file: Path) -> bool:
    try:
        await world.copies.take_in(file, silent)
    except Conflict:
        return True
    except BadFile as refused:
        return "line" in str(refused) or "no copy" in str(refused)
    return False


async def nodes(world: World) -> list[dict[str, Any]]:
    return await world.ask(
        "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS nodes ORDER BY label"
    )


async def test_ids_of_another_tenant_are_a_conflict_before_anything_is_stored(
    world: World, tenant: TenantId
) -> None:
    """The id of a memory, of a section, or the hash of a key."""
    victim = await new_tenant(world.graph)
    await write(world.graph, victim, everything(victim))
    await TraceStore(world.graph, keep=5).save(victim, [a_trace(victim)])
    key = a_key(victim, Scope.READ)
    used = fresh_id() * 2
    await Keys(world.graph).create(key, used)
    await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    await world.erase(tenant)
    before = await world.whole(victim), await nodes(world)
    sound = read(world.folder / "copy")
    kinds = ("Episode", "Concept", "Fact", "Trace")
    taken = {kind: await first_id(world, victim, kind) for kind in kinds}
    taken |= {"ApiKey": key.id}
    text = json.dumps(sound)
    for kind, ident in taken.items():
        own = next(
            record["node"]["properties"]["id"]
            for record in sound
            if kind in record.get("node", {}).get("labels", ())
        )
        write_lines(world.folder / kind, json.loads(text.replace(own, ident)))
    whole = text.replace(tenant, victim).replace(f"t-{victim}", "another-name")
    write_lines(world.folder / "section", json.loads(whole))
    (hashed,) = {
        record["node"]["properties"]["hash"]
        for record in sound
        if "ApiKey" in record.get("node", {}).get("labels", ())
    }
    write_lines(world.folder / "hash", json.loads(text.replace(hashed, used)))
    for name in (*taken, "section", "hash"):
        with pytest.raises(Conflict):
            await world.copies.take_in(world.folder / name, silent)
        assert (await world.whole(victim), await nodes(world)) == before, name
        await world.copies.discard(world.folder / name)
        assert (await world.whole(victim), await nodes(world)) == before, name
    await world.erase(victim)


async def first_id(world: World, tenant: TenantId, label: str) -> str:
    rows = await world.ask(
        f"MATCH (n:{label} {{tenant: $tenant}}) RETURN n.id AS id ORDER BY id LIMIT 1",
        tenant=tenant,
    )
    return str(rows[0]["id"])


async def test_the_backup_of_a_store_is_no_tenant_to_import(
    world: World, tenant: TenantId
) -> None:
    """Its operators' keys would come with it."""
    before = await operators_keys(world)
    operator = a_key(None, Scope.ADMIN)
    await Keys(world.graph).create(operator, fresh_id())
    file = world.folder / "store"
    await world.copies.write(file, "store", [(None, "operators' keys")], silent)
    await world.ask("MATCH (k:ApiKey {id: $id}) DELETE k", id=operator.id)
    with pytest.raises(BadFile, match="backup restore"):
        await world.copies.take_in(file, silent)
    assert await operators_keys(world) == before


async def test_a_tenant_can_be_imported_without_its_keys(world: World, tenant: TenantId) -> None:
    made = await world.copies.export(f"t-{tenant}", world.folder / "copy", silent)
    assert made.keys == 1
    await world.erase(tenant)
    done = await world.copies.take_in(world.folder / "copy", silent, keys=False)
    assert done.keys == 0
    assert await Keys(world.graph).list(tenant) == []
    assert len(await world.archived(tenant)) == 1


async def test_a_record_of_the_archive_cannot_move_its_memory(
    world: World, tenant: TenantId
) -> None:
    """Its bytes come from a copy too; one with an owner or an id in it is damaged."""
    victim = await new_tenant(world.graph)
    cold = ColdStore(world.graph)
    (record,) = await world.archived(tenant)
    line, _, vectors = record.content.partition(b"\n")
    sound = json.loads(line)
    edge = {"type": "SIMILAR", "other": record.id, "out": True, "properties": {}}
    edits: list[dict[str, Any]] = [
        *({"properties": sound["properties"] | {name: victim}} for name in ("tenant", "id", "x")),
        {"id": fresh_id()},
        {"edges": [edge | {"type": "Import"}]},
        {"edges": [edge | {"properties": {"tenant": victim}}]},
    ]
    before = await world.whole(tenant)
    for edit in edits:
        content = json.dumps(sound | edit).encode() + b"\n" + vectors
        with pytest.raises(ArchiveDamaged):
            await cold.restore(tenant, [ColdRecord(id=record.id, content=content)])
    assert await world.whole(tenant) == before
