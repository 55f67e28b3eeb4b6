"""The archive's files: whole, or not there; damage stays where it is; wiped is gone."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, InvalidInput
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.upkeep import ColdRecord, Located

TENANT = TenantId("a" * 32)


def records(*contents: bytes) -> list[ColdRecord]:
    return [ColdRecord(id=EpisodeId(fresh_id()), content=content) for content in contents]


def path_of(folder: Path, place: Located) -> Path:
    return folder / TENANT / place.file


async def test_what_is_written_is_read(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    contents = [b"", b"text\n\x00\xff", b"REC1" * 500]
    places = await cold.write(TENANT, records(*contents))
    assert [await cold.read(TENANT, place) for place in places] == contents
    assert [place.sha256 for place in places] == [sha256(one).hexdigest() for one in contents]
    assert len({place.file for place in places}) == 1
    assert [path.suffix for path in (tmp_path / TENANT).iterdir()] == [".cold"]


async def test_only_this_user_reads_the_archive(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    (place,) = await ColdFiles(folder).write(TENANT, records(b"x"))
    for path in (folder, folder / TENANT, path_of(folder, place)):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_copied_parts_make_the_same_files(tmp_path: Path) -> None:
    there, here = ColdFiles(tmp_path / "there"), ColdFiles(tmp_path / "here")
    places = await there.write(TENANT, records(os.urandom(3_000_000), b"x"))
    parts = [part async for part in there.parts(TENANT)]
    assert len(parts) > 1
    for name, offset, content in [*parts, *parts]:  # the same again changes nothing
        await here.put(TENANT, name, offset, content)
    for place in places:
        assert await here.read(TENANT, place) == await there.read(TENANT, place)
    for name in ("../x.cold", "x.cold", "a" * 32):
        with pytest.raises(InvalidInput, match="none of an archive"):
            await here.put(TENANT, name, 0, b"x")


async def test_damage_stays_where_it_is(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    places = await cold.write(TENANT, records(*(os.urandom(200) for _ in range(5))))
    path = path_of(tmp_path, places[0])
    sound = path.read_bytes()
    ends = [place.offset for place in places[1:]] + [len(sound)]
    for broken in range(places[0].offset, len(sound), 37):
        data = bytearray(sound)
        data[broken] ^= 0x40
        path.write_bytes(data)
        hit = next(row for row, end in enumerate(ends) if broken < end)
        for row, place in enumerate(places):
            if row == hit:
                with pytest.raises(ArchiveDamaged, match=place.id):
                    await cold.read(TENANT, place)
            else:
                await cold.read(TENANT, place)


async def test_a_missing_file_is_damage_and_another_record_too(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    one, other = await cold.write(TENANT, records(b"one", b"other"))
    swapped = Located(id=one.id, file=one.file, offset=other.offset, sha256=one.sha256)
    with pytest.raises(ArchiveDamaged):
        await cold.read(TENANT, swapped)
    path_of(tmp_path, one).unlink()
    with pytest.raises(ArchiveDamaged):
        await cold.read(TENANT, one)


async def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ecphoria.consolidation.archive_files.os.fsync", full)
    with pytest.raises(ArchiveUnavailable, match="No space left on device"):
        await ColdFiles(tmp_path).write(TENANT, records(b"x"))
    assert list((tmp_path / TENANT).iterdir()) == []


async def test_what_is_wiped_leaves_no_trace(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    made = records(b"first secret", b"second secret", b"third")
    places = await cold.write(TENANT, made)
    path = path_of(tmp_path, places[0])
    size = path.stat().st_size
    await cold.wipe(TENANT, [places[1]])
    left = path.read_bytes()
    assert len(left) == size
    assert made[1].id.encode() not in left
    assert sha256(made[1].content).digest() not in left
    with pytest.raises(ArchiveDamaged):
        await cold.read(TENANT, places[1])
    assert await cold.read(TENANT, places[2]) == b"third"
    await cold.wipe(TENANT, [places[0], places[2]])
    assert not path.exists()
    await cold.wipe(TENANT, places)


async def test_a_damaged_record_is_wiped_whole(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    places = await cold.write(TENANT, records(os.urandom(300), os.urandom(300), b"third"))
    path = path_of(tmp_path, places[1])
    data = bytearray(path.read_bytes())
    data[places[1].offset + 70] ^= 1
    body = bytes(data[places[1].offset + 80 : places[2].offset])
    path.write_bytes(data)
    await cold.wipe(TENANT, [places[1]])
    assert body[:20] not in path.read_bytes()
    assert await cold.read(TENANT, places[2]) == b"third"
    assert [one.id for one in await cold.unreferenced(TENANT, set(), 0.0)] == [
        places[0].id,
        places[2].id,
    ]


async def test_what_nobody_refers_to_is_found_once_it_is_old(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    places = await cold.write(TENANT, records(b"one", b"two"))
    partial = path_of(tmp_path, places[0]).with_suffix(".cold.partial")
    partial.write_bytes(b"half")
    known = {(places[0].file, places[0].offset)}
    assert await cold.unreferenced(TENANT, known, 60.0) == []
    assert partial.exists()
    assert list(await cold.unreferenced(TENANT, known, 0.0)) == [places[1]]
    assert not partial.exists()


async def test_a_file_that_another_process_deletes_meanwhile_is_no_failure(tmp_path: Path) -> None:
    cold = ColdFiles(tmp_path)
    (gone,) = await cold.write(TENANT, records(b"gone"))
    (kept,) = await cold.write(TENANT, records(b"kept"))
    path = path_of(tmp_path, gone)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")  # listed, and not there when it is opened
    assert list(await cold.unreferenced(TENANT, set(), 0.0)) == [kept]
    assert {name async for name, _, _ in cold.parts(TENANT)} == {kept.file}
    await cold.wipe(TENANT, [gone])


async def test_a_tenant_goes_with_its_files(tmp_path: Path) -> None:
    cold, other = ColdFiles(tmp_path), TenantId("b" * 32)
    await cold.write(TENANT, records(b"one", b"two"))
    (kept,) = await cold.write(other, records(b"kept"))
    assert await cold.erase(TENANT) == 2
    assert await cold.erase(TENANT) == 0
    assert not (tmp_path / TENANT).exists()
    assert await cold.read(other, kept) == b"kept"


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6))
async def test_any_bytes_come_back(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    cold = ColdFiles(tmp_path_factory.mktemp("cold"))
    places = await cold.write(TENANT, records(*contents))
    assert [await cold.read(TENANT, place) for place in places] == contents
