import json
from pathlib import Path

import pytest

from ecphoria.errors import BadFile
from ecphoria.records.episode import Extracted, Statement
from ecphoria_eval.datasets.passages import OpenIECache

DOC = {
    "title": "Oak Street",
    "text": "Oak Street is in Riverton.",
    "extracted_entities": ["Oak Street", "Riverton", 7, "  ", "x" * 257, "bad\x00mark"],
    "extracted_triples": [
        ["Oak Street", "is in", "Riverton"],
        ["Oak Street", "is in"],
        ["Oak Street", "opened on", 5],
        ["Oak Street", "", "Riverton"],
        "no triple",
    ],
}


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "openie.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_names_and_facts_come_from_the_file(tmp_path: Path) -> None:
    cache = OpenIECache.read(written(tmp_path, {"docs": [DOC, "no document"]}))
    found = cache.find("Oak Street", "Oak Street is  in Riverton.")
    assert found == Extracted(
        names=("Oak Street", "Riverton"),
        facts=(Statement(subject="Oak Street", predicate="is in", object="Riverton"),),
    )
    assert cache.unusable == 9


def test_nothing_is_known_of_an_item_the_file_lacks(tmp_path: Path) -> None:
    cache = OpenIECache.read(written(tmp_path, {"docs": [DOC]}))
    assert cache.find("Elm Street", "It meets Oak Street.") is None


def test_a_passage_may_stand_in_one_piece(tmp_path: Path) -> None:
    doc = {"passage": "Oak Street\nIt is in Riverton.", "extracted_entities": ["Riverton"]}
    found = OpenIECache.read(written(tmp_path, {"docs": [doc]})).find(
        "Oak Street", "It is in Riverton."
    )
    assert found == Extracted(names=("Riverton",))


@pytest.mark.parametrize("content", [[], {"documents": []}, {"docs": "x"}, 3])
def test_another_kind_of_file_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(BadFile, match="docs"):
        OpenIECache.read(written(tmp_path, content))


@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe\x00", b"[" * 200_000])
def test_what_is_no_json_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(raw)
    with pytest.raises(BadFile, match=r"broken\.json"):
        OpenIECache.read(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        OpenIECache.read(tmp_path / "none.json")


@pytest.mark.parametrize("doc", [3, None, [], {}, {"title": "Only a title"}, {"passage": 5}])
def test_documents_without_a_text_are_counted(tmp_path: Path, doc: object) -> None:
    assert OpenIECache.read(written(tmp_path, {"docs": [doc, DOC]})).unusable == 10 - 1


def test_lists_of_another_kind_are_counted(tmp_path: Path) -> None:
    doc = DOC | {"extracted_entities": "Riverton", "extracted_triples": None}
    assert OpenIECache.read(written(tmp_path, {"docs": [doc]})).unusable == 1
