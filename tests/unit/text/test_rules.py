import pytest

from ecphoria.text.concepts import extract
from ecphoria.text.names import NameKind


def test_a_document_gives_title_candidates_and_words() -> None:
    found = extract(
        "Tall Ships (1954 film)", "Directed by Ada Quill. Ada Quill's debut was small."
    )
    assert found.title is not None
    assert (found.title.name, found.title.surface) == ("tall ships", "Tall Ships (1954 film)")
    assert [(c.name, c.surface) for c in found.candidates] == [("ada quill", "Ada Quill")]
    assert " ".join(found.words) == "directed by ada quill ada quill debut was small"
    assert found.lower == {"by", "s", "debut", "was", "small"}
    assert found.speaker is None


def test_a_turn_gives_its_speaker() -> None:
    found = extract(None, "I was there yesterday!", speaker="Ben ")
    assert found.title is None
    assert found.speaker is not None
    assert (found.speaker.name, found.speaker.kind) == ("ben", NameKind.PERSON)


@pytest.mark.parametrize("title", [None, "", "  ", "?!", "x" * 2_000])
def test_a_title_that_is_no_name_is_none(title: str | None) -> None:
    assert extract(title, "Text.").title is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("I'm glad. We're late, and we said I'm sorry to Sam.", ["sam"]),
        ("Open at 8 and at 20, with 2.5 or 3-4 of 10", []),
        ("It was the 20th, at 10am, 5 km out, with 3GB, in the 1980s: 1.000", []),
        ("Sow the seeds.\n- Water them\n1. Harvest\n- Harvest in June", []),
        ("It was in 1984 at Area 51 with 50 Cent", ["1984 at area 51", "50 cent"]),
        ("Thanks, Priya! OK, You and I, My Ana", ["priya", "ana"]),
    ],
)
def test_names_are_names(body: str, names: list[str]) -> None:
    assert [candidate.name for candidate in extract(None, body).candidates] == names
