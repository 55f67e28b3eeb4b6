"""Pools of passages, in both layouts."""

import json
from pathlib import Path
from typing import Any

import pytest

from ecphoria.errors import BadFile
from ecphoria.records.episode import Statement
from ecphoria_eval.datasets.passages import load_passages


def chunk(title: str, body: str) -> dict[str, str]:
    return {"id": title, "title": title, "chunk": f"Title: {title}\n{body}"}


def question(ident: str, *chunks: dict[str, str], gold: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": ident,
        "question": f"about {ident}?",
        "answer": "a",
        "chunks": list(chunks),
        "supporting_facts": [one for one in chunks if one["title"] in gold],
    }


ADA, BEN, EVE = chunk("Ada", "0. A poet."), chunk("Ben", "A cook."), chunk("Eve", "Ева 伊娃 حواء.")


def pool(path: Path, *questions: dict[str, Any], name: str = "pool.jsonl") -> Path:
    file = path / name
    text = "\n\n".join(json.dumps(one) for one in questions)
    file.write_text(f"\ufeff{text}\n", encoding="utf-8")
    return file


def test_the_corpus_is_the_union_of_the_chunks(tmp_path: Path) -> None:
    file = pool(
        tmp_path, question("q1", ADA, BEN, gold=("Ben",)), question("q2", BEN, EVE, gold=("Eve",))
    )
    dataset = load_passages(file)
    (part,) = dataset.collections
    assert [(one.title, one.text) for one in part.memories.values()] == [
        ("Ada", "A poet."), ("Ben", "A cook."), ("Eve", "Ева 伊娃 حواء."),
    ]  # fmt: skip
    assert [one.gold for one in part.questions] == [("1",), ("2",)]
    assert dataset.findings == {"passages that came up again": 1}


def test_gold_are_all_chunks_of_a_supported_title(tmp_path: Path) -> None:
    again = chunk("Ben", "A baker, too.")
    file = pool(tmp_path, question("q1", ADA, BEN, again, gold=("Ben",)))
    assert load_passages(file).questions[0].gold == ("1", "2")


def test_questions_without_gold_are_counted(tmp_path: Path) -> None:
    file = pool(tmp_path, question("q1", ADA, gold=()), question("q2", ADA, gold=("Ada",)))
    dataset = load_passages(file)
    assert [one.id for one in dataset.questions] == ["q2"]
    assert dataset.findings["questions without gold"] == 1


def test_a_repeated_question_is_asked_once(tmp_path: Path) -> None:
    one = question("q1", ADA, gold=("Ada",))
    dataset = load_passages(pool(tmp_path, one, one))
    assert len(dataset.questions) == 1
    assert dataset.findings["questions whose id was used before"] == 1


def test_long_and_empty_passages_do_not_stop_it(tmp_path: Path) -> None:
    long, empty, odd = chunk("Long", "word " * 20_000), chunk("Empty", " "), chunk("Odd", "\ud800")
    dataset = load_passages(pool(tmp_path, question("q1", long, empty, odd, gold=("Long",))))
    (part,) = dataset.collections
    assert [one.title for one in part.memories.values()] == ["Long"]
    assert dataset.findings["passages without text"] == 1
    assert dataset.findings["memories that are not well-formed text"] == 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"chunks": None}, "line 3: `chunks` is not a list"),
        ({"chunks": [5]}, "line 3, chunks 1 is not a JSON object"),
        ({"chunks": [{"title": "t"}]}, "line 3, chunks 1: `chunk` is missing"),
        ({"supporting_facts": "x"}, "line 3: `supporting_facts` is not a list"),
        ({"id": None}, "line 3: `id` is not text"),
        ({"question": 1.5}, "line 3: `question` is not text"),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, change: dict[str, object], what: str) -> None:
    good = question("q1", ADA, gold=("Ada",))
    with pytest.raises(BadFile) as refused:
        load_passages(pool(tmp_path, good, good | change))
    assert what in refused.value.message


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pool.jsonl"
    file.write_text('\n{"id": ', encoding="utf-8")
    with pytest.raises(BadFile, match="line 2 is not JSON"):
        load_passages(file)


def musique(path: Path, paragraphs: list[dict[str, Any]]) -> Path:
    file = path / "musique.json"
    record = {"id": "2hop", "question": "who?", "answer": "a", "paragraphs": paragraphs}
    file.write_text(json.dumps([record]), encoding="utf-8")
    return file


PARAGRAPHS = [
    {"title": "Ada", "paragraph_text": "A poet.", "is_supporting": True},
    {"title": "Ben", "paragraph_text": "A cook.", "is_supporting": False},
]


def test_paragraphs_are_looked_up_in_the_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    passages = [{"title": "Ben", "text": "A cook."}, {"title": "Ada", "text": "A poet."}]
    corpus.write_text(json.dumps(passages), encoding="utf-8")
    dataset = load_passages(musique(tmp_path, PARAGRAPHS), corpus)
    assert dataset.questions[0].gold == ("1",)
    assert dataset.corpus_sha256 is not None


def test_an_openie_cache_gives_passages_names_and_facts(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    passages = [
        {"title": "Ada", "text": "A poet."},
        {"title": "Ben", "text": "Ben: A cook."},
        {"title": "Eve", "text": "Not in the cache."},
    ]
    corpus.write_text(json.dumps(passages), encoding="utf-8")
    docs = [
        {"title": "Ada", "text": "A poet.", "extracted_entities": ["Ada", 5]},
        {"passage": "Ben\nBen: A cook.", "extracted_triples": [["Ben", "cooks for", "Ada"], []]},
        {"title": "Nobody", "text": "Not in the corpus.", "extracted_entities": ["Nobody"]},
    ]
    cache = tmp_path / "cache.json"
    cache.write_text(json.dumps({"docs": docs}), encoding="utf-8")
    dataset = load_passages(musique(tmp_path, PARAGRAPHS), corpus, cache)
    ada, ben, eve = dataset.collections[0].memories.values()
    assert ada.extraction is not None
    assert ada.extraction.names == ("Ada",)
    assert ben.extraction is not None
    assert ben.extraction.facts == (Statement(subject="Ben", predicate="cooks for", object="Ada"),)
    assert eve.extraction is None
    assert dataset.findings["passages that the OpenIE cache lacks"] == 1
    assert dataset.findings["entries of the OpenIE cache that cannot be used"] == 2
    assert dataset.openie_sha256 is not None


def test_an_openie_cache_of_other_passages_changes_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    cache.write_text(json.dumps({"docs": [None, {"title": "X", "text": "Y"}]}), encoding="utf-8")
    file = musique(tmp_path, PARAGRAPHS)
    dataset = load_passages(file, None, cache)
    assert dataset.collections == load_passages(file).collections
    assert dataset.findings["passages that the OpenIE cache lacks"] == 2


def test_without_a_corpus_the_paragraphs_are_it(tmp_path: Path) -> None:
    (part,) = load_passages(musique(tmp_path, PARAGRAPHS)).collections
    assert [one.title for one in part.memories.values()] == ["Ada", "Ben"]
    assert part.questions[0].gold == ("0",)


def test_gold_that_the_corpus_lacks_stays_gold(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.json"
    corpus.write_text('[{"title": "Ben", "text": "A cook."}]', encoding="utf-8")
    dataset = load_passages(musique(tmp_path, PARAGRAPHS), corpus)
    assert dataset.findings["gold passages that the corpus lacks"] == 1
    assert len(dataset.questions[0].gold) == 1


def test_a_folder_of_pools_takes_no_corpus(tmp_path: Path) -> None:
    one = question("q1", ADA, gold=("Ada",))
    pool(tmp_path, one, name="a.jsonl")
    pool(tmp_path, one, name="b.jsonl")
    assert [part.name for part in load_passages(tmp_path).collections] == ["a", "b"]
    with pytest.raises(BadFile, match="One corpus"):
        load_passages(tmp_path, tmp_path / "a.jsonl")
