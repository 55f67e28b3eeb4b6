"""The API changes only on purpose: its shape is kept as a file."""

from scripts.snapshot_openapi import SNAPSHOT, shape


def test_the_shape_of_the_api_is_that_of_the_snapshot() -> None:
    assert shape() == SNAPSHOT.read_text(encoding="utf-8"), (
        "the API changed; if it is meant, tell it in CHANGELOG.md and run: "
        "python -m scripts.snapshot_openapi"
    )


def test_a_field_named_like_a_word_is_kept() -> None:
    assert '"title": {' in SNAPSHOT.read_text(encoding="utf-8")
