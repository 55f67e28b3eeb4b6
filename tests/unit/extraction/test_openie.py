import json
from pathlib import Path

import pytest

from ecphoria.errors import BadFile
from ecphoria.extraction.openie import OpenIEExtractor
from ecphoria.extraction.records import Source, Triple

DOC = {
    "title": "Oak Street",
    "text": "Oak Street is in Riverton.",
    "extracted_entities": ["Oak Street", "Riverton", 7],
    "extracted_triples": [
        ["Oak Street", "is in", "Riverton"],
        ["Oak Street", "is in", "Riverton's"],
        ["Oak Street", "only two"],
        ["Oak Street", "opened on", "5"],
    ],
}


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "openie.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


async def test_names_and_facts_come_from_the_file(tmp_path: Path) -> None:
    extractor = OpenIEExtractor.read(written(tmp_path, {"docs": [DOC, "no document"]}))
    [found] = await extractor.extract(
        [Source(title="Oak Street", body="Oak Street is  in Riverton.")]
    )
    assert [candidate.name for candidate in found.candidates] == ["oak street", "riverton"]
    assert found.triples == (Triple(subject="oak street", predicate="is in", object="riverton"),)
    assert extractor.unusable == 3


async def test_an_item_the_file_lacks_is_extracted_by_rules(tmp_path: Path) -> None:
    extractor = OpenIEExtractor.read(written(tmp_path, {"docs": [DOC]}))
    other = Source(title="Elm Street", body="It meets Oak Street.")
    known = Source(title="Oak Street", body=str(DOC["text"]))
    assert extractor.mismatches([other, known]) == 1
    [found] = await extractor.extract([other])
    assert [candidate.name for candidate in found.candidates] == ["oak street"]
    assert found.triples == ()


@pytest.mark.parametrize("content", [[], {"documents": []}, {"docs": "x"}, 3])
def test_another_kind_of_file_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(BadFile, match="docs"):
        OpenIEExtractor.read(written(tmp_path, content))


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe\x00", b"[" * 200_000])
def test_what_is_no_json_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(raw)
    with pytest.raises(BadFile, match=r"broken\.json"):
        OpenIEExtractor.read(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile):
        OpenIEExtractor.read(tmp_path / "none.json")


def test_lists_of_another_kind_are_counted(tmp_path: Path) -> None:
    doc = DOC | {"extracted_entities": "Riverton", "extracted_triples": None}
    assert OpenIEExtractor.read(written(tmp_path, {"docs": [doc]})).unusable == 1
