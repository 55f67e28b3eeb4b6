"""The file of labelled questions."""

import json
from pathlib import Path

import pytest

from ecphoria.calibration.labelled import load_labelled
from ecphoria.errors import BadFile


def test_a_labelled_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    rows = [{"question": "a?", "answerable": True}, {"question": "b?", "answerable": False}]
    rows[1]["group"] = "x"
    file.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    found = load_labelled(file)
    assert [(one.text, one.answerable, one.group) for one in found.questions] == [
        ("a?", True, ""),
        ("b?", False, "x"),
    ]
    assert len(found.sha256) == 64


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"question": "a?"}', "q.jsonl, line 1: `answerable` is missing"),
        ('{"question": "a?", "answerable": 1}', "`answerable` is not true or false"),
        ('{"question": " ", "answerable": true}', "`question` is not text to ask"),
        ('{"answerable": true}', "`question` is missing"),
        ('{"question": "a?", "answerable": true, "grup": "x"}', "there is no field `grup`"),
        ("[]", "is not a JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        load_labelled(file)
    assert told in caught.value.message
