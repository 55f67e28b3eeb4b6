"""Long rows are read passage by passage, short ones whole."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.lexical import count_stems, count_terms
from ecphoria.recall.frame import Units, prose_of, units_of
from ecphoria.recall.ports import Columns, PassageColumns
from ecphoria.records.ids import EpisodeId

STEMS = ("harbour", "boat")


def columns(*terms: str) -> Columns:
    """Rows that differ in their words only; a row's cosine is a tenth of its place."""
    size = len(terms)
    filled: dict[str, Any] = {
        "id": tuple(EpisodeId(f"e{row}") for row in range(size)),
        "terms": terms,
        "length": np.array([float(len(one.split())) for one in terms]),
        "cosine": np.arange(size) / 10,
    }
    return Columns(**{one.name: filled.get(one.name, np.zeros(size)) for one in fields(Columns)})


def passages(**of: tuple[str, ...]) -> PassageColumns:
    """Passages by episode, each two characters behind the one before."""
    rows = [(one, part, terms) for one in of for part, terms in enumerate(of[one])]
    parts = np.array([part for _, part, _ in rows], np.int64)
    return PassageColumns(
        episode=tuple(EpisodeId(one) for one, _, _ in rows),
        part=parts,
        start=2 * parts,
        end=2 * parts + 2,
        terms=tuple(terms for _, _, terms in rows),
        length=np.array([float(len(terms.split())) for _, _, terms in rows]),
        cosine=parts / 2,
    )


def cut(found: Columns, parts: PassageColumns | None) -> Units:
    return units_of(found, count_stems(found.terms, STEMS), parts, STEMS, {})


def test_a_store_of_short_memories_has_a_unit_for_each() -> None:
    found = columns("harbour boat", "gull")
    units = cut(found, None)
    assert units.row.tolist() == [0, 1]
    assert units.counts.tolist() == [[1, 1], [0, 0]]


def test_a_long_row_counts_by_its_passages() -> None:
    found = columns("gull", "harbour gull boat", "boat")
    units = cut(found, passages(e1=("harbour", "gull boat boat")))
    assert units.row.tolist() == [0, 2, 1, 1]
    assert units.most(units.counts).tolist() == [[0, 0], [1, 2], [0, 1]]
    both = (units.counts > 0).all(axis=1).astype(float)
    assert units.best(both).tolist() == [0, 0, 0], "no passage has both words"
    assert units.mean(units.cosine).tolist() == [0.0, 0.25, 0.2]


def test_stems_are_whole_words_with_repeats() -> None:
    assert count_stems(("boat boats boat", "", "harbour"), STEMS).tolist() == [
        [0, 2], [0, 0], [1, 0],
    ]  # fmt: skip


WORDS = st.sampled_from(("boat", "boats", "harbour", "gull"))


@given(st.lists(st.lists(WORDS, max_size=8), max_size=8))
def test_stems_are_counted_as_splitting_would(texts: list[list[str]]) -> None:
    counts = count_stems([" ".join(words) for words in texts], STEMS)
    assert counts.tolist() == [[words.count(stem) for stem in STEMS] for words in texts]


def test_a_stem_counts_as_what_stands_for_it() -> None:
    texts = ("boat @bo @bo", "@bo", "boat boat", "harbour", "ship ship ship @bo")
    counts = count_terms(texts, ("boat", "harbour"), {"boat": ("@bo", "ship")})
    assert counts.tolist() == [[2.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]


@pytest.mark.parametrize(
    ("lines", "prose"),
    [
        (("", "os.path", "os.path get_user"), True),
        (("", "os.path get_user", "os.path get_user"), False),
        (("@haus @garten @weg", "os.path get_user"), True),
    ],
)
def test_documents_are_prose_if_most_have_few_words_of_code(
    lines: tuple[str, ...], prose: bool
) -> None:
    stems = " ".join(f"word{number}" for number in range(40))
    found = replace(
        columns(*(f"{stems} {line}".strip() for line in lines), f"{stems} os.path get_user"),
        length=np.full(len(lines) + 1, 40.0),
        session=(*(None for _ in lines), "s1"),
    )
    assert prose_of(found).tolist() == [*(prose for _ in lines), False]
