"""A small sound copy of a tenant, and copies that somebody has edited.

The checksums of an edited copy fit again: they are no signature.
"""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

Lines = list[dict[str, Any]]
"""A copy, a record each."""

TENANT = "a" * 32
INSTANT = {"instant": "2026-03-01T09:30:00.000000000+00:00"}


def read(path: Path) -> Lines:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def write(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records with counts and checksums that fit them."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        digest, nodes, edges, size, sections = sha256(), 0, 0, 0, 0
        for record in records:
            ((kind, content),) = record.items()
            if kind == "tenant":
                digest, nodes, edges, size = sha256(), 0, 0, 0
            if kind == "end":
                sections += 1
                content = {
                    "nodes": nodes, "edges": edges, "bytes": size, "sha256": digest.hexdigest()
                }  # fmt: skip
            if kind == "done":
                content = {"sections": sections}
            line = json.dumps({kind: content}).encode() + b"\n"
            digest.update(line)
            nodes += kind == "node"
            edges += kind == "edge"
            size += len(base64.b64decode(content["content"])) if kind == "archive" else 0
            file.write(line)


def ident(number: int) -> str:
    return f"{number:032x}"


def small() -> Lines:
    """A tenant with a node of several kinds, three edges, and a file of the archive."""
    own = {"tenant": TENANT}
    nodes: list[tuple[list[str], dict[str, Any]]] = [
        (
            ["Episode", "LiveEpisode"],
            own | {
                "id": ident(1), "turn": 1, "session": "", "speaker": "", "occurred_at": INSTANT,
                "recorded_at": INSTANT, "importance": 0.5, "text": "The kettle.",
                "metadata": "{}", "embedding": [1.0, 0.0],
            },
        ),
        (["Name", "Concept", "LiveConcept"], own | {"id": ident(2), "normalised": "kettle"}),
        (["Term"], own | {"stem": "kettl", "items": 1}),
        (
            ["Item"],
            own | {
                "path": "a\x1f", "key": "k", "namespace": ["a"], "value": "{}",
                "created_at": INSTANT, "updated_at": INSTANT,
            },
        ),
        (
            ["Tenant"],
            {
                "id": TENANT, "name": "acme", "created_at": INSTANT, "turn": 1, "change": 1,
                "items": 1, "titles": 0,
            },
        ),
        (
            ["ApiKey"],
            own | {
                "id": ident(3), "hash": "b" * 64, "name": "laptop", "prefix": "ek_1234",
                "scopes": ["read"], "created_at": INSTANT,
            },
        ),
        (
            ["Job"],
            own | {
                "id": ident(4), "kind": "consolidation", "state": "queued", "trigger": "request",
                "steps": [], "token": 0, "attempts": 0, "recorded_at": INSTANT,
                "run_after": INSTANT, "slot": f"{TENANT} consolidation waiting",
            },
        ),
    ]  # fmt: skip
    manifest = {
        "kind": "tenant", "release": "1", "migration": "m", "model": "x", "dimension": 2,
        "made_at": "2026-01-01", "format": 2,
    }  # fmt: skip
    late = {"Tenant", "ApiKey", "Job"}
    edge = {"family": "provenance", "weight": 1.0, "created_at": INSTANT}
    return [
        {"ecphoria": manifest},
        {"tenant": {"tenant": TENANT, "name": "acme"}},
        *(
            {
                "node": {
                    "number": number, "labels": labels, "properties": properties,
                    "late": bool(late & set(labels)),
                }
            }
            for number, (labels, properties) in enumerate(nodes)
        ),
        {"edge": {"tail": 0, "head": 1, "type": "MENTIONS", "properties": edge}},
        {"edge": {"tail": 1, "head": 0, "type": "ABOUT", "properties": edge}},
        {"archive": {"file": f"{ident(5)}.cold", "offset": 0, "content": "YWJj"}},
        {"end": {}},
        {"done": {}},
    ]  # fmt: skip


PATHS = (
    "../../victim", "..", "/etc", "a/b", "", "x" * 32, "A" * 32, "a" * 31, "a" * 32 + "\n",
    "a" * 33, "../" + "a" * 32, "a" * 31 + "/", ".", "~", "a" * 32 + "\x00", 7, None, ["a"],
)  # fmt: skip
"""Values that are no id of ours."""

DANGEROUS = (
    "import_of", "import_number", "erasing", "held_at", "generation", "checksum", "embedding_1",
    "ids", "a`b", "", "labels",
)  # fmt: skip
"""Names of properties that a tenant's graph does not have."""


def edited(sound: Lines, other: str) -> Iterator[tuple[str, Lines]]:
    """Make every edit of one record that names something it may not; each with its name.

    Args:
        sound: A sound copy.
        other: The id of another tenant.
    """
    for place, record in enumerate(sound):
        ((kind, content),) = record.items()
        for told, changed in _edits(kind, content, other):
            lines = deepcopy(sound)
            lines[place] = {kind: changed}
            yield f"{kind} at {place}: {told}", lines
    yield from _added(sound, other)


def _edits(kind: str, content: dict[str, Any], other: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if kind == "ecphoria":
        yield "kind", content | {"kind": "everything"}
    elif kind == "tenant":
        for path in (*PATHS, other):
            yield f"id {path!r}", content | {"tenant": path}
    elif kind == "node":
        yield from _edits_of_node(content, other)
        yield from _edits_of_values(content)
        yield from _edits_of_access(content, other)
    elif kind == "edge":
        yield from _edits_of_edge(content, other)
    elif kind == "archive":
        yield from _edits_of_archive(content)


def _edits_of_edge(content: dict[str, Any], other: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("Import", "A_TYPE", content["type"].lower(), "", "A`B", 5):
        yield f"type {name!r}", content | {"type": name}
    for end in ("tail", "head"):
        for number in (-1, 10**6, 1.5, True, "0", None):
            yield f"{end} {number!r}", content | {end: number}
    yield "tenant", _with(content, "tenant", other)
    yield "weight", _with(content, "weight", "heavy")


def _edits_of_archive(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in PATHS:
        if path is not None:
            yield f"file {path!r}", content | {"file": path}
            yield f"file {path!r}.cold", content | {"file": f"{path}.cold"}
    for offset in (-1, 1, 2**60, 0.5):
        yield f"offset {offset}", content | {"offset": offset}


def _edits_of_node(content: dict[str, Any], other: str) -> Iterator[tuple[str, dict[str, Any]]]:
    properties, labels = content["properties"], content["labels"]
    for changed in (
        [], ["Store"], ["SchemaMigration"], ["Import"], ["Reembedding"], ["Imported"],
        [*labels, "Imported"], [*labels, "ApiKey"], [*labels, labels[0]], ["Tenant", "ApiKey"],
        ["A`B"], [7], labels[0],
    ):  # fmt: skip
        yield f"labels {changed}", content | {"labels": changed}
    owner = "id" if labels == ["Tenant"] else "tenant"
    for given in (other, "", *PATHS):
        yield f"{owner} {given!r}", _with(content, owner, given)
    for name in DANGEROUS:
        yield f"property {name!r}", _with(content, name, other)
    yield "late", content | {"late": not content["late"]}
    yield "number", content | {"number": content["number"] + 1}
    kept = {name: value for name, value in properties.items() if name != owner}
    yield "without an owner", content | {"properties": kept}


def _edits_of_values(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in content["properties"].items():
        for wrong in ({"bytes": "YWJj"}, {"vector": "AAAA"}, [[1]], None):
            yield f"{name} is {wrong!r}", _with(content, name, wrong)
        if name in {"id", "hash"}:
            for path in PATHS:
                yield f"{name} {path!r}", _with(content, name, path)
        if not isinstance(value, str) and name != "touched":
            yield f"{name} is a text", _with(content, name, "text")


_SETTINGS = (
    '{"schedule": {"every_hours": 1e12}}', '{"x": 1}', "[]", '{"schedule": {"daily_at": "25:00"}}',
    "{", '{"gate": {"weights": {"x": 1}}}', '{"promoted": [{}]}', '{"promoted": 1}',
)  # fmt: skip
"""Settings that would stop the recalls of a tenant, or the scheduler of all."""


def _edits_of_access(content: dict[str, Any], other: str) -> Iterator[tuple[str, dict[str, Any]]]:
    properties = content["properties"]
    if content["labels"] == ["Tenant"]:
        yield "name", _with(content, "name", "somebody")
        for text in _SETTINGS:
            yield f"settings {text}", _with(content, "settings", text)
    if "scopes" in properties:
        for scopes in (["operator"], ["*"], ["read", "root"], "admin"):
            yield f"scopes {scopes}", _with(content, "scopes", scopes)
    if content["labels"] == ["Job"]:
        for name, wrong in (
            ("slot", f"{other} consolidation waiting"), ("kind", "erase"), ("state", "reborn"),
            ("trigger", "magic"), ("report", "{}"), ("before", "[" * 100_000), ("ended", ["{}"]),
        ):  # fmt: skip
            yield f"{name} {str(wrong)[:40]}", _with(content, name, wrong)


def _with(content: dict[str, Any], name: str, value: object) -> dict[str, Any]:
    return content | {"properties": content["properties"] | {name: value}}


def _added(sound: Lines, other: str) -> Iterator[tuple[str, Lines]]:
    """Make copies with a record more."""
    end = next(place for place, record in enumerate(sound) if "end" in record)
    for place, record in enumerate(sound):
        ((kind, content),) = record.items()
        if kind == "node":
            number = sum("node" in each for each in sound)
            last = max(at for at, each in enumerate(sound) if "node" in each)
            again = {"node": deepcopy(content) | {"number": number}}
            yield f"node at {place} twice", [*sound[: last + 1], again, *sound[last + 1 :]]
            yield f"node at {place} behind the edges", [*sound[:end], again, *sound[end:]]
    section = [record for record in sound if record.keys().isdisjoint({"ecphoria", "done"})]
    operators = [{"tenant": {"tenant": "", "name": "operators' keys"}}, {"end": {}}]
    second = deepcopy(section)
    second[0]["tenant"] |= {"tenant": other, "name": "other"}
    for told, more in (("operators", operators), ("second tenant", second), ("again", section)):
        yield told, [*sound[:-1], *more, sound[-1]]
    without = [record for record in sound if "Tenant" not in str(record.get("node"))]
    yield "no own node", without
