"""JSON, logs, diffs and code are cut between their parts; nothing is lost, in linear time."""

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.cutting import LIMIT, cut, cuts
from tests.unit.text.pieces import estimated_pieces

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=6), inner, max_size=6)
    ),
    max_leaves=60,
)  # fmt: skip
BROKEN = (
    "{", "}", "[", "]", ",", ":", '"', "\\", "'", "\n", "  ", "a", "1", "@@ -1 +1 @@\n", "-x\n",
    "diff --git a b\n", "--- a\n+++ b\n", "def f(x):\n", "    def g(y):\n", "class A:\n", "@b\n",
    "2024-01-02T03:04:05 INFO x\n", "Traceback (most recent call last):\n", '  File "a"\nE: 1\n',
    "java.lang.Error: x\n", "\tat a.b(c)\n", "word " * 40, '{"a": [', "```\n",
)  # fmt: skip
TEN_MB = 10_000_000


def told(text: str) -> list[str]:
    return [text[span.start : span.end] for span in cut(text)]


def pieces(text: str) -> list[str]:
    edges = [0, *cuts(text, 0, len(text)), len(text)]
    return [text[one:other] for one, other in pairwise(edges)]


@given(st.lists(st.sampled_from(BROKEN), max_size=200).map("".join) | st.text(max_size=500))
def test_joined_parts_are_the_text_and_none_is_empty(text: str) -> None:
    parts = pieces(text)
    assert "".join(parts) == text
    assert all(parts) or not text
    passages = told(text)
    assert all(estimated_pieces(part) <= LIMIT for part in passages)
    if passages:
        assert "".join("".join(passages).split()) == "".join(text.split())


@given(st.lists(JSON, min_size=2, max_size=8), st.sampled_from((None, 2)))
def test_elements_of_a_list_are_parts(values: list[object], indent: int | None) -> None:
    text = json.dumps([[one] for one in values], indent=indent, ensure_ascii=False)
    parts = pieces(text)
    assert len(parts) == len(values)
    assert [json.loads(part.strip().removesuffix(",")) for part in parts[1:-1]] == [
        [one] for one in values[1:-1]
    ]


def test_members_of_an_object_stay_whole_while_they_fit() -> None:
    given_ = {
        f"host{number}": {"load": number, "tags": ["a, b", '"c]'] * 9} for number in range(9)
    }
    text = json.dumps(given_)
    assert all(part.lstrip("{").startswith('"host') for part in told(text))


def test_json_lines_are_cut_between_lines() -> None:
    lines = [json.dumps({"id": number, "text": "a word, " * 30}) for number in range(9)]
    text = "\n".join(lines) + "\n"
    assert [line for part in told(text) for line in part.strip().split("\n")] == lines


def test_an_element_that_is_too_long_is_cut_inside() -> None:
    text = json.dumps(
        [{"rows": [{"name": f"n{number}", "value": number} for number in range(60)]}]
    )
    assert all(part.startswith(('{"name"', '[{"rows"')) for part in told(text))


def test_json_below_a_line_of_words() -> None:
    text = "Result:\n" + json.dumps(
        {f"key{n}": "a value of words " * 9 for n in range(9)}, indent=1
    )
    assert all(part.startswith(('"key', "Result")) for part in told(text))


def record(number: int, more: str = "") -> str:
    return f"2024-03-0{number} 10:00:00,123 INFO worker took job {number}, all of it\n{more}"


TRACE = "Traceback (most recent call last):\n" + "".join(
    f'  File "/srv/app/part{number}.py", line {number}, in run\n    call({number})\n'
    for number in range(4)
) + "ValueError: no such job\n"  # fmt: skip


def test_a_record_of_a_log_keeps_its_stack_trace() -> None:
    log = "".join(record(number, TRACE if number % 3 == 0 else "") for number in range(1, 10))
    passages = told(log)
    assert all(part.startswith("2024-") for part in passages)
    assert sum(TRACE in part for part in passages) == 3


@pytest.mark.parametrize(
    "begins", ["[ERROR] ", "12:00:01 ", "Mar  3 12:00:01 host app: ", "<2024-01-01T00:00"]
)
def test_records_of_other_logs(begins: str) -> None:
    log = (f"{begins} it went wrong at the first place\n    and here is more of it\n") * 30
    assert all(part.startswith(begins) for part in told(log))


def test_a_stack_trace_without_a_log_stays_whole() -> None:
    text = "line of output\n" * 60 + TRACE + "line of output\n" * 60
    assert sum(TRACE in part for part in told(text)) == 1


def test_a_diff_is_cut_between_files_and_hunks() -> None:
    hunk = (
        "@@ -1,4 +1,4 @@ def run\n context line\n- removed item of it\n+ added item of a list\n"
        * 5
    )
    file = "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n"
    text = (file + hunk) * 6
    assert all(part.startswith(("diff --git", "@@ -1")) for part in told(text))
    assert sum(part.startswith("diff --git") for part in told(text)) == 6


def test_functions_of_a_module_begin_passages() -> None:
    body = "    total = first + second\n\n    return total * third\n" * 4
    text = "import os\n\n" + "".join(
        f"@cached\ndef part_{n}(first, second):\n{body}\n" for n in range(9)
    )
    assert all(part.startswith(("@cached\ndef", "import os")) for part in told(text))


def test_methods_of_a_long_class_begin_passages() -> None:
    body = "        total = first + second\n        return total * third\n" * 4
    text = "class A:\n" + "".join(f"    def part_{n}(self, first):\n{body}\n" for n in range(9))
    assert all(part.lstrip().startswith(("def part_", "class A")) for part in told(text))


def test_words_between_code_are_cut_as_words() -> None:
    code = "```python\n" + "def run(x):\n    return x\n\n" * 3 + "```\n"
    paragraph = "Some words about it, and more of them. " * 12
    text = f"{paragraph}\n\n{code}\n\n{paragraph}\n\n{code}\n\n{paragraph}"
    assert all(part.strip().startswith(("Some words", "```")) for part in told(text))


@pytest.mark.parametrize(
    "text",
    [
        "Meet at 10:00. [1] says so, [2] does not.\n\nAnother paragraph.\n" * 9,
        "- an item\n- class work: later\n",
        "He said {something} once.",
    ],
)
def test_prose_has_no_such_structure(text: str) -> None:
    assert cuts(text, 0, len(text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000 + "]" * 60_000,
        '{"a":[1,' * 40_000,
        '["' + '\\"' * 60_000,
        '{"a": "' * 20_000,
        "@@ -1 +1 @@\n" * 30_000,
        "public static " * 30_000,
        "x.Error\n" * 50_000 + "\tat y\n" * 20_000,
        "def f(x):\n" * 40_000,
        "@a\n" * 30_000,
    ],
    ids=["nested", "open", "escapes", "quotes", "hunks", "words", "traces", "functions", "marks"],
)  # fmt: skip
def test_hostile_structure_takes_linear_time(text: str) -> None:
    begun = time.process_time()
    assert all(estimated_pieces(part) <= LIMIT for part in told(text))
    assert time.process_time() - begun < 20


def test_ten_megabytes_of_json_in_one_line() -> None:
    element = '{"name": "one of many", "value": [1, 2, 3], "on": true}, '
    text = "[" + element * (TEN_MB // len(element)) + "{}]"
    begun = time.process_time()
    spans = cut(text)
    assert all(text[span.start] in "[{" for span in spans)
    assert time.process_time() - begun < 60
