"""Services without a common folder keep the archive in one bucket of an object store."""

from collections.abc import Iterator

import boto3  # type: ignore[import-untyped]
import httpx
import pytest

from ecphoria.settings import ArchiveSettings
from tests.acceptance.conftest import (
    CHAT,
    PROBLEM_JSON,
    Owner,
    RunningService,
    new_owner,
    running,
    settings_for,
)
from tests.conftest import Server
from tests.object_store import keys_of, new_bucket, object_store


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with object_store():
        yield new_bucket()


@pytest.fixture(scope="module")
def services(
    neo4j_server: Server, bucket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningService, RunningService]]:
    """Two services of one store, each with a home of its own."""
    archive = ArchiveSettings(url=f"{bucket}/archive")
    one, other = (
        settings_for(neo4j_server, tmp_path_factory.mktemp("home"), archive=archive)
        for _ in range(2)
    )
    with running(one) as first, running(other) as second:
        yield first, second


@pytest.fixture
def operator(services: tuple[RunningService, RunningService]) -> Iterator[httpx.Client]:
    with services[0].operator() as client:
        yield client


@pytest.fixture
def elsewhere(services: tuple[RunningService, RunningService], owner: Owner) -> Iterator[Owner]:
    """The owner of the same tenant, at the other service."""
    with Owner(services[1].url, owner.name, owner.key) as made:
        yield made


def archived(owner: Owner) -> list[str]:
    ids = [owner.remember(text, session="s", position=at) for at, text in enumerate(CHAT)]
    assert owner.post("/v1/dormancy/sleep", json={"ids": ids}).is_success
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": len(ids)}
    return ids


def test_one_service_restores_what_another_has_archived(
    owner: Owner, elsewhere: Owner, bucket: str
) -> None:
    before = owner.texts()
    ids = archived(owner)
    assert len(keys_of(bucket)) == 1
    assert elsewhere.post("/v1/archive/scrub").json() == {
        "records": len(ids), "damaged": [], "unreferenced": 0
    }  # fmt: skip
    told = elsewhere.post("/v1/archive/restore", json={"ids": ids}).json()
    assert (sorted(told["restored"]), told["damaged"]) == (sorted(ids), [])
    assert owner.texts(order="oldest") == [*before, *CHAT]
    assert keys_of(bucket) == []


def test_what_is_erased_is_in_no_object(owner: Owner, elsewhere: Owner, bucket: str) -> None:
    ids = archived(owner)
    (key,) = keys_of(bucket)
    assert elsewhere.delete(f"/v1/episodes/{ids[0]}").status_code == 204
    store = boto3.client("s3")
    content = store.get_object(Bucket=bucket.removeprefix("s3://"), Key=key)["Body"].read()
    assert [one for one in ids if one.encode() in content] == ids[1:]


def test_a_tenant_leaves_no_object(operator: httpx.Client, bucket: str) -> None:
    with new_owner(operator) as owner:
        archived(owner)
        assert len(keys_of(bucket)) == 1
    assert keys_of(bucket) == []


def test_a_bucket_that_is_gone_is_told_and_loses_nothing(owner: Owner, bucket: str) -> None:
    ids = archived(owner)
    store, name = boto3.client("s3"), bucket.removeprefix("s3://")
    (key,) = keys_of(bucket)
    content = store.get_object(Bucket=name, Key=key)["Body"].read()
    store.delete_object(Bucket=name, Key=key)
    store.delete_bucket(Bucket=name)
    refused = owner.post("/v1/archive/restore", json={"ids": ids})
    store.create_bucket(Bucket=name)
    store.put_object(Bucket=name, Key=key, Body=content)
    assert (refused.status_code, refused.headers["content-type"]) == (503, PROBLEM_JSON)
    assert "bucket" in refused.json()["detail"]
    assert owner.post("/v1/archive/restore", json={"ids": ids}).json()["damaged"] == []
