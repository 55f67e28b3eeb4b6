"""The files of the archive: append-only, each record with its checksums.

```
file    = "ECPHCOLD1", line feed, record*
record  = mark (4) id (32) sha256 of the content (32) length (4) crc32 of these (4) zlib(content)
```

The mark tells a record from a wiped one: all its bytes are overwritten except the length. Numbers
are little-endian. A file is written once, under another name until it is complete on the disk;
later its records are only wiped.
"""

import asyncio
import contextlib
import os
import struct
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
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
_NOBODY, _NOTHING = bytes(32), bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    mark: bytes
    id: bytes
    digest: bytes
    length: int

    def packed(self) -> bytes:
        head = _HEAD.pack(self.mark, self.id, self.digest, self.length)
        return head + _CRC.pack(zlib.crc32(head))


class ColdFiles:
    """The archive on a disk.

    Each call raises ArchiveUnavailable if a folder or a file cannot be used, or the disk is full;
    a file that cannot be written whole is not left. Several processes may share the folder, so a
    file may be deleted by another one at any moment, with its last record.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def write(self, tenant: TenantId, records: Sequence[ColdRecord]) -> Sequence[Located]:
        """Store records in a new file, flushed to the disk and read back; all or nothing."""
        return await asyncio.to_thread(self._write, tenant, records)

    async def read(self, tenant: TenantId, place: Located) -> bytes:
        """Fetch a record's content.

        Raises:
            ArchiveDamaged: The record is missing or changed.
            ArchiveUnavailable: The tenant has no folder here.
        """
        return await asyncio.to_thread(self._read_of, tenant, place)

    async def wipe(self, tenant: TenantId, places: Sequence[Located]) -> None:
        """Overwrite records, and delete files without records."""
        await asyncio.to_thread(self._wipe, tenant, places)

    async def unreferenced(
        self, tenant: TenantId, referenced: AbstractSet[tuple[str, int]], older_than_s: float
    ) -> Sequence[Located]:
        """Find unreferenced records, in files without recent writes."""
        return await asyncio.to_thread(self._unreferenced, tenant, referenced, older_than_s)

    async def parts(self, tenant: TenantId) -> AsyncIterator[tuple[str, int, bytes]]:
        """Yield every file of a tenant in blocks: its name, the offset, and the bytes."""
        for path in sorted(self._of(tenant).glob("*.cold")):
            offset = 0
            while part := await asyncio.to_thread(self._part, path, offset):
                yield path.name, offset, part
                offset += len(part)

    async def put(self, tenant: TenantId, file: str, offset: int, content: bytes) -> None:
        """Write a block of a copied file at its offset; a repeat changes nothing.

        Raises:
            InvalidInput: The name is no valid name of an archive file.
        """
        await asyncio.to_thread(self._put, tenant, file, offset, content)

    async def erase(self, tenant: TenantId) -> int:
        """Delete all files of a tenant; return the number of their records.

        Raises:
            InvalidInput: The id is no valid tenant id.
        """
        return await asyncio.to_thread(self._erase, tenant)

    def _of(self, tenant: TenantId) -> Path:
        """Return the folder of a tenant; refuse an id that is no valid folder name."""
        if not ID.fullmatch(tenant):
            raise InvalidInput("An archive has a folder for a tenant's id only.")
        return self._folder / tenant

    def _file_of(self, tenant: TenantId, name: str) -> Path:
        """Return the path of a tenant's file; refuse a name that is no valid archive file name."""
        folder = self._of(tenant)
        if not COLD_FILE.fullmatch(name):
            raise InvalidInput("A record names a file that is none of an archive.")
        return folder / name

    def _write(self, tenant: TenantId, records: Sequence[ColdRecord]) -> list[Located]:
        name = f"{uuid4().hex}.cold"
        partial = self._of(tenant) / f"{name}.partial"
        try:
            _make_private(partial.parent)
            places = _write_whole(partial, name, records)
            for place in places:
                self._read(partial, place)
            partial.rename(partial.with_name(name))
            _flush_folder(partial.parent)
        except (OSError, ArchiveDamaged) as error:
            partial.unlink(missing_ok=True)
            raise ArchiveUnavailable(_told(self._folder, error)) from error
        return places

    def _part(self, path: Path, offset: int) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(_PART)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error

    def _put(self, tenant: TenantId, name: str, offset: int, content: bytes) -> None:
        path = self._file_of(tenant, name)
        try:
            _make_private(path.parent)
            path.touch(0o600)
            with path.open("r+b") as file:
                file.seek(offset)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            _flush_folder(path.parent)
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error

    def _read_of(self, tenant: TenantId, place: Located) -> bytes:
        path = self._file_of(tenant, place.file)
        if not path.parent.is_dir():
            # This is no damage: another service of the store archived it in its own folder.
            raise ArchiveUnavailable(
                "The archive of this service has no files of this tenant. All services of a store"
                " need the same folder: set ECPHORIA_ARCHIVE__DIR; nothing was changed."
            )
        return self._read(path, place)

    def _read(self, path: Path, place: Located) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(place.offset)
                header = _header(file.read(_SIZE))
                stored = file.read(header.length) if header else b""
        except FileNotFoundError:
            raise _damaged(place) from None
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error
        if header is None or header.mark != _THERE or header.id != place.id.encode():
            raise _damaged(place)
        try:
            content = zlib.decompress(stored)
        except zlib.error:
            raise _damaged(place) from None
        if sha256(content).digest() != header.digest or header.digest.hex() != place.sha256:
            raise _damaged(place)
        return content

    def _wipe(self, tenant: TenantId, places: Sequence[Located]) -> None:
        offsets: dict[str, list[int]] = {}
        for place in places:
            offsets.setdefault(place.file, []).append(place.offset)
        try:
            for name, wanted in sorted(offsets.items()):
                path = self._file_of(tenant, name)
                with contextlib.suppress(FileNotFoundError):
                    _overwrite(path, wanted)
                    if not any(header.mark == _THERE for _, header in _walk(path)):
                        path.unlink()
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error

    def _unreferenced(
        self, tenant: TenantId, referenced: AbstractSet[tuple[str, int]], older_than_s: float
    ) -> list[Located]:
        latest = time.time() - older_than_s
        found: list[Located] = []
        try:
            for path in sorted(self._of(tenant).glob("*.cold*")):
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime > latest:
                        continue
                    if path.suffix == ".partial":
                        path.unlink()
                        continue
                    found += (
                        Located(
                            id=EpisodeId(header.id.decode("ascii", "replace")),
                            file=path.name,
                            offset=offset,
                            sha256=header.digest.hex(),
                        )
                        for offset, header in _walk(path)
                        if header.mark == _THERE and (path.name, offset) not in referenced
                    )
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error
        return found

    def _erase(self, tenant: TenantId) -> int:
        folder = self._of(tenant)
        records = 0
        try:
            for path in sorted(folder.glob("*")):
                records += sum(header.mark == _THERE for _, header in _walk(path))
                path.unlink()
            if folder.exists():
                folder.rmdir()
        except OSError as error:
            raise ArchiveUnavailable(_told(self._folder, error)) from error
        return records


def _make_private(folder: Path) -> None:
    """Make a private folder; `mkdir` would make its parents readable for all."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)


def _write_whole(path: Path, name: str, records: Sequence[ColdRecord]) -> list[Located]:
    places: list[Located] = []
    with path.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(_MAGIC)
        for record in records:
            packed, digest = zlib.compress(record.content), sha256(record.content)
            header = _Header(
                mark=_THERE, id=record.id.encode(), digest=digest.digest(), length=len(packed)
            )
            places.append(
                Located(id=record.id, file=name, offset=file.tell(), sha256=digest.hexdigest())
            )
            file.write(header.packed() + packed)
        file.flush()
        os.fsync(file.fileno())
    return places


def _walk(path: Path) -> Iterator[tuple[int, _Header]]:
    """Yield the records of a file; after a damaged header, continue at the next valid header."""
    content = path.read_bytes()
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


def _overwrite(path: Path, offsets: Sequence[int]) -> None:
    """Overwrite records, except their length; a damaged one up to the next valid header."""
    ends = {offset: _SIZE + header.length for offset, header in _walk(path)}
    size = path.stat().st_size
    with path.open("r+b") as file:
        for offset in sorted(offsets):
            if offset >= size:
                continue
            whole = ends.get(offset)
            if whole is None:
                whole = min([at for at in ends if at > offset], default=size) - offset
            length = max(0, whole - _SIZE)
            wiped = _Header(mark=_WIPED, id=_NOBODY, digest=_NOTHING, length=length)
            file.seek(offset)
            file.write(wiped.packed() + bytes(length))
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _damaged(place: Located) -> ArchiveDamaged:
    return ArchiveDamaged(
        f"the record of {place.id} in {place.file} is missing or not as it was written; put the "
        "file back from a backup, or delete the episode",
        id=place.id,
        file=place.file,
    )


def _told(folder: Path, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return (
        f"The archive in {folder} cannot be used: {why}. Free space or set ECPHORIA_ARCHIVE__DIR; "
        "nothing was changed."
    )
