"""See what the server is and can do before anything is written to it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from ecphoria.errors import EcphoriaError, StoreUnsuitable
from ecphoria.graph.executor import Graph, Statement
from ecphoria.ports.tenants import Health

__all__ = ["check", "health", "what_is_missing"]

# The first version that stores filter properties in a vector index and has SEARCH.
_FLOOR: Final = (2026, 1)
_VECTOR_PROCEDURE: Final = "db.create.setNodeVectorProperty"
_TEXT_PROCEDURE: Final = "db.index.fulltext.queryNodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    version: str
    edition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Procedure:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    version: str


_SHOW_COMPONENTS = Statement("server.show_components", _Component)
_FIND_PROCEDURES = Statement("server.find_procedures", _Procedure)
_GDS_VERSION = Statement("server.gds_version", _Version)


async def check(graph: Graph) -> Health:
    """Refuse a server that Ecphoria cannot use; one without GDS is only degraded.

    Raises:
        StoreUnsuitable: The message lists everything that is missing, each with its remedy.
        StoreUnavailable: The server does not answer.
        Misconfigured: The server refuses the user and password.
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
    """Look at version, edition, plugin and what is missing.

    Raises:
        StoreUnavailable: The server does not answer.
        StoreUnsuitable: It is no Neo4j.
        Misconfigured: The server refuses the user and password.
    """
    server = await graph.run_one(_SHOW_COMPONENTS)
    if server is None:
        raise StoreUnsuitable("The server at the Neo4j URI names no Neo4j Kernel; set another.")
    names = await graph.run(_FIND_PROCEDURES, names=[_VECTOR_PROCEDURE, _TEXT_PROCEDURE])
    return Health(
        neo4j=server.version,
        edition=server.edition,
        gds=await _gds(graph),
        missing=what_is_missing(server.version, {row.name for row in names}),
    )


def what_is_missing(version: str, procedures: Collection[str]) -> tuple[str, ...]:
    """Tell why a server of this version with these procedures cannot be used, with remedies."""
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
        row = await graph.run_one(_GDS_VERSION)
    except EcphoriaError as error:
        # A server without the plugin does not know the function.
        if error.fields.get("reason") == "Neo.ClientError.Statement.SyntaxError":
            return None
        raise
    return None if row is None else row.version


def _to_version(text: str) -> tuple[int, ...]:
    """Read the leading numbers: `2026.01.4` is (2026, 1, 4), Aura's `5.27-aura` (5, 27)."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
