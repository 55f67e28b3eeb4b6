"""Store of tenants and API keys."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from ecphoria.errors import Conflict, EcphoriaError, NotFound
from ecphoria.neo4j_store.locks import lock_tenant, no_tenant
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.records.ids import KeyId, TenantId
from ecphoria.records.tenant import ApiKey, Principal, Scope, Tenant

# Small enough that a batch of episodes with all edges needs far less than the heap.
_BATCH: Final = 1_000
# Several rounds, because a writer without the tenant's lock may add nodes during a round.
_ROUNDS: Final = 5

EraseArchive = Callable[[TenantId], Awaitable[int]]
"""Deletes a tenant's archive files; returns the number of their records."""

log = structlog.get_logger(__name__)


class _Left(Exception):
    """The tenant still owns nodes, so its own node must stay."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.counts = counts
        super().__init__()


_CREATE_TENANT = Statement("tenants.create_tenant", Done)
_LIST_TENANTS = Statement("tenants.list_tenants", Tenant)
_FIND_NAMES = Statement("tenants.find_names", tuple[str | None, str | None])
_START_ERASING = Statement("tenants.start_erasing", TenantId)
_COUNT_NODES = Statement("tenants.count_nodes", tuple[str, int])
_ERASE_KIND = Statement("tenants.erase_kind", int)
# Jobs first: without its job a worker can write no more. Then traces, which have edges to nearly
# all other kinds.
_KINDS: Final[Mapping[str, str]] = {
    "Job": "jobs", "Trace": "traces", "Engram": "engrams", "Decision": "decisions",
    "Fact": "facts", "Passage": "passages", "Episode": "episodes", "Tombstone": "tombstones",
    "Session": "sessions", "Speaker": "speakers", "Name": "names", "Term": "terms",
    "Word": "words", "Item": "items", "ApiKey": "keys",
}  # fmt: skip
"""Kinds by the label that all nodes of the kind have, in the order in which they are erased."""


class Tenants(Store):
    """Stores tenants, the owners of memories."""

    async def create(self, tenant: Tenant) -> Tenant:
        """Create a tenant; Conflict if the name is taken."""
        try:
            await self._graph.run(
                _CREATE_TENANT, id=tenant.id, name=tenant.name, created_at=tenant.created_at
            )
        except Conflict as error:
            raise Conflict(
                f"There is a tenant named {tenant.name}; choose another name."
            ) from error
        return tenant

    async def find(self, name: str) -> Tenant:
        """Find a tenant by name; NotFound if there is none."""
        tenant = await self._graph.run_one(_LIST_TENANTS, name=name, expiring=False)
        if tenant is None:
            raise NotFound(
                "there is no tenant with this name; `ecphoria tenants create` makes one", name=name
            )
        return tenant

    async def list(self) -> Sequence[Tenant]:
        """List tenants by name."""
        return await self._graph.run(_LIST_TENANTS, name=None, expiring=False)

    async def names(
        self, tenant: TenantId | None, key: KeyId | None
    ) -> tuple[str | None, str | None]:
        """Find the names of a tenant and of a key of it or of an operator; None if unknown."""
        found = await self._graph.run_one(_FIND_NAMES, tenant=tenant or "", key=key or "")
        return found or (None, None)

    async def erase(
        self, tenant: TenantId, erase_archive: EraseArchive | None = None
    ) -> Mapping[str, int]:
        """Remove a tenant with everything it owns, in bounded transactions; return counts by kind.

        From the first step on, the tenant accepts no writes; after an interruption call it again.
        The tenant's own node is deleted last, in a transaction that finds no other node of it
        under any label. The archive goes before it: without the node nobody could ask again.

        Returns:
            The number of deleted nodes by kind; `remaining` is the number of nodes left: 0.
            `archived` is the number of records of the archive.

        Raises:
            NotFound: There is no such tenant.
            ArchiveUnavailable: The archive cannot be deleted; call it again.
        """
        if not await self._graph.run(_START_ERASING, tenant=tenant):
            raise no_tenant(tenant)
        counts = dict.fromkeys(_KINDS.values(), 0)
        left: Mapping[str, int] = dict(await self._graph.run(_COUNT_NODES, tenant=tenant))
        for _ in range(_ROUNDS):
            for label, kind in _KINDS.items():
                if label in left:
                    counts[kind] += await self._erase(tenant, kind)
            if erase_archive is not None:
                counts["archived"] = counts.get("archived", 0) + await erase_archive(tenant)
            try:
                tenants = await self._delete(tenant)
            except _Left as found:
                left = found.counts
                log.warning("tenant_not_empty", tenant=tenant, left=left)
            else:
                return {**counts, "tenants": tenants, "remaining": 0}
        raise EcphoriaError("somebody goes on writing for the tenant; erase it again")

    async def _delete(self, tenant: TenantId) -> int:
        """Delete the tenant's node; raise _Left, and write nothing, if it owns other nodes."""

        async def delete(work: Work) -> int:
            (deleted,) = await work.run(_ERASE_KIND, tenant=tenant, kind="tenants", batch=1)
            if left := await work.run(_COUNT_NODES, tenant=tenant):
                raise _Left(dict(left))
            return deleted

        return await self._graph.change("tenants.delete", delete)

    async def _erase(self, tenant: TenantId, kind: str) -> int:
        total = 0
        while True:
            (deleted,) = await self._graph.run(_ERASE_KIND, tenant=tenant, kind=kind, batch=_BATCH)
            total += deleted
            if deleted < _BATCH:
                return total


_CREATE_KEY = Statement("keys.create_key", Done)
_DROP_EXPIRED = Statement("keys.drop_expired", Done)
_FIND_PRINCIPAL = Statement("keys.find_principal", Principal)
_LIST_KEYS = Statement("keys.list_keys", ApiKey)
_REVOKE_KEY = Statement("keys.revoke_key", KeyId)


_LISTED_AFTER_END: Final = timedelta(days=30)
"""Time after its end in which a key is still listed."""


class Keys(Store):
    """Store of API keys, each under the hash of its secret.

    In the store an operator's key has the empty tenant, so that an index finds it.
    """

    async def create(self, key: ApiKey, secret_hash: str) -> None:
        """Store a key under the hash of its secret; NotFound without the tenant.

        Keys of the same owner that expired long ago are deleted.
        """

        async def add(work: Work) -> None:
            if key.tenant is not None:
                # Held until the commit, so that an erasure either sees this key or prevents it.
                await lock_tenant(work, key.tenant)
            await work.run(
                _CREATE_KEY,
                id=key.id,
                tenant=key.tenant or "",
                name=key.name,
                prefix=key.prefix,
                scopes=[scope.value for scope in key.scopes],
                hash=secret_hash,
                created_at=key.created_at,
                expires_at=key.expires_at,
            )
            await work.run(
                _DROP_EXPIRED, tenant=key.tenant or "", before=key.created_at - _LISTED_AFTER_END
            )

        await self._graph.change("keys.create", add)

    async def find(self, secret_hash: str) -> Principal | None:
        """Look up the principal of a key that was not revoked; it may have expired."""
        return await self._graph.run_one(_FIND_PRINCIPAL, hash=secret_hash)

    async def list(self, tenant: TenantId | None) -> Sequence[ApiKey]:
        """List the keys of a tenant, or the operator's with None."""
        return await self._graph.run(_LIST_KEYS, tenant=tenant or "")

    async def revoke(self, key: KeyId, revoked_at: datetime) -> None:
        """Revoke a key; NotFound if there is none."""
        if not await self._graph.run(_REVOKE_KEY, id=key, revoked_at=revoked_at):
            raise NotFound("there is no such key", key=key)

    async def count_admins(self) -> int:
        """Count operator keys with the admin scope that work without an end."""
        keys = await self.list(None)
        return sum(
            Scope.ADMIN in key.scopes and key.revoked_at is None and key.expires_at is None
            for key in keys
        )
