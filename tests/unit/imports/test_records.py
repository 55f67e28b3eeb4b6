"""Reading files to import."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.records import Record, batches, read_records
from ecphoria.records.episode import NewEpisode


def read(*lines: str | bytes) -> list[Record]:
    raw = (line.encode() if isinstance(line, str) else line for line in lines)
    return list(read_records(line + b"\n" for line in raw))


def request(record: Record) -> NewEpisode:
    assert isinstance(record.content, NewEpisode)
    return record.content


def test_a_line_is_an_append() -> None:
    (record,) = read(
        '{"text": "hello", "speaker": "Mara", "occurred_at": "2025-01-12T10:04+01:00"}'
    )
    assert (record.number, request(record).speaker) == (1, "Mara")
    assert request(record).occurred_at is not None


def test_the_key_is_given_or_made() -> None:
    lines = ('{"text": "a", "id": 7}', '{"text": "b", "idempotency_key": "own"}', '{"text": "c"}')
    first, second, third = read(*lines)
    assert request(first).idempotency_key == "7"
    assert request(second).idempotency_key == "own"
    assert request(third).idempotency_key


def test_equal_lines_are_two_episodes_and_stay_so_when_read_again() -> None:
    once = [request(record).idempotency_key for record in read('{"text": "a"}', '{"text": "a"}')]
    again = [
        request(record).idempotency_key
        for record in read("", '{"text": "a"}', '{"text": "new"}', '{"text": "a"}')
    ]
    assert len(set(once)) == 2
    assert [again[0], again[2]] == once


def test_blank_lines_and_a_byte_order_mark_are_passed_over() -> None:
    records = read(b'\xef\xbb\xbf{"text": "a"}', "", "  ", '{"text": "b"}')
    assert [record.number for record in records] == [1, 4]
    assert all(isinstance(record.content, NewEpisode) for record in records)


@pytest.mark.parametrize(
    ("line", "saying"),
    [
        ('{"text": ', "Not JSON"),
        (b'{"text": "\xff"}', "Not UTF-8 at byte 11"),
        ("[1, 2]", "Not a JSON object"),
        ("[" * 100_000, "Not JSON"),
        ('{"speaker": "Mara"}', "text: This field is required."),
        ('{"text": "a", "speeker": "Mara"}', "speeker: There is no such field"),
        ('{"text": "a", "occurred_at": "in May"}', "occurred_at: "),
        ('{"text": "a", "occurred_at": 1767348000}', "occurred_at: Send an ISO 8601 instant"),
        (r'{"text": "\ud800"}', "text: "),
    ],
)
def test_a_bad_line_says_why(line: str | bytes, saying: str) -> None:
    good, bad = read('{"text": "fine"}', line)
    assert isinstance(good.content, NewEpisode)
    assert bad.number == 2
    assert isinstance(bad.content, BadFile)
    assert saying in bad.content.message
    assert "\n" not in bad.content.message


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("2025-01-12", "2025-01-12T00:00:00+00:00"),
        ("2025-01-12 10:04", "2025-01-12T10:04:00+00:00"),
        ("2025-01-12T10:04:00+02:00", "2025-01-12T10:04:00+02:00"),
    ],
)
def test_a_time_without_an_offset_is_in_utc(told: str, at: str) -> None:
    (record,) = read(json.dumps({"text": "a", "occurred_at": told}))
    when = request(record).occurred_at
    assert when is not None
    assert when.isoformat() == at


def test_batches_keep_to_both_bounds() -> None:
    records = read(*(json.dumps({"text": "x" * 50}) for _ in range(7)))
    assert [len(part.good) for part in batches(records, items=3, size=10_000)] == [3, 3, 1]
    assert [len(part.good) for part in batches(records, items=9, size=130)] == [2, 2, 2, 1]
    assert [len(part.good) for part in batches(records, items=9, size=1)] == [1] * 7


@given(st.lists(st.sampled_from(["", '{"text": "a"}', '{"text": "b"}', "broken"]), max_size=20))
def test_nothing_is_lost(lines: list[str]) -> None:
    raw = [f"{line}\n".encode() for line in lines]
    parts = list(batches(read_records(raw), items=3, size=40))
    numbers = sorted(one.number for part in parts for one, _ in (*part.good, *part.bad))
    assert numbers == [n for n, line in enumerate(lines, start=1) if line]
    keys = [item.idempotency_key for part in parts for _, item in part.good]
    assert len(keys) == len(set(keys))


def test_the_sample_conversation_can_be_imported() -> None:
    file = Path(__file__).parents[3] / "service/ecphoria/demo/data/conversation.jsonl"
    with file.open("rb") as lines:
        records = list(read_records(lines))
    assert len(records) >= 300
    assert all(request(record).speaker for record in records)
