import pytest

from ecphoria_eval.datasets.passages import clean_chunk


@pytest.mark.parametrize(
    ("chunk", "body"),
    [
        ("Title: Elm\n0. Elm is a\n1. tree.", "Elm is a tree."),
        ("Elm: Elm is a tree. It has 2. Or 3.", "Elm is a tree. It has 2. Or 3."),
        ("Elm is a tree.", "Elm is a tree."),
        ("Elm: Title: Elm\n", "Title: Elm"),
        ("", ""),
    ],
)
def test_only_the_collections_marks_go(chunk: str, body: str) -> None:
    assert clean_chunk("Elm", chunk) == body
