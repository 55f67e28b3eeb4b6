"""A copy reads back as it was written, to the bit."""

import math
import resource
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.portability.format import Writer, read_file
from ecphoria.records.upkeep import (
    ArchiveBytes,
    CopiedEdge,
    CopiedNode,
    Manifest,
    Record,
    SectionStart,
    StoredInstant,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SINGLE = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | TEXT
    | st.binary()
    | st.builds(StoredInstant, st.datetimes().map(lambda at: at.isoformat()))
)
PROPERTIES = st.dictionaries(TEXT, SINGLE | st.lists(SINGLE) | st.lists(st.floats()))
RECORDS = st.lists(
    st.builds(
        CopiedNode,
        number=st.integers(0),
        labels=st.lists(TEXT).map(tuple),
        properties=PROPERTIES,
        late=st.booleans(),
    )
    | st.builds(
        CopiedEdge, tail=st.integers(0), head=st.integers(0), type=TEXT, properties=PROPERTIES
    )
    | st.builds(ArchiveBytes, file=TEXT, offset=st.integers(0), content=st.binary())
)
MANIFEST = Manifest(
    kind="store", release="1", migration="m", model="x", dimension=3, made_at="2026-01-01"
)


def exact(value: Any) -> Any:
    """Tell values apart that are equal and not the same: 1 and 1.0, 0.0 and -0.0, NaN."""
    if isinstance(value, float):
        sign = 0.0 if math.isnan(value) else math.copysign(1.0, value)
        return "float", sign, repr(value)
    if isinstance(value, list):
        return [exact(each) for each in value]
    if isinstance(value, CopiedNode | CopiedEdge):
        changed = {name: exact(each) for name, each in value.properties.items()}
        kept = {name: getattr(value, name) for name in type(value).__dataclass_fields__}
        return type(value), kept | {"properties": changed}
    return type(value), value


@given(st.lists(RECORDS, max_size=3))
def test_what_was_written_is_read(sections: list[list[Record]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "copy"
        ends = []
        with Writer(path, MANIFEST) as file:
            for number, records in enumerate(sections):
                file.begin(str(number), "name")
                for record in records:
                    file.add(record)
                ends.append(file.end())
        expected = [
            each
            for number, records in enumerate(sections)
            for each in (SectionStart(tenant=str(number), name="name"), *records, ends[number])
        ]
        read = list(read_file(path))
        assert read[0] == MANIFEST
        assert [exact(each) for each in read[1:]] == [exact(each) for each in expected]
        assert path.stat().st_mode & 0o777 == 0o600


def write_copy(path: Path, nodes: int) -> None:
    with Writer(path, MANIFEST) as file:
        file.begin("t", "name")
        for number in range(nodes):
            stem = token_hex(100)
            file.add(CopiedNode(number=number, labels=("Term",), properties={"stem": stem}))
        file.end()


@pytest.mark.parametrize("nodes", [1, 1_000])
def test_a_full_disk_is_told(tmp_path: Path, nodes: int) -> None:
    """It shows when the file is closed, or at a line before."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(BadFile, match="cannot be written: File too large"):
            write_copy(tmp_path / "copy", nodes)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_what_is_no_copy_is_told_from_one_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    write_copy(path, 9)
    (tmp_path / "cut").write_bytes(path.read_bytes()[:-9])
    (tmp_path / "text").write_text("no copy", encoding="ascii")
    for name, why in (("cut", "damaged or cut off"), ("text", "no copy, or is damaged")):
        with pytest.raises(BadFile, match=why):
            list(read_file(tmp_path / name))


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    with Writer(path, MANIFEST) as file:
        file.begin("t", "name")
        file.add(CopiedNode(number=0, labels=("Episode",), properties={"text": "The kettle."}))
        file.end()
    sound = path.read_bytes()
    content = list(read_file(path))
    refused = 0
    for place in range(len(sound)):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x10]) + sound[place + 1 :])
        try:  # some bits mean nothing: the time in gzip's header, what fills the last byte
            assert list(read_file(path)) == content
        except BadFile:
            refused += 1
    assert refused > 0.95 * len(sound)
