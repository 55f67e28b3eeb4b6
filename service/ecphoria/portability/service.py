"""Copy tenants to a file and back: export and import of one, backup and restore of all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.errors import BadFile, Conflict, NotFound
from ecphoria.neo4j_store.schema import StoreMark
from ecphoria.portability.contents import (
    OPERATORS,
    Checked,
    Contents,
    Unfit,
    check_file,
    checked_records,
)
from ecphoria.portability.format import Writer, read_file
from ecphoria.portability.store import Copies
from ecphoria.records.ids import TenantId
from ecphoria.records.upkeep import (
    COPY_KINDS,
    ArchiveBytes,
    CopiedEdge,
    CopiedNode,
    CopyKind,
    Manifest,
    Record,
    SectionEnd,
    SectionStart,
)
from ecphoria.tenancy.store import Tenants

_KEYS: Final = "operators' keys"

Report = Callable[[str, int, int], None]
"""Called with the name of the work, the finished part, and the total."""


@dataclass(slots=True, kw_only=True)
class Copied:
    """Counts of a copy."""

    tenants: int = 0
    nodes: int = 0
    edges: int = 0
    keys: int = 0

    def add(self, end: SectionEnd, *, is_tenant: bool, keys: int) -> None:
        """Count a section."""
        self.tenants += is_tenant
        self.nodes += end.nodes
        self.edges += end.edges
        self.keys += keys


_LOOKED_UP: Final = 2_000
"""Number of nodes whose ids are looked up together."""


@dataclass(slots=True)
class Portability:
    """Writes copies of tenants, and puts them back; stores `batch` records in one transaction."""

    copies: Copies
    tenants: Tenants
    archive: ColdFiles
    batch: int = 1_000

    async def export(self, tenant: str, path: Path, report: Report) -> Copied:
        """Copy one tenant into a new file.

        Raises:
            NotFound: There is no such tenant.
            BadFile: The file exists, or cannot be written.
        """
        found = await self.tenants.find(tenant)
        return await self.write(path, "tenant", [(found.id, found.name)], report)

    async def backup(self, path: Path, report: Report) -> Copied:
        """Copy every tenant and the operators' keys into a new file.

        The copy of a tenant is of one moment; copies of two tenants may be of different moments.

        Raises:
            BadFile: The file exists, or cannot be written.
        """
        listed = [(tenant.id, tenant.name) for tenant in await self.tenants.list()]
        return await self.write(path, "store", [*listed, (None, _KEYS)], report)

    async def take_in(self, path: Path, report: Report, *, keys: bool = True) -> Copied:
        """Store the tenant of a file, with its API keys if `keys`; continue after an interruption.

        A tenant can be used only after all of it was stored.

        Raises:
            BadFile: The file is damaged, holds more than one tenant's graph, or was made for
                another store; nothing was stored.
            Conflict: The tenant exists, something of it does, or another copy of it is stored in
                part.
        """
        return await self._take_in(path, "tenant", report, keys=keys)

    async def restore(self, path: Path, report: Report) -> Copied:
        """Store everything of a backup in a store without its tenants; continues as `take_in`.

        Raises:
            BadFile: The file is damaged, or no backup; nothing was stored.
            Conflict: A tenant of it exists that is not of an interrupted restore.
        """
        return await self._take_in(path, "store", report, keys=True)

    async def _take_in(self, path: Path, kind: CopyKind, report: Report, *, keys: bool) -> Copied:
        report("checking", 0, 1)
        _require_kind(path, kind)
        checked = check_file(path)
        await self._require_room(path, checked)
        total, records = Copied(), checked.records
        lines, done = checked_records(path), 0
        next(lines)
        for record in lines:
            assert isinstance(record, SectionStart)
            section = _Section(
                self.copies, self.archive, record, checked.sha256, self.batch, with_keys=keys
            )
            tell = partial(_tell, report, done, records)
            end = await section.store(_until_end(lines), tell)
            done += section.done + 2
            total.add(end, is_tenant=record.tenant != OPERATORS, keys=section.keys)
        report("storing", records, records)
        # Until here, a repeated attempt needs to know which tenants are stored already.
        for start in checked.sections:
            await self.copies.forget(start.tenant)
        await self.copies.bring_up_to_date()
        return total

    async def _require_room(self, path: Path, checked: Checked) -> None:
        """Refuse a file that does not fit this store, before anything of it is stored."""
        mark = await self.copies.mark()
        if mark is None:
            await self._prepare(checked.manifest)
            return
        _require_fit(checked.manifest, mark)
        for start in checked.sections:
            await self._require_absent(start, checked.sha256)
        await self._require_free(path)

    async def _require_free(self, path: Path) -> None:
        """Refuse ids and keys that other nodes of the store have already."""
        start, waiting, goes_on = None, list[CopiedNode](), False
        for record in checked_records(path):
            if isinstance(record, SectionStart):
                start, waiting = record, []
                goes_on = await self.copies.under_way(record.tenant) is not None
            elif isinstance(record, CopiedNode) and not goes_on:
                waiting.append(record)
            assert start is not None or isinstance(record, Manifest)
            is_due = isinstance(record, SectionEnd) or len(waiting) >= _LOOKED_UP
            if start is not None and waiting and is_due:
                if await self.copies.are_taken(start.tenant, waiting):
                    raise Conflict(
                        f"This store has an id or an API key of {start.name} already; use another "
                        "store."
                    )
                waiting = []

    async def discard(self, path: Path) -> int:
        """Delete the incomplete tenants that an interrupted import of this file has stored.

        A complete tenant may be in use already, so it stays, with its archive.

        Returns:
            The number of tenants whose import was interrupted.

        Raises:
            BadFile: The file is damaged.
        """
        interrupted = 0
        for start in check_file(path).sections:
            if await self.copies.under_way(start.tenant) is None:
                continue
            interrupted += 1
            if start.tenant == OPERATORS or await self._existing(start) is not None:
                await self.copies.finish(start.tenant)
                await self.copies.forget(start.tenant)
            else:
                # The files go first: if that fails, a repeat finds the interrupted import.
                await self.archive.erase(TenantId(start.tenant))
                await self.copies.discard(start.tenant)
        return interrupted

    async def _existing(self, start: SectionStart) -> str | None:
        """Name the tenant that has the id or the name of a section; None without one."""
        return next(
            (
                tenant.name
                for tenant in await self.tenants.list()
                if tenant.id == start.tenant or tenant.name == start.name
            ),
            None,
        )

    async def _require_absent(self, start: SectionStart, digest: str) -> None:
        """Refuse a tenant that exists, unless an earlier attempt with this file stored it."""
        under_way = await self.copies.under_way(start.tenant)
        if under_way is None:
            if (name := await self._existing(start)) is not None:
                raise Conflict(
                    f"The tenant {name} exists already; to replace it, erase it first "
                    f"(`ecphoria tenants erase {name}`)."
                )
        elif under_way.digest != digest:
            raise Conflict(
                f"Another copy of {start.name} is stored in part. Repeat the command with that "
                "file to store the rest, or with that file and --discard to delete it."
            )

    async def _prepare(self, manifest: Manifest) -> None:
        """Give an empty store the schema that the copy was made from."""
        if manifest.migration > self.copies.latest_migration():
            raise BadFile(
                f"The copy was made by the newer release {manifest.release}; use that release or "
                "a newer one."
            )
        await self.copies.prepare(manifest)

    async def write(
        self,
        path: Path,
        kind: CopyKind,
        tenants: Sequence[tuple[TenantId | None, str]],
        report: Report,
    ) -> Copied:
        """Copy these tenants into a new file, each given by id and name.

        Raises:
            NotFound: There is no such tenant, or the store is empty.
            BadFile: The file exists, or cannot be written.
        """
        mark = await self.copies.mark()
        if mark is None:
            raise NotFound("The store is empty; there is nothing to copy.")
        if path.exists():  # noqa: ASYNC240 (the process does nothing else meanwhile)
            raise BadFile(f"{path} exists; name another file.")
        unfinished = path.with_name(f"{path.name}.partial")
        unfinished.unlink(missing_ok=True)
        total, manifest = Copied(), _manifest(kind, mark)
        try:
            with Writer(unfinished, manifest) as file:
                checked = _CheckedWriter(file, manifest)
                for tenant, name in tenants:
                    end = await self._copy(checked, tenant, name, report)
                    total.add(end, is_tenant=tenant is not None, keys=checked.keys)
            unfinished.rename(path)
        finally:
            unfinished.unlink(missing_ok=True)
        return total

    async def _copy(
        self, file: "_CheckedWriter", tenant: TenantId | None, name: str, report: Report
    ) -> SectionEnd:
        # The tenant's write lock is held for the whole copy: repeating a read when the tenant
        # changed would never end for a busy tenant (decision 0031).
        async with self.copies.snapshot(tenant) as snapshot:
            file.begin(tenant or OPERATORS, name)
            async for node in snapshot.nodes():
                file.add(node)
                report(name, node.number + 1, 2 * snapshot.size)
            async for edge in snapshot.edges():
                file.add(edge)
                report(name, snapshot.size + edge.tail + 1, 2 * snapshot.size)
            if tenant is not None:
                async for name_of_file, offset, content in self.archive.parts(tenant):
                    file.add(ArchiveBytes(file=name_of_file, offset=offset, content=content))
            return file.end()


class _CheckedWriter:
    """Writes a copy that an import will accept, so that a backup can be restored."""

    def __init__(self, file: Writer, manifest: Manifest) -> None:
        self._file = file
        self._contents = Contents(manifest)
        self.keys = 0

    def begin(self, tenant: str, name: str) -> None:
        self.keys = 0
        self._check(SectionStart(tenant=tenant, name=name))
        self._file.begin(tenant, name)

    def add(self, record: Record) -> None:
        self._check(record)
        self.keys += _is_key(record)
        self._file.add(record)

    def end(self) -> SectionEnd:
        return self._file.end()

    def _check(self, record: Record) -> None:
        try:
            self._contents.add(record)
        except Unfit as unfit:
            raise BadFile(
                f"The store has {unfit}. Ecphoria has not written it, and an import would refuse "
                "it; take it out of the store, then copy again."
            ) from None


@dataclass(slots=True)
class _Section:
    """Stores one tenant of a file.

    The nodes that give access (the tenant, keys, jobs) are created last, in one transaction
    (decision 0031).
    """

    copies: Copies
    archive: ColdFiles
    start: SectionStart
    digest: str
    batch: int
    with_keys: bool
    done: int = 0
    keys: int = 0
    _stored: int = 0
    _late: dict[int, CopiedNode] = field(default_factory=dict)
    _late_edges: list[CopiedEdge] = field(default_factory=list)
    _known: dict[int, str] = field(default_factory=dict)
    _waiting: list[CopiedNode | CopiedEdge] = field(default_factory=list)
    _file: list[ArchiveBytes] = field(default_factory=list)

    async def store(self, records: Iterator[Record], report: Callable[[int], None]) -> SectionEnd:
        """Store the records that are not stored yet; Conflict if the tenant was made meanwhile."""
        under_way = await self.copies.under_way(self.start.tenant)
        self._stored = under_way.done if under_way else 0
        for record in records:
            if isinstance(record, SectionEnd):
                await self._flush()
                await self._put_file()
                await self._open()
                return record
            # Nodes must be stored, and counted, before the first edge is.
            if self._waiting and type(record) is not type(self._waiting[0]):
                await self._flush()
            self.done += 1
            await self._take(record)
            if len(self._waiting) >= self.batch:
                await self._flush()
                report(self.done)
        raise AssertionError("the file was checked")

    async def _take(self, record: Record) -> None:
        if isinstance(record, CopiedNode) and record.late:
            if self.with_keys or not _is_key(record):
                self._late[record.number] = record
                self.keys += _is_key(record)
        elif isinstance(record, CopiedEdge) and {record.tail, record.head} & self._late.keys():
            self._late_edges.append(record)
        elif self.done <= self._stored:
            return
        elif isinstance(record, CopiedNode | CopiedEdge):
            self._waiting.append(record)
        elif isinstance(record, ArchiveBytes):
            if record.offset == 0:
                await self._put_file()
            self._file.append(record)

    async def _put_file(self) -> None:
        """Store the collected file whole: a bucket would write it anew for each part."""
        if self._file:
            content = b"".join(part.content for part in self._file)
            await self.archive.put(TenantId(self.start.tenant), self._file[0].file, content)
            self._file = []

    async def _flush(self) -> None:
        """Store the collected records: nodes only, or edges only."""
        nodes = [node for node in self._waiting if isinstance(node, CopiedNode)]
        edges = [edge for edge in self._waiting if isinstance(edge, CopiedEdge)]
        if edges and not self._known:
            self._known = await self.copies.imported(self.start.tenant)
        if nodes or edges:
            await self._add(self.done, nodes, edges)
        self._waiting = []

    async def _add(
        self, done: int, nodes: Sequence[CopiedNode], edges: Sequence[CopiedEdge]
    ) -> None:
        await self.copies.add(
            self.start.tenant, self.digest, done, nodes=nodes, edges=edges, known=self._known
        )

    async def _open(self) -> None:
        """Create the nodes that give access: from now on the tenant and its keys work."""
        whole = self.done + 1
        if self._stored < whole:
            try:
                await self._add(whole, list(self._late.values()), self._late_edges)
            except Conflict as error:
                raise Conflict(
                    f"{self.start.name}, or an id or an API key of it, was made in this store "
                    "meanwhile. Repeat the command with --discard to delete what it has stored."
                ) from error
        await self.copies.finish(self.start.tenant)


def _tell(report: Report, before: int, total: int, done: int) -> None:
    report("storing", before + done, total)


def _is_key(record: Record) -> bool:
    return isinstance(record, CopiedNode) and "ApiKey" in record.labels


def _require_kind(path: Path, kind: CopyKind) -> None:
    manifest = next(read_file(path))
    assert isinstance(manifest, Manifest)
    # A kind that does not exist is refused at its line.
    if manifest.kind != kind and manifest.kind in COPY_KINDS:
        raise BadFile(
            f"{path} is the copy of one tenant; use `ecphoria tenants import`."
            if kind == "store"
            else f"{path} is the backup of a whole store, with the keys of its operators; use "
            "`ecphoria backup restore` if you trust its author with the whole store."
        )


def _until_end(lines: Iterator[Manifest | Record]) -> Iterator[Record]:
    for record in lines:
        assert not isinstance(record, Manifest)
        yield record
        if isinstance(record, SectionEnd):
            return


def _require_fit(manifest: Manifest, mark: StoreMark) -> None:
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


def _manifest(kind: CopyKind, mark: StoreMark) -> Manifest:
    return Manifest(
        kind=kind,
        release=version("ecphoria"),
        migration=mark.migration,
        model=mark.model,
        dimension=mark.dimension,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
