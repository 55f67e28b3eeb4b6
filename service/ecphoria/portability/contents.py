"""Check that a copy has only the graphs of its tenants.

The checksums of a copy detect damage; they are no signature, because an author of a file can adapt
them. So everything in a file is checked before any of it is stored: kinds of nodes and edges,
properties and their types, owners, keys, jobs, and names of files.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.neo4j_store.decoding import parsed
from ecphoria.neo4j_store.shapes import (
    EDGES,
    NODES,
    has_type,
    kind_of,
    vector_length,
    wrong_property,
)
from ecphoria.portability.format import read_file
from ecphoria.records.calibration import Calibration
from ecphoria.records.ids import ID_FORM
from ecphoria.records.job import (
    ConsolidationReport,
    GraphSize,
    JobKind,
    JobState,
    StepReport,
    Trigger,
)
from ecphoria.records.tenant import TENANT_NAME, Scope
from ecphoria.records.upkeep import (
    COPY_KINDS,
    ArchiveBytes,
    CopiedEdge,
    CopiedNode,
    Manifest,
    Record,
    SectionEnd,
    SectionStart,
)
from ecphoria.wire.settings import SettingsRequest, TrialRequest

OPERATORS: Final = ""
"""Id in the section of the operators' keys, which belong to no tenant."""
# What gives access is created last, in one transaction, so an interrupted import shows nothing
# (decision 0031).
_LATE_LIMIT: Final = 100_000
"""Largest number of keys and jobs of a tenant, which an import holds in memory."""
_SLOT: Final = re.compile(rf"({ID_FORM}) (\S+) (?:waiting|begun)")


class Unfit(Exception):
    """A record that Ecphoria writes into no copy; the message tells the fault."""


def checked_records(path: Path) -> Iterator[Manifest | Record]:
    """Read a copy, and refuse a record that it must not have.

    Raises:
        BadFile: It is no copy, is damaged, or holds more than its tenants' graphs.
    """
    contents: Contents | None = None
    for number, record in enumerate(read_file(path), start=1):
        try:
            if isinstance(record, Manifest):
                contents = Contents(record)
            else:
                assert contents is not None
                contents.add(record)
        except Unfit as unfit:
            raise BadFile(
                f"{path} cannot be used: line {number:,} has {unfit}. Ecphoria writes no such"
                " line, so the file was changed; nothing of it was stored.",
                line=number,
            ) from None
        yield record
    if contents is not None and contents.manifest.kind == "tenant" and contents.sections != 1:
        raise BadFile(f"{path} says that it is the copy of one tenant, and holds none.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file that was read to its end.

    Attributes:
        manifest: Its first line.
        sections: The tenants in it.
        records: Lines between the first and the last.
        sha256: Of the file.
    """

    manifest: Manifest
    sections: tuple[SectionStart, ...]
    records: int
    sha256: str


def check_file(path: Path) -> Checked:
    """Read a copy to its end, and check all records.

    Raises:
        BadFile: It cannot be used; the message says why.
    """
    found: Manifest | None = None
    sections: list[SectionStart] = []
    records = 0
    for record in checked_records(path):
        if isinstance(record, Manifest):
            found = record
            continue
        records += 1
        if isinstance(record, SectionStart):
            sections.append(record)
    assert found is not None
    with path.open("rb") as file:
        digest = file_digest(file, "sha256")
    return Checked(
        manifest=found, sections=tuple(sections), records=records, sha256=digest.hexdigest()
    )


class Contents:
    """Follows the records of a copy in their order, and refuses the first that does not fit."""

    def __init__(self, manifest: Manifest) -> None:
        """Begin a copy; Unfit if the first line is wrong."""
        texts = (manifest.release, manifest.migration, manifest.model, manifest.made_at)
        if manifest.kind not in COPY_KINDS or not all(isinstance(t, str) for t in texts):
            raise Unfit("an unknown kind of copy")
        if type(manifest.dimension) is not int or not 0 < manifest.dimension <= 4_096:
            raise Unfit("a dimension of vectors that no store has")
        self.manifest = manifest
        self.sections = 0
        self._tenants: set[str] = set()
        self._section: _Known | None = None

    def add(self, record: Record) -> None:
        """Check the next record; Unfit if no copy of ours has such a record."""
        if isinstance(record, SectionStart):
            self._begin(record)
            return
        assert self._section is not None, "the format has sections"
        self._section.add(record)

    def _begin(self, start: SectionStart) -> None:
        if self.manifest.kind == "tenant" and self.sections:
            raise Unfit("a second tenant in the copy of one")
        if start.tenant == OPERATORS:
            if self.manifest.kind != "store":
                raise Unfit("operators' keys in the copy of one tenant")
        elif not has_type("id", start.tenant):
            raise Unfit("a tenant's id that is not 32 hex digits")
        if not isinstance(start.name, str):
            raise Unfit("a tenant's name that is no text")
        for taken in (start.tenant, f"name {start.name}"):
            if taken in self._tenants:
                raise Unfit("a tenant for the second time")
            self._tenants.add(taken)
        self.sections += 1
        self._section = _Known(start, self.manifest.dimension)


class _Known:
    """What a section has named so far: the kinds of its nodes, unique values, sizes of files."""

    def __init__(self, start: SectionStart, dimension: int) -> None:
        self._start = start
        self._dimension = dimension
        self._kinds: list[str] = []
        self._seen: set[bytes] = set()
        self._late = 0
        self._tenants = 0
        self._files: dict[str, int] = {}
        self._stage = 0

    def add(self, record: Record) -> None:
        match record:
            case CopiedNode():
                self._follow(0)
                self._node(record)
            case CopiedEdge():
                self._follow(1)
                self._edge(record)
            case ArchiveBytes():
                self._follow(2)
                self._archive(record)
            case SectionEnd():
                if self._start.tenant != OPERATORS and not self._tenants:
                    raise Unfit("the end of a tenant without its own node")

    def _follow(self, stage: int) -> None:
        if stage < self._stage:
            raise Unfit("a record out of its order")
        self._stage = stage

    def _node(self, node: CopiedNode) -> None:
        labels = node.labels
        kind_name = kind_of(frozenset(filter(_is_str, labels)))
        if kind_name is None or not all(map(_is_str, labels)) or len(set(labels)) < len(labels):
            raise Unfit(f"a node with the labels {_shown(labels)}")
        if type(node.number) is not int or node.number != len(self._kinds):
            raise Unfit("a node with another number than its place")
        kind = NODES[kind_name]
        self._fits(kind.properties, node.properties, kind_name)
        if missing := sorted(kind.needed - node.properties.keys()):
            raise Unfit(f"a node `{kind_name}` without `{missing[0]}`")
        if node.late is not kind.late:
            raise Unfit(f"a node `{kind_name}` that comes at the wrong time")
        self._owned(kind_name, node.properties)
        for name in kind.unique:
            self._once(kind_name, name, node.properties[name])
        if kind_name == "Name" and "id" in node.properties:  # it is a concept
            self._once(kind_name, "id", node.properties["id"])
        if kind.key:
            self._once(kind_name, *(node.properties[name] for name in kind.key))
        if kind.late:
            self._late += 1
            if self._late > _LATE_LIMIT:
                raise Unfit(f"more than {_LATE_LIMIT:,} keys and jobs")
            _check_access(kind_name, node.properties)
        self._kinds.append(kind_name)

    def _owned(self, kind: str, properties: Mapping[str, Any]) -> None:
        owner = self._start.tenant
        if owner == OPERATORS and kind != "ApiKey":
            raise Unfit(f"a node `{kind}` among the operators' keys")
        if kind == "Tenant":
            self._tenants += 1
            if self._tenants > 1:
                raise Unfit("a second node `Tenant`")
            if (properties["id"], properties["name"]) != (owner, self._start.name):
                raise Unfit("a node `Tenant` with another id or name than its section")
            if not re.fullmatch(TENANT_NAME, self._start.name):
                raise Unfit("a name that no tenant may have")
        elif properties["tenant"] != owner:
            raise Unfit(f"a node `{kind}` of another tenant")

    def _once(self, kind: str, *values: object) -> None:
        told = "\x1f".join((kind, *map(repr, values)))
        digest = blake2b(told.encode(errors="surrogatepass"), digest_size=16).digest()
        if digest in self._seen:
            raise Unfit(f"a node `{kind}` for the second time")
        self._seen.add(digest)

    def _edge(self, edge: CopiedEdge) -> None:
        kind = EDGES.get(edge.type) if isinstance(edge.type, str) else None
        if kind is None:
            raise Unfit(f"an edge of the type {str(edge.type)[:60]!r}")
        ends = []
        for end in (edge.tail, edge.head):
            if type(end) is not int or not 0 <= end < len(self._kinds):
                raise Unfit("an edge to a node that is not in this section")
            ends.append(self._kinds[end])
        if ends[0] not in kind.tails or ends[1] not in kind.heads:
            raise Unfit(f"an edge `{edge.type}` from `{ends[0]}` to `{ends[1]}`")
        self._fits(kind.properties, edge.properties, edge.type)

    def _fits(self, known: Mapping[str, str], properties: object, kind: str) -> None:
        if not isinstance(properties, Mapping):
            raise Unfit(f"a `{kind}` without properties")
        if self._start.tenant == OPERATORS and properties.get("tenant") == OPERATORS:
            known = {**known, "tenant": "text"}
        if wrong := wrong_property(known, properties):
            raise Unfit(f"a `{kind}` with {wrong}")
        for name, value in properties.items():
            if known[name] == "vector" and vector_length(value) != self._dimension:
                raise Unfit(f"a `{kind}` with a vector of another length than the copy's")

    def _archive(self, part: ArchiveBytes) -> None:
        if self._start.tenant == OPERATORS:
            raise Unfit("an archive among the operators' keys")
        if not has_type("cold file", part.file):
            raise Unfit("a file that has not the name of an archived file")
        goes_on = part.file == next(reversed(self._files), None)
        at = self._files.get(part.file, 0)
        if type(part.offset) is not int or part.offset != at or (at and not goes_on):
            raise Unfit("a part of an archived file out of its order")
        self._files[part.file] = part.offset + len(part.content)


def _check_access(kind: str, properties: Mapping[str, Any]) -> None:
    """Check records that a service reads for all tenants, so that one tenant cannot stop others.

    Raises:
        Unfit: The service could not read it.
    """
    try:
        if kind == "ApiKey":
            _ = [Scope(name) for name in properties["scopes"]]
        elif kind == "Job":
            _check_job(properties)
        else:
            _check_settings(properties)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Unfit(f"a node `{kind}` that Ecphoria cannot read") from error


def _check_job(properties: Mapping[str, Any]) -> None:
    kind = JobKind(properties["kind"])
    JobState(properties["state"])
    Trigger(properties["trigger"])
    for text in properties.get("ended", ()):
        parsed(StepReport, text)
    if "before" in properties:
        parsed(GraphSize, properties["before"])
    if "report" in properties:
        is_cycle = kind is not JobKind.CALIBRATION
        parsed(ConsolidationReport if is_cycle else Calibration, properties["report"])
    slot = properties.get("slot")
    if slot is not None:
        found = _SLOT.fullmatch(slot)
        if found is None or found.groups() != (properties["tenant"], kind.value):
            raise ValueError


def _check_settings(properties: Mapping[str, Any]) -> None:
    kept = {
        name: json.loads(properties[name])
        for name in ("settings", "extraction", "classes")
        if name in properties
    }
    if not all(isinstance(values, dict) for values in kept.values()):
        raise TypeError
    settings = kept.get("settings", {})
    for choice in settings.pop("promoted", ()):
        TrialRequest.model_validate(choice)
    SettingsRequest.model_validate(settings)


def _is_str(value: object) -> bool:
    return isinstance(value, str)


def _shown(labels: tuple[object, ...]) -> str:
    return ", ".join(f"{str(label)[:40]!r}" for label in islice(labels, 4)) or "none"
