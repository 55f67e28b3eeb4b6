"""The files of the archive: append-only, each record with its checksums.

```
file    = "ECPHCOLD1", line feed, record*
record  = mark (4) id (32) sha256 of the content (32) length (4) crc32 of these (4) zlib(content)
```

The mark tells a record from a wiped one: all its bytes are overwritten except the length. Numbers
are little-endian. A file is written once, complete or not at all; later its records are only
wiped. It lies on a disk or in a bucket.
"""

import asyncio
import struct
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final, ParamSpec, Protocol, TypeVar
from uuid import uuid4

from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, InvalidInput
from ecphoria.records.ids import ID, EpisodeId, TenantId
from ecphoria.records.upkeep import COLD_FILE, ColdRecord, Located

# Each record is compressed alone, so that it can be read, checked and overwritten without the
# others (decision 0022).
_MAGIC: Final = b"ECPHCOLD1\n"
_THERE, _WIPED = b"REC1", b"GONE"
_HEAD: Final = struct.Struct("<4s32s32sI")
_CRC: Final = struct.Struct("<I")
_SIZE: Final = _HEAD.size + _CRC.size
_PART: Final = 1 << 20
"""Size of the blocks in which a file is copied, in bytes."""
_READ: Final = 1 << 16
"""Bytes read at once: nearly always the whole record, which a bucket then gives in one request."""
_NOBODY, _NOTHING = bytes(32), bytes(32)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    mark: bytes
    id: bytes
    digest: bytes
    length: int

    def packed(self) -> bytes:
        head = _HEAD.pack(self.mark, self.id, self.digest, self.length)
        return head + _CRC.pack(zlib.crc32(head))


class Storage(Protocol):
    """Holds files by their name, in a folder for each tenant.

    Each call raises OSError if the storage cannot be used; `read` and `change` raise
    FileNotFoundError if there is no such file.

    Attributes:
        remedy: What an operator can do if it cannot be used.
    """

    remedy: str

    def knows(self, folder: str) -> bool:
        """Tell whether there is such a folder."""

    def create(self, folder: str, name: str, content: bytes) -> None:
        """Store a file, in place of one of this name: complete and durable, or not at all."""

    def read(self, folder: str, name: str, start: int = 0, length: int = -1) -> bytes:
        """Read a part of a file, shorter at its end; by default all of it."""

    def change(
        self, folder: str, name: str, change: Callable[[bytes], Mapping[int, bytes]]
    ) -> bytes:
        """Overwrite parts of a file, by their offset; return the content."""

    def files(self, folder: str, older_than_s: float | None = None) -> Sequence[str]:
        """Name the files, with an age only those without later writes."""

    def delete(self, folder: str, name: str) -> None:
        """Delete a file; it may be gone already."""

    def drop(self, folder: str) -> None:
        """Delete a folder with all its files; it may be gone already."""


class ColdFiles:
    """The archive in a storage.

    Each call raises ArchiveUnavailable if the storage cannot be used, or the disk is full; a file
    that cannot be written whole is not left. Several processes may share the storage, so a file
    may be deleted by another one at any moment, with its last record.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def write(self, tenant: TenantId, records: Sequence[ColdRecord]) -> Sequence[Located]:
        """Store records in a new file, durable and read back; all or nothing."""
        return await self._call(self._write, _folder(tenant), records)

    async def read(self, tenant: TenantId, place: Located) -> bytes:
        """Fetch a record's content.

        Raises:
            ArchiveDamaged: The record is missing or changed.
            ArchiveUnavailable: The tenant has no folder here.
        """
        return await self._call(self._read, _folder(tenant), place)

    async def sound(
        self, tenant: TenantId, places: Sequence[Located]
    ) -> tuple[list[ColdRecord], list[EpisodeId]]:
        """Fetch the records that are as they were written, and the ids of all others."""
        return await self._call(self._sound, _folder(tenant), places)

    async def wipe(self, tenant: TenantId, places: Sequence[Located]) -> None:
        """Overwrite records, and delete files without records."""
        await self._call(self._wipe, _folder(tenant), places)

    async def unreferenced(
        self, tenant: TenantId, referenced: AbstractSet[tuple[str, int]], older_than_s: float
    ) -> Sequence[Located]:
        """Find unreferenced records, in files without recent writes."""
        return await self._call(self._unreferenced, _folder(tenant), referenced, older_than_s)

    async def parts(self, tenant: TenantId) -> AsyncIterator[tuple[str, int, bytes]]:
        """Yield every file of a tenant in blocks: its name, the offset, and the bytes."""
        folder = _folder(tenant)
        for name in await self._call(self._storage.files, folder):
            offset = 0
            while part := await self._call(self._part, folder, name, offset):
                yield name, offset, part
                offset += len(part)

    async def put(self, tenant: TenantId, file: str, content: bytes) -> None:
        """Store a copied file; a repeat changes nothing.

        Raises:
            InvalidInput: The name is no valid name of an archive file.
        """
        await self._call(self._storage.create, _folder(tenant), _checked(file), content)

    async def erase(self, tenant: TenantId) -> int:
        """Delete all files of a tenant; return the number of their records.

        Raises:
            InvalidInput: The id is no valid tenant id.
        """
        return await self._call(self._erase, _folder(tenant))

    async def _call(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Run blocking work in a thread."""
        try:
            return await asyncio.to_thread(work, *args, **named)
        except OSError as error:
            raise ArchiveUnavailable(
                f"The archive in {self._storage} cannot be used: {error.strerror or error}."
                f" {self._storage.remedy}."
            ) from error

    def _write(self, folder: str, records: Sequence[ColdRecord]) -> list[Located]:
        name = f"{uuid4().hex}.cold"
        content, places = _packed(name, records)
        self._storage.create(folder, name, content)
        if self._storage.read(folder, name) != content:
            self._storage.delete(folder, name)
            raise OSError("a file is read back otherwise than it was written")
        return places

    def _sound(
        self, folder: str, places: Sequence[Located]
    ) -> tuple[list[ColdRecord], list[EpisodeId]]:
        # A request to a bucket takes longer than the records of a whole file.
        whole: dict[str, bytes] = {}
        for name, wanted in Counter(place.file for place in places).items():
            with suppress(FileNotFoundError):
                if wanted > 1:
                    whole[name] = self._storage.read(folder, _checked(name))
        sound: list[ColdRecord] = []
        damaged: list[EpisodeId] = []
        for place in places:
            try:
                content = self._read(folder, place, whole.get(place.file))
            except ArchiveDamaged:
                damaged.append(place.id)
            else:
                sound.append(ColdRecord(id=place.id, content=content))
        return sound, damaged

    def _read(self, folder: str, place: Located, whole: bytes | None = None) -> bytes:
        """Read one record, from the whole file if it is there."""
        name = _checked(place.file)

        def part(start: int, length: int) -> bytes:
            if whole is not None:
                return whole[start : start + length]
            return self._storage.read(folder, name, start, length)

        try:
            data = part(place.offset, _READ)
            header = _header(data[:_SIZE])
            if header is None or header.mark != _THERE or header.id != place.id.encode():
                raise _damaged(place)
            stored = data[_SIZE : _SIZE + header.length]
            if missing := header.length - len(stored):
                stored += part(place.offset + len(data), missing)
        except FileNotFoundError:
            if self._storage.knows(folder):
                raise _damaged(place) from None
            # This is no damage: another service of the store archived it elsewhere.
            raise ArchiveUnavailable(
                "The archive of this service has no files of this tenant. All services of a store"
                " need the same archive: set ECPHORIA_ARCHIVE__DIR or ECPHORIA_ARCHIVE__URL;"
                " nothing was changed."
            ) from None
        return _content(place, header, stored)

    def _wipe(self, folder: str, places: Sequence[Located]) -> None:
        offsets: dict[str, list[int]] = {}
        for place in places:
            offsets.setdefault(_checked(place.file), []).append(place.offset)
        for name, wanted in sorted(offsets.items()):
            with suppress(FileNotFoundError):
                left = self._storage.change(folder, name, partial(_wiped, offsets=wanted))
                if _only_wiped(left):
                    self._storage.delete(folder, name)

    def _unreferenced(
        self, folder: str, referenced: AbstractSet[tuple[str, int]], older_than_s: float
    ) -> list[Located]:
        found: list[Located] = []
        for name in self._storage.files(folder, older_than_s):
            found += (
                Located(
                    id=EpisodeId(header.id.decode("ascii", "replace")),
                    file=name,
                    offset=offset,
                    sha256=header.digest.hex(),
                )
                for offset, header in _there(self._part(folder, name)).items()
                if (name, offset) not in referenced
            )
        return found

    def _erase(self, folder: str) -> int:
        files = self._storage.files(folder)
        records = sum(len(_there(self._part(folder, name))) for name in files)
        self._storage.drop(folder)
        return records

    def _part(self, folder: str, name: str, offset: int | None = None) -> bytes:
        """Read a block of a file, or all of it; nothing if it was deleted meanwhile."""
        with suppress(FileNotFoundError):
            if offset is None:
                return self._storage.read(folder, name)
            return self._storage.read(folder, name, offset, _PART)
        return b""


def _folder(tenant: TenantId) -> str:
    """Return the name of a tenant's folder; refuse an id that is no valid name."""
    if not ID.fullmatch(tenant):
        raise InvalidInput("An archive has a folder for a tenant's id only.")
    return tenant


def _checked(name: str) -> str:
    """Refuse a name that is no valid archive file name."""
    if not COLD_FILE.fullmatch(name):
        raise InvalidInput("A record names a file that is none of an archive.")
    return name


def _packed(name: str, records: Sequence[ColdRecord]) -> tuple[bytes, list[Located]]:
    """Pack the content of a file; say where in it each record is."""
    content = bytearray(_MAGIC)
    places: list[Located] = []
    for record in records:
        packed, digest = zlib.compress(record.content), sha256(record.content)
        header = _Header(
            mark=_THERE, id=record.id.encode(), digest=digest.digest(), length=len(packed)
        )
        places.append(
            Located(id=record.id, file=name, offset=len(content), sha256=digest.hexdigest())
        )
        content += header.packed() + packed
    return bytes(content), places


def _content(place: Located, header: _Header, stored: bytes) -> bytes:
    try:
        content = zlib.decompress(stored)
    except zlib.error:
        raise _damaged(place) from None
    if sha256(content).digest() != header.digest or header.digest.hex() != place.sha256:
        raise _damaged(place)
    return content


def _there(content: bytes) -> dict[int, _Header]:
    """Find the records of a file that are not wiped, by their offset."""
    return {offset: header for offset, header in _walk(content) if header.mark == _THERE}


def _only_wiped(content: bytes) -> bool:
    """Tell whether a file has wiped records alone; a damaged header may belong to a memory."""
    end = len(_MAGIC)
    for offset, header in _walk(content):
        if offset != end or header.mark != _WIPED:
            return False
        end = offset + _SIZE + header.length
    return end >= len(content)


def _walk(content: bytes) -> Iterator[tuple[int, _Header]]:
    """Yield the records of a file; after a damaged header, continue at the next valid header."""
    offset = len(_MAGIC)
    while offset < len(content):
        header = _header(content[offset : offset + _SIZE])
        if header is not None:
            yield offset, header
            offset += _SIZE + header.length
            continue
        later = [at for at in (content.find(mark, offset + 1) for mark in (_THERE, _WIPED))
                 if at > 0]  # fmt: skip
        if not later:
            return
        offset = min(later)


def _header(data: bytes) -> _Header | None:
    if len(data) < _SIZE or _CRC.unpack(data[_HEAD.size :])[0] != zlib.crc32(data[: _HEAD.size]):
        return None
    mark, ident, digest, length = _HEAD.unpack(data[: _HEAD.size])
    return _Header(mark=mark, id=ident, digest=digest, length=length)


def _wiped(content: bytes, *, offsets: Sequence[int]) -> Mapping[int, bytes]:
    """Overwrite records, except their length; a damaged one up to the next valid header."""
    ends = {offset: _SIZE + header.length for offset, header in _walk(content)}
    pieces = {}
    for offset in offsets:
        if offset >= len(content):
            continue
        whole = ends.get(offset)
        if whole is None:
            whole = min([at for at in ends if at > offset], default=len(content)) - offset
        length = max(0, whole - _SIZE)
        blank = _Header(mark=_WIPED, id=_NOBODY, digest=_NOTHING, length=length)
        pieces[offset] = blank.packed() + bytes(length)
    return pieces


def _damaged(place: Located) -> ArchiveDamaged:
    return ArchiveDamaged(
        f"the record of {place.id} in {place.file} is missing or not as it was written; put the "
        "file back from a backup, or delete the episode",
        id=place.id,
        file=place.file,
    )
