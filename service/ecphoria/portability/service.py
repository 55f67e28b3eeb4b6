"""Copy tenants to a file and back: export and import of one, backup and restore of all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.errors import BadFile, Conflict, NotFound
from ecphoria.portability.format import Writer, check_file, now_text, read_file
from ecphoria.portability.store import Copies, StoreMark
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import (
    ArchiveBytes,
    CopiedEdge,
    CopiedNode,
    Manifest,
    Record,
    SectionEnd,
    SectionStart,
)
from ecphoria.tenancy.store import Tenants

OPERATORS: Final = ""
"""Id in the section of the operators' keys, which belong to no tenant."""
_KEYS: Final = "operators' keys"

Report = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """Counts of a copy."""

    tenants: int
    nodes: int
    edges: int
    archive_bytes: int


class Portability:
    """Writes copies of tenants, and puts them back."""

    def __init__(
        self, copies: Copies, tenants: Tenants, archive: ColdFiles, *, batch: int = 1_000
    ) -> None:
        """Copy from and to a store.

        Args:
            copies: The store.
            tenants: Its tenants.
            archive: Its archive.
            batch: Records that an import stores in one transaction.
        """
        self._batch = batch
        self._copies = copies
        self._tenants = tenants
        self._archive = archive

    async def export(self, tenant: str, path: Path, report: Report) -> Copied:
        """Copy one tenant into a new file.

        Args:
            tenant: Its name.
            path: The file.
            report: Told how far it is.

        Raises:
            NotFound: There is no such tenant.
            BadFile: The file exists, or cannot be written.
        """
        found = await self._tenants.find(tenant)
        return await self.write(path, "tenant", [(found.id, found.name)], report)

    async def backup(self, path: Path, report: Report) -> Copied:
        """Copy every tenant and the operators' keys into a new file.

        Each tenant is as it was at one moment; two tenants may be as of different moments.

        Raises:
            BadFile: The file exists, or cannot be written.
        """
        listed = [(tenant.id, tenant.name) for tenant in await self._tenants.list()]
        return await self.write(path, "store", [*listed, (None, _KEYS)], report)

    async def take_in(self, path: Path, report: Report) -> Copied:
        """Store all tenants of a file; continues after an interrupted attempt.

        A tenant can be used when all of it is stored, not before.

        Args:
            path: The file.
            report: Told how far it is.

        Raises:
            BadFile: The file is damaged, or was made for another store; nothing was stored.
            Conflict: A tenant of it exists, or another file of it is under way.
        """
        report("checking", 0, 1)
        checked = check_file(path)
        manifest, records = checked.manifest, checked.records
        mark = await self._copies.mark()
        if mark is None:
            mark = await self._prepare(manifest)
        _require_fit(manifest, mark)
        for start in checked.sections:
            await self._require_absent(start, checked.sha256)
        total = Copied(tenants=0, nodes=0, edges=0, archive_bytes=0)
        lines, done = read_file(path), 0
        next(lines)
        for record in lines:
            assert isinstance(record, SectionStart)
            section = _Section(
                self._copies, self._archive, record, checked.sha256, batch=self._batch
            )
            tell = partial(_tell, report, done, records)
            end = await section.store(_until_end(lines), tell)
            done += section.done + 2
            total = _sum(total, end, record.tenant != OPERATORS)
        report("storing", records, records)
        # Until here a repeated attempt must know which tenants it has stored already.
        for start in checked.sections:
            await self._copies.forget(start.tenant)
        await self._copies.bring_up_to_date()
        return total

    async def restore(self, path: Path, report: Report) -> Copied:
        """Store everything of a backup in an empty store.

        Raises:
            BadFile: The file is damaged, or no backup; nothing was stored.
            Conflict: There are tenants in the store that are not of an interrupted restore.
        """
        manifest = next(read_file(path))
        assert isinstance(manifest, Manifest)
        if manifest.kind != "store":
            raise BadFile(f"{path} is the copy of one tenant; use `ecphoria tenants import`.")
        return await self.take_in(path, report)

    async def discard(self, path: Path) -> None:
        """Delete the incomplete tenants that an interrupted import of this file has stored.

        A tenant that is whole can be used already, so it stays, with its archive.

        Raises:
            BadFile: The file is damaged.
        """
        for start in check_file(path).sections:
            if await self._copies.under_way(start.tenant) is None:
                continue
            if start.tenant == OPERATORS or await self._exists(start):
                await self._copies.finish(start.tenant)
                await self._copies.forget(start.tenant)
            else:
                await self._copies.discard(start.tenant)
                await self._archive.erase(TenantId(start.tenant))

    async def _exists(self, start: SectionStart) -> bool:
        try:
            await self._tenants.find(start.name)
        except NotFound:
            return False
        return True

    async def _require_absent(self, start: SectionStart, digest: str) -> None:
        """Refuse a tenant that exists, unless an earlier attempt with this file stored it."""
        under_way = await self._copies.under_way(start.tenant)
        if under_way is None:
            if await self._exists(start):
                raise _conflict(start.name)
        elif under_way.digest != digest:
            raise Conflict(
                f"Another copy of {start.name} is under way; send that file again, or give it up "
                "with --discard."
            )

    async def _prepare(self, manifest: Manifest) -> StoreMark:
        """Give an empty store the schema that the copy was made from."""
        latest = self._copies.latest_migration()
        if manifest.migration > latest:
            raise BadFile(
                f"The copy was made by the newer release {manifest.release}; use that release or "
                "a newer one."
            )
        return await self._copies.prepare(
            StoreMark(
                model=manifest.model, dimension=manifest.dimension, migration=manifest.migration
            )
        )

    async def write(
        self, path: Path, kind: str, tenants: Sequence[tuple[TenantId | None, str]], report: Report
    ) -> Copied:
        """Copy these tenants into a new file, each given by id and name.

        Raises:
            NotFound: There is no such tenant, or the store is empty.
            BadFile: The file exists, or cannot be written.
        """
        mark = await self._copies.mark()
        if mark is None:
            raise NotFound("The store is empty; there is nothing to copy.")
        if path.exists():  # noqa: ASYNC240 (the process does nothing else meanwhile)
            raise BadFile(f"{path} exists; name another file.")
        partial = path.with_name(f"{path.name}.partial")
        partial.unlink(missing_ok=True)
        total = Copied(tenants=0, nodes=0, edges=0, archive_bytes=0)
        try:
            with Writer(partial, _manifest(kind, mark)) as file:
                for tenant, name in tenants:
                    end = await self._copy(file, tenant, name, report)
                    total = _sum(total, end, tenant is not None)
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
        return total

    async def _copy(
        self, file: Writer, tenant: TenantId | None, name: str, report: Report
    ) -> SectionEnd:
        async with self._copies.snapshot(tenant) as snapshot:
            file.begin(tenant or OPERATORS, name)
            async for node in snapshot.nodes():
                file.add(node)
                report(name, node.number + 1, 2 * snapshot.size)
            async for edge in snapshot.edges():
                file.add(edge)
                report(name, snapshot.size + edge.tail + 1, 2 * snapshot.size)
            if tenant is not None:
                async for name_of_file, offset, content in self._archive.parts(tenant):
                    file.add(ArchiveBytes(file=name_of_file, offset=offset, content=content))
            return file.end()


class _Section:
    """One tenant of a file on its way into the store.

    What gives access to it (its own node, keys, jobs) is created last, in one transaction.
    """

    def __init__(
        self, copies: Copies, archive: ColdFiles, start: SectionStart, digest: str, *, batch: int
    ) -> None:
        self._batch = batch
        self._copies = copies
        self._archive = archive
        self._tenant = start.tenant
        self._name = start.name
        self._digest = digest
        self._late: dict[int, CopiedNode] = {}
        self._late_edges: list[CopiedEdge] = []
        self._known: dict[int, str] = {}
        self._waiting: list[CopiedNode | CopiedEdge] = []
        self._stored = 0
        self.done = 0

    async def store(self, records: Iterator[Record], report: Callable[[int], None]) -> SectionEnd:
        """Store the records that are not stored yet.

        Raises:
            Conflict: The tenant was made meanwhile.
        """
        under_way = await self._copies.under_way(self._tenant)
        self._stored = under_way.done if under_way else 0
        for record in records:
            if isinstance(record, SectionEnd):
                await self._flush()
                await self._open()
                return record
            # Nodes must be stored, and counted, before the first edge is.
            if self._waiting and type(record) is not type(self._waiting[0]):
                await self._flush()
            self.done += 1
            await self._take(record)
            if len(self._waiting) >= self._batch:
                await self._flush()
                report(self.done)
        raise AssertionError("the file was checked")

    async def _take(self, record: Record) -> None:
        if isinstance(record, CopiedNode) and record.late:
            self._late[record.number] = record
        elif isinstance(record, CopiedEdge) and {record.tail, record.head} & self._late.keys():
            self._late_edges.append(record)
        elif self.done <= self._stored:
            return
        elif isinstance(record, CopiedNode | CopiedEdge):
            self._waiting.append(record)
        elif isinstance(record, ArchiveBytes):
            tenant = TenantId(self._tenant)
            await self._archive.put(tenant, record.file, record.offset, record.content)

    async def _flush(self) -> None:
        """Store the collected records: nodes only, or edges only."""
        nodes = [node for node in self._waiting if isinstance(node, CopiedNode)]
        edges = [edge for edge in self._waiting if isinstance(edge, CopiedEdge)]
        if edges and not self._known:
            self._known = await self._copies.imported(self._tenant)
        if nodes or edges:
            await self._add(self.done, nodes, edges)
        self._waiting = []

    async def _add(
        self, done: int, nodes: Sequence[CopiedNode], edges: Sequence[CopiedEdge]
    ) -> None:
        await self._copies.add(
            self._tenant, self._digest, done, nodes=nodes, edges=edges, known=self._known
        )

    async def _open(self) -> None:
        """Give access: only now can the tenant be found, and its keys be used."""
        whole = self.done + 1
        if self._stored < whole:
            try:
                await self._add(whole, list(self._late.values()), self._late_edges)
            except Conflict as error:
                raise _conflict(self._name) from error
        await self._copies.finish(self._tenant)


def _conflict(name: str) -> Conflict:
    return Conflict(
        f"The tenant {name} exists already, or one of its keys does; erase it first, or give up "
        "this import with --discard."
    )


def _tell(report: Report, before: int, total: int, done: int) -> None:
    report("storing", before + done, total)


def _until_end(lines: Iterator[Manifest | Record]) -> Iterator[Record]:
    for record in lines:
        assert not isinstance(record, Manifest)
        yield record
        if isinstance(record, SectionEnd):
            return


def _require_fit(manifest: Manifest, mark: StoreMark | None) -> None:
    assert mark is not None, "the schema was applied"
    if (manifest.model, manifest.dimension) != (mark.model, mark.dimension):
        raise BadFile(
            f"The copy has vectors of {manifest.model} ({manifest.dimension} dimensions), this "
            f"store those of {mark.model} ({mark.dimension}); use a store with the same model."
        )
    if manifest.migration != mark.migration:
        raise BadFile(
            f"The copy was made by release {manifest.release} with the schema "
            f"{manifest.migration}, and this store has {mark.migration}; start the older one with "
            "the newer release, which brings it up to date, and make the copy again."
        )


def _manifest(kind: str, mark: StoreMark) -> Manifest:
    return Manifest(
        kind="store" if kind == "store" else "tenant",
        release=version("ecphoria"),
        migration=mark.migration,
        model=mark.model,
        dimension=mark.dimension,
        made_at=now_text(),
    )


def _sum(total: Copied, end: SectionEnd, is_tenant: bool) -> Copied:
    return Copied(
        tenants=total.tenants + is_tenant,
        nodes=total.nodes + end.nodes,
        edges=total.edges + end.edges,
        archive_bytes=total.archive_bytes + end.bytes,
    )
