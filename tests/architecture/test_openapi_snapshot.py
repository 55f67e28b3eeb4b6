"""The API changes only on purpose: its shape is kept as a file."""

import json

from scripts.snapshot_openapi import SNAPSHOT, shape


def test_the_shape_of_the_api_is_that_of_the_snapshot() -> None:
    assert shape() == SNAPSHOT.read_text(encoding="utf-8"), (
        "the API changed; if it is meant, tell it in CHANGELOG.md and run: "
        "python -m scripts.snapshot_openapi"
    )


def test_a_field_named_like_a_word_is_kept() -> None:
    assert '"title": {' in SNAPSHOT.read_text(encoding="utf-8")


def test_no_name_of_a_schema_tells_a_module() -> None:
    # FastAPI writes the module in front of the names of two classes that have the same name.
    assert [name for name in json.loads(shape())["components"]["schemas"] if "__" in name] == []
