"""The archive's files: whole, or not there; damage stays where it is; wiped is gone."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecphoria.background import archive_files
from ecphoria.consolidation.archive_bucket import Bucket
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles, Storage
from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, InvalidInput, Misconfigured
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.upkeep import ColdRecord, Located
from ecphoria.settings import ArchiveSettings, Settings
from tests.object_store import keys_of, new_bucket, object_store

TENANT = TenantId("a" * 32)


@pytest.fixture(scope="module")
def store() -> Iterator[None]:
    with object_store():
        yield


@pytest.fixture
def bucket(store: None) -> str:
    return new_bucket()


@pytest.fixture(params=["disk", "bucket"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "disk":
        return Disk(tmp_path)
    return Bucket(f"{request.getfixturevalue('bucket')}/ecphoria/archive")


def records(*contents: bytes) -> list[ColdRecord]:
    return [ColdRecord(id=EpisodeId(fresh_id()), content=content) for content in contents]


async def test_what_is_written_is_read(storage: Storage) -> None:
    cold = ColdFiles(storage)
    contents = [b"", b"text\n\x00\xff", b"REC1" * 500]
    places = await cold.write(TENANT, records(*contents))
    assert [await cold.read(TENANT, place) for place in places] == contents
    assert [place.sha256 for place in places] == [sha256(one).hexdigest() for one in contents]
    assert len({place.file for place in places}) == 1
    assert storage.files(TENANT) == [places[0].file]


async def test_only_this_user_reads_the_archive(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    (place,) = await ColdFiles(Disk(folder)).write(TENANT, records(b"x"))
    for path in (folder, folder / TENANT, folder / TENANT / place.file):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_a_copied_file_is_the_same(storage: Storage, tmp_path: Path) -> None:
    there, here = ColdFiles(Disk(tmp_path / "there")), ColdFiles(storage)
    places = await there.write(TENANT, records(os.urandom(6_000_000), b"x"))
    parts = [part async for part in there.parts(TENANT)]
    assert len(parts) > 1
    for _ in range(2):  # the same again changes nothing
        await here.put(TENANT, places[0].file, b"".join(content for _, _, content in parts))
    for place in places:
        assert await here.read(TENANT, place) == await there.read(TENANT, place)
    for name in ("../x.cold", "x.cold", "a" * 32):
        with pytest.raises(InvalidInput, match="none of an archive"):
            await here.put(TENANT, name, b"x")


async def test_damage_stays_where_it_is(storage: Storage) -> None:
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(*(os.urandom(200) for _ in range(5))))
    file = places[0].file
    sound = storage.read(TENANT, file)
    ends = [place.offset for place in places[1:]] + [len(sound)]
    for broken in range(places[0].offset, len(sound), 37):
        data = bytearray(sound)
        data[broken] ^= 0x40
        storage.create(TENANT, file, bytes(data))
        hit = next(row for row, end in enumerate(ends) if broken < end)
        for row, place in enumerate(places):
            if row == hit:
                with pytest.raises(ArchiveDamaged, match=place.id):
                    await cold.read(TENANT, place)
            else:
                await cold.read(TENANT, place)


async def test_a_missing_file_is_damage_and_another_record_too(storage: Storage) -> None:
    cold = ColdFiles(storage)
    one, other = await cold.write(TENANT, records(b"one", b"other"))
    await cold.write(TENANT, records(b"third"))
    swapped = Located(id=one.id, file=one.file, offset=other.offset, sha256=one.sha256)
    beyond = Located(id=one.id, file=one.file, offset=10_000, sha256=one.sha256)
    for place in (swapped, beyond):
        with pytest.raises(ArchiveDamaged):
            await cold.read(TENANT, place)
    storage.delete(TENANT, one.file)
    with pytest.raises(ArchiveDamaged):
        await cold.read(TENANT, one)


async def test_records_are_read_together(storage: Storage) -> None:
    cold, contents = ColdFiles(storage), [os.urandom(100), os.urandom(200_000), b"third"]
    places = await cold.write(TENANT, records(*contents))
    (alone,) = await cold.write(TENANT, records(b"alone"))
    (lost,) = await cold.write(TENANT, records(b"lost"))
    storage.delete(TENANT, lost.file)
    storage.change(TENANT, places[2].file, lambda _: {places[2].offset + 80: b"?"})
    sound, damaged = await cold.sound(TENANT, [alone, *places, lost])
    assert [one.content for one in sound] == [b"alone", *contents[:2]]
    assert damaged == [places[2].id, lost.id]


async def test_a_tenant_whose_files_are_elsewhere_is_no_damage(storage: Storage) -> None:
    elsewhere = Located(id=EpisodeId(fresh_id()), file="b" * 32 + ".cold", offset=10, sha256="")
    with pytest.raises(ArchiveUnavailable, match="need the same archive"):
        await ColdFiles(storage).read(TENANT, elsewhere)


async def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ecphoria.consolidation.archive_disk.os.fsync", full)
    with pytest.raises(ArchiveUnavailable, match="No space left on device"):
        await ColdFiles(Disk(tmp_path)).write(TENANT, records(b"x"))
    assert list((tmp_path / TENANT).iterdir()) == []


async def test_what_is_wiped_leaves_no_trace(storage: Storage) -> None:
    cold = ColdFiles(storage)
    made = records(b"first secret", b"second secret", b"third")
    places = await cold.write(TENANT, made)
    file = places[0].file
    size = len(storage.read(TENANT, file))
    await cold.wipe(TENANT, [places[1]])
    left = storage.read(TENANT, file)
    assert len(left) == size
    assert made[1].id.encode() not in left
    assert sha256(made[1].content).digest() not in left
    with pytest.raises(ArchiveDamaged):
        await cold.read(TENANT, places[1])
    assert await cold.read(TENANT, places[2]) == b"third"
    await cold.wipe(TENANT, [places[0], places[2]])
    assert not storage.files(TENANT)
    await cold.wipe(TENANT, places)


async def test_services_that_wipe_one_file_at_once_wipe_all_of_it(storage: Storage) -> None:
    """A file of a bucket can only be replaced: none may bring back what another has wiped."""
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(*(os.urandom(100) for _ in range(9))))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda place: cold._wipe(TENANT, [place]), places[:8]))
    assert [one.id for one in await cold.unreferenced(TENANT, set(), 0.0)] == [places[8].id]


async def test_a_damaged_record_is_wiped_whole(storage: Storage) -> None:
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(os.urandom(300), os.urandom(300), b"third"))
    file = places[1].file
    data = bytearray(storage.read(TENANT, file))
    data[places[1].offset + 70] ^= 1
    body = bytes(data[places[1].offset + 80 : places[2].offset])
    storage.create(TENANT, file, bytes(data))
    await cold.wipe(TENANT, [places[1]])
    assert body[:20] not in storage.read(TENANT, file)
    assert await cold.read(TENANT, places[2]) == b"third"
    assert [one.id for one in await cold.unreferenced(TENANT, set(), 0.0)] == [
        places[0].id,
        places[2].id,
    ]


async def test_a_file_with_a_damaged_header_stays_until_its_memory_is_deleted(
    storage: Storage,
) -> None:
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(b"first", b"damaged", b"third"))
    file, damaged = places[0].file, places[1]
    storage.change(TENANT, file, lambda data: {damaged.offset: bytes([data[damaged.offset] ^ 1])})
    await cold.wipe(TENANT, [places[0], places[2]])
    assert storage.files(TENANT) == [file]
    await cold.wipe(TENANT, [damaged])
    assert not storage.files(TENANT)


async def test_what_nobody_refers_to_is_found_once_it_is_old(storage: Storage) -> None:
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(b"one", b"two"))
    known = {(places[0].file, places[0].offset)}
    assert await cold.unreferenced(TENANT, known, 60.0) == []
    assert list(await cold.unreferenced(TENANT, known, 0.0)) == [places[1]]


async def test_a_file_that_was_never_completed_goes_once_it_is_old(tmp_path: Path) -> None:
    cold = ColdFiles(Disk(tmp_path))
    partial = tmp_path / TENANT / f"{fresh_id()}.cold.partial"
    partial.parent.mkdir()
    partial.write_bytes(b"half")
    await cold.unreferenced(TENANT, set(), 60.0)
    assert [part async for part in cold.parts(TENANT)] == []
    assert partial.exists()
    await cold.unreferenced(TENANT, set(), 0.0)
    assert not partial.exists()


async def test_a_file_that_another_process_deletes_meanwhile_is_no_failure(tmp_path: Path) -> None:
    cold = ColdFiles(Disk(tmp_path))
    (gone,) = await cold.write(TENANT, records(b"gone"))
    (kept,) = await cold.write(TENANT, records(b"kept"))
    path = tmp_path / TENANT / gone.file
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")  # listed, and not there when it is opened
    assert list(await cold.unreferenced(TENANT, set(), 0.0)) == [kept]
    assert {name async for name, _, _ in cold.parts(TENANT)} == {kept.file}
    await cold.wipe(TENANT, [gone])


async def test_a_tenant_goes_with_its_files(storage: Storage) -> None:
    cold, other = ColdFiles(storage), TenantId("b" * 32)
    await cold.write(TENANT, records(b"one", b"two"))
    (kept,) = await cold.write(other, records(b"kept"))
    assert await cold.erase(TENANT) == 2
    assert await cold.erase(TENANT) == 0
    assert not storage.knows(TENANT)
    assert await cold.read(other, kept) == b"kept"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6))
async def test_any_bytes_come_back(storage: Storage, contents: list[bytes]) -> None:
    cold = ColdFiles(storage)
    places = await cold.write(TENANT, records(*contents))
    assert [await cold.read(TENANT, place) for place in places] == contents


async def test_a_record_of_many_bytes_comes_back(storage: Storage) -> None:
    cold, content = ColdFiles(storage), os.urandom(300_000)
    places = await cold.write(TENANT, records(b"before", content, b"after"))
    assert await cold.read(TENANT, places[1]) == content


@pytest.mark.parametrize(
    ("url", "why"), [("s3://none-of-this-name/archive", "(?i:not found)"), ("s3://refused", "")]
)
async def test_a_bucket_that_cannot_be_used_is_an_error(
    bucket: str, monkeypatch: pytest.MonkeyPatch, url: str, why: str
) -> None:
    if url == "s3://refused":  # nobody listens there
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    cold = ColdFiles(Bucket(url))
    place = Located(id=EpisodeId(fresh_id()), file="b" * 32 + ".cold", offset=10, sha256="")
    told = f"The archive in {url} cannot be used: .*{why}.*ECPHORIA_ARCHIVE__URL"
    for call in (
        cold.write(TENANT, records(b"x")),
        cold.read(TENANT, place),
        cold.wipe(TENANT, [place]),
        cold.put(TENANT, place.file, b"x"),
        cold.erase(TENANT),
    ):
        with pytest.raises(ArchiveUnavailable, match=told):
            await call


async def test_settings_choose_the_storage(bucket: str, tmp_path: Path) -> None:
    of_bucket = Settings(home=tmp_path, archive=ArchiveSettings(url=f"{bucket}/here"))
    (place,) = await archive_files(of_bucket).write(TENANT, records(b"x"))
    assert keys_of(bucket) == [f"here/{TENANT}/{place.file}"]
    (place,) = await archive_files(Settings(home=tmp_path)).write(TENANT, records(b"x"))
    assert (tmp_path / "archive" / TENANT / place.file).exists()
    with pytest.raises(ValueError, match="not both"):
        Settings(archive=ArchiveSettings(url=bucket, dir=tmp_path))
    for wrong in ("/archive", "http://bucket", "s3://", "s3://bucket/path?token=x"):
        with pytest.raises(ValueError, match="url"):
            ArchiveSettings(url=wrong)
    with pytest.raises(Misconfigured, match="cannot be in s3://a b"):
        Bucket("s3://a b")
