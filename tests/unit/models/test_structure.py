"""Answers are read wherever they stand, item by item, and in linear time."""

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from ecphoria.models.structure import Items, Number, ObjectsAsTheyCome, Structure, read_answer


class Thing(Structure):
    name: str
    size: int = 0
    note: str = ""


class Things(Structure):
    things: Items[Thing] = Field(default=[])
    more: Items[str] = Field(default=[])


texts = st.text(st.sampled_from('ab {}[]"\\:,0\n\u00e9'), max_size=12)
things = st.fixed_dictionaries({"name": texts, "size": st.integers(0, 9), "note": texts})
answers = st.fixed_dictionaries({"things": st.lists(things, max_size=3), "more": st.just([])})
noise = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            "{}",
            "[]",
            '{"a": 1}',
            "{so}",
            "[1]",
            "word ",
            '"',
            "\\",
            ":",
            "it's ",
            "```json\n",
            "```",
            "\ufeff",
            '{"properties": {"things": {}}}',
            "{{",
            "}}",
        ]
    ),
    max_size=12,
).map("".join)


def said(things: Things) -> dict[str, Any]:
    return {"things": [thing and thing.model_dump() for thing in things.things], "more": []}


@given(answer=answers, before=noise, after=noise, indent=st.sampled_from([None, 2]))
def test_an_answer_is_found_between_any_noise(
    answer: dict[str, Any], before: str, after: str, indent: int | None
) -> None:
    # A bracket or an unended string before the answer may make it part of another value.
    text = f"{before}\n{json.dumps(answer, indent=indent)}\n{after}"
    assume(not before.rstrip().endswith(("[", ":")) and before.count('"') % 2 == 0)
    assert said(read_answer(text, Things)) == answer


@given(answer=answers, draft=answers, thought=noise, closed=st.sampled_from(["</think>"]))
def test_a_draft_in_a_thought_is_no_answer(
    answer: dict[str, Any], draft: dict[str, Any], thought: str, closed: str
) -> None:
    opened = f"<think>{thought} {json.dumps(draft)} {thought}{closed}"
    assert said(read_answer(opened + json.dumps(answer), Things)) == answer


@given(answer=answers, draft=answers)
def test_the_last_answer_counts(answer: dict[str, Any], draft: dict[str, Any]) -> None:
    assert said(read_answer(f"{json.dumps(draft)} or {json.dumps(answer)}", Things)) == answer
    assert said(read_answer(f"{json.dumps(answer)} {json.dumps({'other': 1})}", Things)) == answer
    assert said(read_answer(json.dumps([answer]), Things)) == answer


@pytest.mark.parametrize("text", ["", "no", "{", "[]", "[1, 2]", "{}", '{"other": 1}', "null"])
def test_what_holds_no_answer_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        read_answer(text, Things)
    with pytest.raises(ValidationError):
        read_answer(text + json.dumps(Things.model_json_schema()), Things)


class OnlyThings(Structure):
    things: Items[Thing] = Field(default=[])


class Numbered(Structure):
    turn: Number
    quote: str = ""


@pytest.mark.parametrize(
    "text",
    [
        '{"things": [{"name": "a, ]", "size": 1,},], "more": [],}',
        '```json\n{"things": [{"name": "a, ]", "size": 1,\n}\n,\n]}\n```',
        json.dumps('{"things": [{"name": "a, ]", "size": 1}]}'),
        '[{"name": "a, ]", "size": 1}]',
        'So: [{"name": "a, ]", "size": 1}, 5]',
    ],
)
def test_an_answer_in_nearly_the_form_is_read(text: str) -> None:
    thing = read_answer(text, OnlyThings).things[0]
    assert thing is not None
    assert (thing.name, thing.size) == ("a, ]", 1)


def test_a_list_that_holds_nothing_of_the_form_is_no_answer() -> None:
    with pytest.raises(ValidationError):
        read_answer('[{"other": 1}, {"other": 2}]', OnlyThings)
    kept = read_answer('{"things": [{"name": "a"}]} as in [{"other": 1}]', OnlyThings)
    assert len(kept.things) == 1
    assert read_answer('{"things": null}', OnlyThings).things == []


@pytest.mark.parametrize("number", [3, "3", "[3]", "#3", "memory 3", "(3)", 3.0])
def test_a_number_is_read_as_the_prompt_shows_it(number: object) -> None:
    assert read_answer(json.dumps({"turn": number}), Numbered).turn == 3


@pytest.mark.parametrize("number", ["3.5", "1-3", "[3][4]", "", "three", "1" * 5_000, None, [3]])
def test_what_is_no_number_is_refused(number: object) -> None:
    with pytest.raises(ValidationError):
        read_answer(json.dumps({"turn": number, "quote": "a"}), Numbered)


BAD_ITEMS = st.one_of(
    st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers()), st.just({}),
    st.just({"size": 3}), st.just({"name": None}), st.just({"name": "a", "size": "many"}),
    st.just({"name": {"a": 1}}), st.just({"name": "a", "note": ["b"]}),
)  # fmt: skip


@given(st.lists(st.one_of(things, BAD_ITEMS), max_size=8))
def test_a_bad_item_costs_only_itself(items: list[Any]) -> None:
    def is_good(item: Any) -> bool:
        return isinstance(item, dict) and isinstance(item.get("name"), str) and "note" in item

    found = read_answer(json.dumps({"things": items, "extra": 1}), Things).things
    good = [item if is_good(item) and isinstance(item["note"], str) else None for item in items]
    assert [thing and thing.model_dump() for thing in found] == good


@pytest.mark.parametrize(
    ("item", "read"),
    [
        ({"name": "a", "size": None, "note": None}, ("a", 0, "")),
        ({"name": "a"}, ("a", 0, "")),
        ({"name": 42, "size": "3", "note": 1.5}, ("42", 3, "1.5")),
        ({"name": "\ud83da"}, ("?a", 0, "")),
        ({"name": "a", "confidence": 0.9, "more": {}}, ("a", 0, "")),
    ],
)
def test_null_absent_and_further_fields(item: dict[str, Any], read: tuple[str, int, str]) -> None:
    (thing,) = read_answer(json.dumps({"things": [item], "more": None}), Things).things
    assert thing is not None
    assert (thing.name, thing.size, thing.note) == read
    assert read_answer(json.dumps({"things": item}), Things).things == [thing]


def seconds(text: str) -> float:
    begun = time.process_time()
    with pytest.raises(ValidationError):
        read_answer(text, Things)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "[",
        "{}",
        "[]",
        '{"a":',
        '{"a":[',
        '"',
        "{a",
        "</think>",
        "<think>",
        '{"a":1}',
        "\\",
        "x ",
        ",",
        ", ",
        '",',
        '"\\"',
    ],
)
def test_the_time_to_read_an_answer_grows_with_its_length(unit: str) -> None:
    small, large = (
        min(seconds(unit * (size // len(unit))) for _ in range(3)) for size in (20_000, 160_000)
    )
    assert large <= 24 * small + 0.2


@given(items=st.lists(things, max_size=4), cuts=st.lists(st.integers(0, 400), max_size=12))
def test_objects_are_told_as_they_come_in_any_pieces(
    items: list[dict[str, Any]], cuts: list[int]
) -> None:
    text = f'Here it "is: {json.dumps({"things": items, "more": []})}'
    places = [0, *sorted({min(cut, len(text)) for cut in cuts}), len(text)]
    told: list[str] = []
    objects = ObjectsAsTheyCome(told.append)
    for start, end in pairwise(places):
        objects.feed(text[start:end])
    assert [json.loads(each) for each in told] == items


@pytest.mark.parametrize("unit", ['{"a": {"text": "b"}', "{", "}", '"', "\\", '{"', "x"])
def test_the_time_to_hear_an_answer_grows_with_its_length(unit: str) -> None:
    def hear(size: int) -> float:
        objects = ObjectsAsTheyCome(lambda _: None)
        text = unit * (size // len(unit))
        begun = time.process_time()
        for start in range(0, len(text), 7):
            objects.feed(text[start : start + 7])
        return time.process_time() - begun

    assert hear(160_000) <= 24 * hear(20_000) + 0.2
