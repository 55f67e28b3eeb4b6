"""Sizes of the files of a store."""

from pathlib import Path
from typing import Final

from ecphoria.engine.home import files_of
from ecphoria.records.upkeep import Disk, DiskBytes

# By the start of a file's path inside the database's folder; the first that fits counts.
_KINDS: Final = {
    "neostore.nodestore": "nodes",
    "neostore.relationshipstore": "relationships",
    "neostore.relationshipgroupstore": "relationships",
    "neostore.propertystore": "properties",
    "schema/index/vector": "vector_indexes",
    "schema/index/fulltext": "text_indexes",
    "schema/index": "other_indexes",
}


def disk_of(home: Path | None) -> Disk:
    """Sum the files of the Neo4j in `home` by kind; None for one that runs elsewhere.

    A running Neo4j writes its pages only now and then, so new memories count some minutes later.
    """
    if home is None:
        return Disk()
    data = home / "data"
    sizes = dict.fromkeys(DiskBytes.__dataclass_fields__, 0)
    for path, size in files_of(data / "databases" / "neo4j"):
        kind = (kind for start, kind in _KINDS.items() if path.startswith(start))
        sizes[next(kind, "other")] += size
    sizes["log"] = sum(size for _, size in files_of(data / "transactions" / "neo4j"))
    return Disk(bytes=DiskBytes(**sizes))
