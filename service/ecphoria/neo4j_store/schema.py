"""Check the server and apply the schema."""

import asyncio
import hashlib
import re
import uuid
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from ecphoria.errors import (
    EcphoriaError,
    EmbedderMismatch,
    Misconfigured,
    StoreUnavailable,
    StoreUnsuitable,
)
from ecphoria.neo4j_store.queries import Mode, Query, statements
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The versions of the server, and the features it lacks.

    Attributes:
        gds: Version of the Graph Data Science plugin, None without it.
        missing: Missing requirements of Ecphoria, as remedies; empty when ready.
    """

    neo4j: str
    gds: str | None
    missing: tuple[str, ...]


_FIRST: Final = "schema.0000_lock"
# A process that is killed while it changes the schema stops the others for so long.
_LEASE_S: Final = 120
_LOCK_RETRY_S: Final = 0.2
_INDEX_WAIT_S: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMark:
    """The embedding model, its generation and the latest schema file of a store."""

    model: str
    dimension: int
    generation: int = 0
    migration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The result of `migrate`.

    Attributes:
        applied: Names of the applied schema files; none if the store was up to date.
        generation: The generation of vectors that the store uses.
    """

    applied: tuple[str, ...]
    generation: int


FIND_STORE = Statement("server.find_store", StoreMark)
_FIND_CURRENT = Statement("server.find_current", StoreMark)
_HOLD_LOCK = Statement("server.hold_lock", str)
_LIST_MIGRATIONS = Statement("server.list_migrations", tuple[str, str])
_RECORD_MIGRATION = Statement("server.record_migration", Done)
_AWAIT_INDEXES = Statement("server.await_indexes", Done)
_DROP_INDEX = Statement("embedding.drop_index", Done)
_VECTOR_INDEX: Final = re.compile(r"VECTOR INDEX (\w+)")
_BIND_STORE = Statement("server.bind_store", StoreMark)


async def migrate(
    graph: Graph,
    model: str,
    dimension: int,
    *,
    lock_wait_s: float = 300.0,
    up_to: str | None = None,
) -> Migration:
    """Apply the schema files that are new to the store, in order, and wait for their indexes.

    One query decides that a store is up to date, because each other one would be planned anew at
    the start of a server. Only a store that needs more is locked.

    Args:
        graph: The server.
        model: Name of the embedder's model.
        dimension: Length of its vectors, for the vector indexes.
        lock_wait_s: How long to wait while another service migrates.
        up_to: Last schema file to apply; all if None. A copy is restored into its own schema, and
            newer files are applied afterwards.

    Raises:
        EmbedderMismatch: The store was made with another model.
        Misconfigured: A schema file was changed after it was applied, or a newer release, or a
            version from before the first release, has used the store.
        StoreUnavailable: The server does not answer, or another migrator does not finish.
    """
    files = sorted(
        (query for query in graph.queries.values() if query.mode is Mode.SCHEMA),
        key=lambda query: query.name,
    )
    current = await _find_current(graph, files, model, dimension)
    if current is not None:
        return Migration(applied=(), generation=current.generation)
    await graph.apply_schema(graph.queries[_FIRST])
    async with _locked(graph, lock_wait_s) as holder:
        (binding,) = await graph.run(_BIND_STORE, model=model, dimension=dimension)
        _refuse_other_model(binding, model, dimension)
        pending = _pending(files, dict(await graph.run(_LIST_MIGRATIONS)))
        pending = [file for file in pending if up_to is None or file.name <= up_to]
        for file in pending:
            await graph.run(_HOLD_LOCK, holder=holder, seconds=_LEASE_S)
            named = graph.at(binding.generation).queries[file.name]
            await graph.apply_schema(named, vectors=_vector_options(dimension))
            await graph.run(_RECORD_MIGRATION, id=file.name, checksum=_checksum(file))
        await graph.run(_AWAIT_INDEXES, seconds=_INDEX_WAIT_S)
    return Migration(applied=tuple(file.name for file in pending), generation=binding.generation)


async def _find_current(
    graph: Graph, files: list[Query], model: str, dimension: int
) -> StoreMark | None:
    """Find the store if it needs nothing, with its indexes online; None if it may need more."""
    applied = [f"{file.name} {_checksum(file)}" for file in files]

    async def find(work: Work) -> StoreMark | None:
        return await work.run_one(
            _FIND_CURRENT, model=model, dimension=dimension, applied=applied, seconds=_INDEX_WAIT_S
        )

    # As a change, a cluster's leader answers; another server may not know yet of a migration.
    return await graph.change("server.check_schema", find)


async def create_vector_indexes(graph: Graph, dimension: int) -> None:
    """Create the vector indexes of the schema files with the names of the graph's generation.

    Raises:
        StoreUnavailable: The server does not answer.
    """
    for file in graph.queries.values():
        if file.mode is Mode.SCHEMA:
            for text in statements(file):
                if _VECTOR_INDEX.search(text):
                    one = replace(file, text=text)
                    await graph.apply_schema(one, vectors=_vector_options(dimension))
    await graph.run(_AWAIT_INDEXES, seconds=_INDEX_WAIT_S)


async def drop_vector_indexes(graph: Graph) -> None:
    """Drop the vector indexes of the graph's generation."""
    for file in graph.queries.values():
        if file.mode is Mode.SCHEMA:
            for name in _VECTOR_INDEX.findall(file.text):
                await graph.run(_DROP_INDEX, name=name)


@asynccontextmanager
async def _locked(graph: Graph, wait_s: float) -> AsyncIterator[str]:
    holder = uuid.uuid4().hex
    waited = 0.0
    while not await graph.run(_HOLD_LOCK, holder=holder, seconds=_LEASE_S):
        if waited >= wait_s:
            raise StoreUnavailable("another service is migrating the store; try again later")
        await asyncio.sleep(_LOCK_RETRY_S)
        waited += _LOCK_RETRY_S
    try:
        yield holder
    finally:
        await graph.run(_HOLD_LOCK, holder=holder, seconds=0)


def _refuse_other_model(binding: StoreMark, model: str, dimension: int) -> None:
    if (binding.model, binding.dimension) == (model, dimension):
        return
    raise EmbedderMismatch(
        f"the store has vectors of {binding.model} ({binding.dimension} dimensions) and the "
        f"service is set to {model} ({dimension}); set the embedder back to {binding.model}; "
        "`ecphoria reembed` then changes the model",
        stored_model=binding.model,
        stored_dimension=binding.dimension,
        model=model,
        dimension=dimension,
    )


def _pending(files: list[Query], checksums: Mapping[str, str]) -> list[Query]:
    unknown = sorted(checksums.keys() - {file.name for file in files})
    newer = [name for name in unknown if name > files[-1].name]
    if unknown and not newer:
        raise Misconfigured(
            f"a version from before the first release made this store (schema file {unknown[-1]}),"
            " and this one cannot change it; start with an empty store, under another "
            "`ECPHORIA_HOME` or in another database",
            file=unknown[-1],
        )
    if newer:
        raise Misconfigured(
            f"a newer release of Ecphoria has used this store (schema file {newer[-1]}; this "
            f"release knows {files[-1].name}); install that release or a newer one, or restore a "
            "backup that this release made into an empty store",
            file=newer[-1],
        )
    for file in files:
        if checksums.get(file.name, _checksum(file)) != _checksum(file):
            raise Misconfigured(
                f"the schema file {file.name} was changed after this store applied it; put the "
                "released file back and make the change in a new file",
                file=file.name,
            )
    return [file for file in files if file.name not in checksums]


def _checksum(file: Query) -> str:
    return hashlib.sha256(file.text.encode()).hexdigest()


def _vector_options(dimension: int) -> dict[str, dict[str, str | int]]:
    # A quantised index keeps the full vectors beside the rounded ones, and of 10,000 it finds .87
    # of the exact nearest instead of .99; twice the edges (M) change nothing
    # (docs/evaluation/speed.md).
    return {
        "indexConfig": {
            "vector.dimensions": dimension,
            "vector.similarity_function": "cosine",
            "vector.quantization.enabled": False,
        }
    }


# The first version that stores filter properties in a vector index and has SEARCH.
_FLOOR: Final = (2026, 1)
_VECTOR_PROCEDURE: Final = "db.index.vector.queryNodes"
_TEXT_PROCEDURE: Final = "db.index.fulltext.queryNodes"


_SHOW_COMPONENTS = Statement("server.show_components", str)
_FIND_PROCEDURES = Statement("server.find_procedures", str)
_GDS_VERSION = Statement("server.gds_version", str)


async def check(graph: Graph) -> Health:
    """Refuse a server that Ecphoria cannot use; without GDS it is only degraded.

    Raises:
        StoreUnsuitable: The message lists each missing requirement with its remedy.
        StoreUnavailable: The server does not answer.
        Misconfigured: The server refuses the user and password, or lacks the database.
    """
    found = await health(graph)
    if found.missing:
        raise StoreUnsuitable(
            f"Neo4j {found.neo4j} cannot be used: {'; '.join(found.missing)}",
            version=found.neo4j,
            missing=found.missing,
        )
    return found


async def health(graph: Graph) -> Health:
    """Check version and plugin, and list missing parts.

    Raises:
        StoreUnavailable: The server does not answer.
        StoreUnsuitable: It is no Neo4j, or so old that the driver cannot speak with it.
        Misconfigured: The server refuses the user and password, or lacks the database.
    """
    version = await graph.run_one(_SHOW_COMPONENTS)
    if version is None:
        raise StoreUnsuitable("The server at the Neo4j URI names no Neo4j Kernel; set another.")
    names = await graph.run(_FIND_PROCEDURES, names=[_VECTOR_PROCEDURE, _TEXT_PROCEDURE])
    return Health(neo4j=version, gds=await _gds(graph), missing=what_is_missing(version, names))


def what_is_missing(version: str, procedures: Collection[str]) -> tuple[str, ...]:
    """List the reasons why a server of this version cannot be used, with remedies."""
    missing = []
    if _to_version(version) < _FLOOR:
        missing.append(
            f"version {version} is older than 2026.01, the first with SEARCH and filters in "
            "vector indexes: update Neo4j, or unset its URI to use the managed one"
        )
    for procedure, what in ((_VECTOR_PROCEDURE, "vector"), (_TEXT_PROCEDURE, "full-text")):
        if procedure not in procedures:
            missing.append(
                f"there are no {what} indexes: allow the db.* procedures in "
                "`dbms.security.procedures.allowlist`"
            )
    return tuple(missing)


async def _gds(graph: Graph) -> str | None:
    try:
        return await graph.run_one(_GDS_VERSION)
    except EcphoriaError as error:
        # A server without the plugin reports an unknown function.
        if error.fields.get("reason") == "Neo.ClientError.Statement.SyntaxError":
            return None
        raise


def _to_version(text: str) -> tuple[int, ...]:
    """Read the leading numbers: `2026.01.4` is (2026, 1, 4), Aura's `5.27-aura` (5, 27)."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
