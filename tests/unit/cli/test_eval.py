"""How the evaluation commands end."""

import json
import os
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command


def test_a_bad_file_is_one_line_and_wrong_use(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text('[{"conversation": 3}]', encoding="utf-8")
    done = command("eval", "locomo", "--data", str(file))
    assert (done.code, done.out) == (2, "")
    assert done.err == "Error: data.json, record 1: `conversation` is not an object.\n"


@pytest.mark.parametrize("suite", ["all", "chats", "locomo", "passages"])
def test_a_missing_file_is_wrong_use(command: Command, tmp_path: Path, suite: str) -> None:
    done = command("eval", suite, "--data", str(tmp_path / "none.json"))
    assert done.code == 2
    assert "none.json cannot be read" in done.err


def test_a_report_that_could_not_be_written_is_refused_first(
    command: Command, tmp_path: Path
) -> None:
    done = command("eval", "locomo", "--data", "x", "--out", str(tmp_path / "no" / "r.json"))
    assert done.code == 2
    assert "There is no folder" in done.err


def test_a_report_in_a_folder_of_others_is_refused_first(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever runs this as root may write everywhere.
    monkeypatch.setattr(os, "access", lambda place, mode: (place, mode) != (tmp_path, os.W_OK))
    done = command("eval", "locomo", "--data", "x", "--out", str(tmp_path / "r.json"))
    assert (done.code, "r.json may not be written here" in done.err) == (2, True)


def test_what_is_no_openie_cache_is_wrong_use(command: Command, tmp_path: Path) -> None:
    data = tmp_path / "pool.jsonl"
    data.write_text("", encoding="utf-8")
    cache = tmp_path / "cache.json"
    cache.write_text("[]", encoding="utf-8")
    done = command("eval", "passages", "--data", str(data), "--openie", str(cache))
    assert done.code == 2
    assert "cache.json has no list `docs`" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_two_things_that_are_no_reports_are_not_compared(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"suite": "load"}), encoding="utf-8")
    done = command("eval", "compare", str(file), str(file))
    assert done.code == 2
    assert "is not a report of recall" in done.err


def test_a_set_of_no_known_format_is_refused_before_anything_is_started(
    command: Command, tmp_path: Path
) -> None:
    good, other = tmp_path / "good.jsonl", tmp_path / "other.json"
    good.write_text("", encoding="utf-8")
    other.write_text('[{"title": "x"}]', encoding="utf-8")
    done = command("eval", "all", "--data", str(good), "--data", str(other))
    assert (done.code, done.out) == (2, "")
    assert "other.json is no data set" in done.err
    assert len(done.err.strip().splitlines()) == 1


CHAT = {
    "conversation": {
        "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "I have a kiln."}]
    },
    "qa": [{"question": "What has Ada?", "evidence": ["D1:1"], "category": 4}],
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("locomo --facts-noise", "--facts-noise moves facts; give --facts too."),
        ("locomo --facts observations", "talk.json has no observations of its turns"),
        ("all --corpus corpus.json", "No data set here takes --corpus; only questions with"),
        ("all --openie cache.json", "No data set here takes --openie; only questions with"),
        ("live --corpus corpus.json", "No data set here takes --corpus; only questions with"),
        ("qa --oracle --names", "--names is for a model; leave out --oracle."),
        ("locomo --out r.json --rows ./r.json", "r.json is named for two files"),
    ],
)
def test_an_option_that_would_do_nothing_or_harm_is_refused_before_anything_is_started(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talk.json").write_text(json.dumps([CHAT]), encoding="utf-8")
    done = command("eval", *words.split(), "--data", "talk.json")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("suite", "name"), [("locomo", "x.json"), ("passages", "x.json"), ("all", "x.jsonl")]
)
def test_a_set_without_questions_is_refused(
    command: Command, tmp_path: Path, suite: str, name: str
) -> None:
    file = tmp_path / name
    file.write_text("[]" if name.endswith(".json") else "", encoding="utf-8")
    done = command("eval", suite, "--data", str(file))
    assert (done.code, done.err) == (2, f"Error: {name} has no question to ask.\n")
