"""The files of a store by kind."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from ecphoria.engine import Engine, EngineSettings
from ecphoria.engine.disk import disk_of
from ecphoria.records.upkeep import Disk

FILES = {
    "databases/neo4j/neostore.nodestore.db": 1,
    "databases/neo4j/neostore.nodestore.db.labels": 2,
    "databases/neo4j/neostore.relationshipstore.db": 4,
    "databases/neo4j/neostore.relationshipgroupstore.db": 8,
    "databases/neo4j/neostore.propertystore.db.strings": 16,
    "databases/neo4j/schema/index/vector-3.0/7/vector-3.0-7/lucene": 32,
    "databases/neo4j/schema/index/fulltext-2.0/8/lucene": 64,
    "databases/neo4j/schema/index/range-1.0/9/index-9": 128,
    "databases/neo4j/neostore.counts.db": 256,
    "databases/system/neostore.nodestore.db": 512,
    "transactions/neo4j/neostore.transaction.db.0": 1024,
}


def test_files_are_summed_by_kind(tmp_path: Path) -> None:
    for name, size in FILES.items():
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(size))
    found = disk_of(tmp_path).bytes
    assert found is not None
    assert asdict(found) == {
        "nodes": 3, "relationships": 12, "properties": 16, "vector_indexes": 32,
        "text_indexes": 64, "other_indexes": 128, "other": 256, "log": 1024,
    }  # fmt: skip


def test_a_store_elsewhere_has_no_files_here() -> None:
    assert disk_of(None) == Disk()


def test_a_folder_that_is_deleted_meanwhile_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "data" / "databases" / "neo4j"
    (database / "schema" / "index" / "gone").mkdir(parents=True)
    (database / "neostore.nodestore.db").write_bytes(b"1")
    scan = os.scandir

    def look(path: Path) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "gone":
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", look)
    found = disk_of(tmp_path).bytes
    assert found is not None
    assert found.nodes == 1
    assert Engine(EngineSettings(home=tmp_path, cache=tmp_path)).status().store_bytes == 1
