"""A copy that somebody has edited is refused at its line, whatever the edit."""

import gzip
import json
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.portability.contents import check_file
from ecphoria.portability.format import LINE_LIMIT, read_file
from tests.unit.portability.copied import edited, ident, small, write

OTHER = "c" * 32


def refusal(file: Path) -> BadFile | None:
    try:
        check_file(file)
    except BadFile as refused:
        return refused
    return None


def test_the_sound_copy_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "copy", small())
    checked = check_file(tmp_path / "copy")
    assert [start.name for start in checked.sections] == ["acme"]
    assert checked.records == len(small()) - 2


def test_every_edit_is_refused_at_its_line(tmp_path: Path) -> None:
    file, tried = tmp_path / "copy", 0
    for told, lines in edited(small(), OTHER):
        write(file, lines)
        refused = refusal(file)
        assert refused is not None, told
        assert "line" in str(refused), told
        assert refused.fields["line"] in range(1, len(lines) + 1), told
        tried += 1
    assert tried > 400


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(tmp_path: Path, value: float) -> None:
    lines = small()
    edge = next(record["edge"] for record in lines if "weight" in str(record.get("edge")))
    edge["properties"]["weight"] = value
    write(tmp_path / "copy", lines)
    with pytest.raises(BadFile, match="weight"):
        check_file(tmp_path / "copy")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.integers(1, len(small()) - 3),
    st.sampled_from(
        [
            "number",
            "labels",
            "properties",
            "late",
            "tail",
            "head",
            "type",
            "tenant",
            "name",
            "file",
            "offset",
        ]
    ),
)
def test_no_value_in_any_place_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, value: object, place: int, field: str
) -> None:
    lines = small()
    ((kind, content),) = lines[place].items()
    lines[place] = {kind: content | {field: value}}
    file = tmp_path_factory.getbasetemp() / "generated"
    write(file, lines)
    refused = refusal(file)
    assert refused is None or "line" in str(refused)


@pytest.mark.parametrize("kind", [[], {}, None, 1, "all"])
def test_a_kind_that_is_no_text_is_refused(tmp_path: Path, kind: object) -> None:
    lines = small()
    lines[0]["ecphoria"]["kind"] = kind
    write(tmp_path / "copy", lines)
    with pytest.raises(BadFile, match="line 1 has an unknown kind of copy"):
        check_file(tmp_path / "copy")


@pytest.mark.parametrize("depth", [500, 2_000, 100_000, 1_000_000])
@pytest.mark.parametrize("place", [0, 1, 2, 9, 11])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_json_is_damage(tmp_path: Path, depth: int, place: int, opening: str) -> None:
    file, lines = tmp_path / "copy", [json.dumps(record) for record in small()]
    inner = opening * depth + "1" + {"[": "]", '{"a":': "}"}[opening] * depth
    lines[place] = '{"node":{"number":0,"labels":["Term"],"properties":{"x":' + inner + "}}}"
    with gzip.open(file, "wt") as out:
        out.write("\n".join(lines) + "\n")
    with pytest.raises(BadFile, match=f"damaged at line {place + 1}|is no copy"):
        list(read_file(file))


def test_a_longer_line_than_any_is_refused_without_being_held(tmp_path: Path) -> None:
    file, lines = tmp_path / "copy", small()
    with gzip.open(file, "wb", compresslevel=1) as out:
        for record in lines[:2]:
            out.write(json.dumps(record).encode() + b"\n")
        for _ in range(30):
            out.write(b" " * (LINE_LIMIT // 4))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadFile, match=r"Line 3 .* longer"):
        check_file(file)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1_024 < 4 * LINE_LIMIT


def test_files_of_an_archive_that_are_mixed_are_refused(tmp_path: Path) -> None:
    lines = small()
    at = next(number for number, line in enumerate(lines) if "archive" in line)
    parts = [(5, 0), (6, 0), (5, 3)]
    lines[at : at + 1] = [
        {"archive": {"file": f"{ident(file)}.cold", "offset": offset, "content": "YWJj"}}
        for file, offset in parts
    ]
    write(tmp_path / "copy", lines)
    with pytest.raises(BadFile, match=f"line {at + 3} has a part of an archived file out of"):
        check_file(tmp_path / "copy")


def test_ids_of_a_section_are_checked_when_it_begins(tmp_path: Path) -> None:
    """Before the archive is asked for anything of this name."""
    lines = small()
    lines[1] = {"tenant": {"tenant": f"../{ident(1)}", "name": "acme"}}
    write(tmp_path / "copy", lines)
    with pytest.raises(BadFile, match="line 2 has a tenant's id that is not 32 hex digits"):
        check_file(tmp_path / "copy")
