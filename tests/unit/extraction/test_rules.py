from datetime import date

import pytest

from ecphoria.extraction.rules import extract
from ecphoria.language.names import NameKind


def test_a_document_gives_title_candidates_and_words() -> None:
    found = extract(
        "Tall Ships (1954 film)", "Directed by Ada Quill. Ada Quill's debut was small."
    )
    assert found.title is not None
    assert (found.title.name, found.title.surface) == ("tall ships", "Tall Ships (1954 film)")
    assert [(c.name, c.surface) for c in found.candidates] == [
        ("directed", "Directed"),
        ("ada quill", "Ada Quill"),
    ]
    assert " ".join(found.words) == "directed by ada quill ada quill debut was small"
    assert found.lower == {"by", "s", "debut", "was", "small"}
    assert found.speaker is None
    assert found.dates == ()


def test_a_turn_gives_speaker_and_dates() -> None:
    found = extract(None, "I was there yesterday!", speaker="Ben ", said_on=date(2024, 3, 1))
    assert found.title is None
    assert found.speaker is not None
    assert (found.speaker.name, found.speaker.kind) == ("ben", NameKind.PERSON)
    assert [(days.first, days.last) for days in found.dates] == [
        (date(2024, 2, 29), date(2024, 2, 29))
    ]


@pytest.mark.parametrize("title", [None, "", "  ", "?!", "x" * 2_000])
def test_a_title_that_is_no_name_is_none(title: str | None) -> None:
    assert extract(title, "Text.").title is None
