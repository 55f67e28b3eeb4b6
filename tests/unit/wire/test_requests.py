import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from ecphoria.records.asked import Instant, named, read_as, to_body
from ecphoria.records.episode import NewEpisode, StatedName
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import AskRequest, Filters, RecallRequest
from ecphoria.text.names import is_name
from ecphoria.wire.base import field_problems, pointer
from ecphoria.wire.episodes import BatchRequest, EraseRequest, UnreadableItem
from ecphoria.wire.facts import MergeRequest

FACT = {"subject": "Ida", "predicate": "repaints", "object": "the boat"}


def refusals(model: type, body: object) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        read_as(model, body)
    return {p.pointer: p.detail for p in field_problems(caught.value.errors(), "#")}


def test_append_request_becomes_a_new_episode_with_every_field() -> None:
    body = {
        "text": "hello",
        "title": "t",
        "speaker": "Ana",
        "role": "user",
        "session": "s",
        "position": 3,
        "occurred_at": "2026-03-01T10:00:00+01:00",
        "source": "mail",
        "metadata": {"a": 1, "b": True, "c": 0.5, "d": "x"},
        "importance": 1,
        "idempotency_key": "k",
        "vector": [1, 0.5],
    }
    assert read_as(NewEpisode, body) == NewEpisode(
        text="hello",
        title="t",
        speaker="Ana",
        role="user",
        session="s",
        position=3,
        occurred_at=datetime(2026, 3, 1, 9, tzinfo=UTC),
        source="mail",
        metadata={"a": 1, "b": True, "c": 0.5, "d": "x"},
        importance=1.0,
        idempotency_key="k",
        vector=(1.0, 0.5),
    )


DESCRIBED = {"name": "Ida", "kind": "person", "cognitive": "identity", "description": "a sailor",
             "importance": 4}  # fmt: skip


def test_a_name_is_a_text_or_has_a_description() -> None:
    new = read_as(NewEpisode, {"text": "x", "extraction": {"names": ["Delft", DESCRIBED]}})
    assert new.extraction is not None
    assert new.extraction.names == ("Delft", StatedName(**DESCRIBED))  # type: ignore[arg-type]
    assert read_as(NewEpisode, json.loads(to_body(new))) == new


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("importance", 9),
        ("importance", 0),
        ("importance", 2.5),
        ("importance", "5"),
        ("description", "x" * 10_000),
        ("cognitive", "dream"),
        ("kind", "product"),
        ("weight", 1),
    ],
)
def test_a_value_of_a_name_out_of_bounds_is_refused_by_its_place(
    field: str, value: object
) -> None:
    body = {"text": "x", "extraction": {"names": [DESCRIBED | {field: value}]}}
    assert list(refusals(NewEpisode, body)) == [f"#/extraction/names/0/{field}"]


@pytest.mark.parametrize("weight", [1.7, -0.1, "1"])
def test_a_weight_out_of_bounds_is_refused(weight: object) -> None:
    body = {"text": "x", "extraction": {"facts": [FACT | {"weight": weight}]}}
    assert list(refusals(NewEpisode, body)) == ["#/extraction/facts/0/weight"]


@pytest.mark.parametrize("body", [NewEpisode, RecallRequest, AskRequest, EraseRequest])
@given(data=st.data())
def test_an_unknown_field_is_told_with_the_one_that_was_meant(
    body: type, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([one for one in named(body) if len(one) > 4]))
    place = data.draw(st.integers(1, len(name) - 2))
    wrong = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    for odd in (wrong, name + "s", name.title(), name[:place] + name[place + 1 :]):
        if odd not in named(body):
            told = refusals(body, {odd: 1})[f"#/{odd}"]
            assert told == f"There is no such field; did you mean `{name}`?"


@pytest.mark.parametrize(
    ("body", "name", "near"),
    [
        (NewEpisode, "content", "text"),
        (NewEpisode, "timestamp", "occurred_at"),
        (NewEpisode, "author", "speaker"),
        (NewEpisode, "thread_id", "session"),
        (RecallRequest, "top_k", "k"),
        (RecallRequest, "question", "cue"),
        (RecallRequest, "session", "filters.session"),
        (RecallRequest, "occured_from", "filters.occurred_from"),
        (AskRequest, "query", "question"),
        (AskRequest, "n", "k"),
    ],
)
def test_a_field_by_the_name_of_another_product_is_told(body: type, name: str, near: str) -> None:
    assert near in refusals(body, {name: "x"})[f"#/{name}"]


def test_a_field_that_is_like_none_is_refused_without_a_guess() -> None:
    for odd in ("zzzz", "7", "x" * 100_000):
        (told,) = refusals(RecallRequest, {"cue": "x", odd: 1}).values()
        assert told == "There is no such field; check its spelling."


@given(st.integers(1, 200), st.integers(1, 200), st.booleans())
def test_a_field_with_two_names_has_one_value(one: int, other: int, is_ask: bool) -> None:
    body, cue = (AskRequest, {"question": "x"}) if is_ask else (RecallRequest, {"cue": "x"})
    assert read_as(body, {**cue, "limit": one}).k == one
    assert read_as(body, {**cue, "k": one}).k == one
    given = {**cue, "k": one, "limit": other}
    if one == other:
        assert read_as(body, given).k == one
    else:
        assert refusals(body, given) == {
            "#/limit": "`k` and `limit` are names of one field; send one of them."
        }


def test_a_cue_may_be_called_query() -> None:
    assert read_as(RecallRequest, {"query": "where"}).cue == "where"
    assert read_as(RecallRequest, {"query": "where", "cue": "where"}).cue == "where"
    told = refusals(RecallRequest, {"query": "where", "cue": "who"})
    assert told == {"#/query": "`cue` and `query` are names of one field; send one of them."}
    assert list(refusals(RecallRequest, {"query": 5})) == ["#/query"]
    assert list(refusals(RecallRequest, {"limit": 0})) == ["#/limit"]


@pytest.mark.parametrize("name", ["spoken_by", "metadata_texts", "required"])
def test_what_the_store_finds_cannot_be_sent(name: str) -> None:
    told = refusals(RecallRequest, {"filters": {name: ["x"]}})
    assert told[f"#/filters/{name}"].startswith("There is no such field")


def test_metadata_keeps_the_type_of_each_value() -> None:
    kept = read_as(NewEpisode, {"text": "x", "metadata": {"yes": True, "one": 1}}).metadata
    assert [type(value) for value in kept.values()] == [bool, int]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "#/text"),
        ({"text": None}, "#/text"),
        ({"text": 5}, "#/text"),
        ({"text": "half \ud800"}, "#/text"),
        ({"text": "x", "speaker": "\udfff"}, "#/speaker"),
        ({"text": "x", "metadata": {"\ud800": 1}}, "#/metadata"),
        ({"text": "x", "metadata": {"a": "\ud800"}}, "#/metadata"),
        ({"text": "x", "txet": "y"}, "#/txet"),
        ({"text": "x", "\ud800": "y"}, "#"),
        ({"text": "x", "position": "3"}, "#/position"),
        ({"text": "x", "position": True}, "#/position"),
        ({"text": "x", "position": -1}, "#/position"),
        ({"text": "x", "position": 2**31}, "#/position"),
        ({"text": "x", "importance": "high"}, "#/importance"),
        ({"text": "x", "importance": 1.5}, "#/importance"),
        ({"text": "x", "importance": float("nan")}, "#/importance"),
        ({"text": "x", "expires_at": "2099-01-01T00:00:00"}, "#/expires_at"),
        ({"text": "x", "extraction": {"names": ["Oslo"] * 1_001}}, "#/extraction/names"),
        ({"text": "x", "extraction": {"facts": [FACT] * 1_001}}, "#/extraction/facts"),
        (
            {"text": "x", "extraction": {"facts": [{**FACT, "reliability": 1.5}]}},
            "#/extraction/facts/0/reliability",
        ),
        (
            {"text": "x", "extraction": {"facts": [{**FACT, "valid_to": "2026-03-01T10:00:00"}]}},
            "#/extraction/facts/0/valid_to",
        ),
        (
            {"text": "x", "extraction": {"facts": [{**FACT, "span": [0, 1]}]}},
            "#/extraction/facts/0/span",
        ),
        ({"text": "x", "metadata": {"a": None}}, "#/metadata/a"),
        ({"text": "x", "metadata": {"a": {"b": 1}}}, "#/metadata/a"),
        ({"text": "x", "vector": ["0.5"]}, "#/vector/0"),
        ({"text": "x", "occurred_at": "2026-03-01T10:00:00"}, "#/occurred_at"),
        ({"text": "x", "occurred_at": 1_700_000_000}, "#/occurred_at"),
        ([], "#"),
    ],
)
def test_unreadable_append_names_the_field(body: object, field: str) -> None:
    assert field in refusals(NewEpisode, body)


def test_refusal_never_repeats_what_was_sent() -> None:
    told = refusals(NewEpisode, {"text": ["marmalade"], "importance": "marmalade"})
    assert "marmalade" not in str(told)


def test_a_naive_time_is_told_to_add_an_offset() -> None:
    assert (
        "offset"
        in refusals(RecallRequest, {"filters": {"occurred_from": "2026-03-01"}})[
            "#/filters/occurred_from"
        ]
    )


def test_batch_keeps_readable_items_beside_unreadable_ones() -> None:
    batch = BatchRequest.model_validate({"episodes": [{"text": "a"}, {"txt": "b"}, 7]})
    first, second, third = batch.episodes
    assert first == NewEpisode(text="a")
    assert isinstance(second, UnreadableItem)
    assert [problem.pointer for problem in second.errors] == ["#/text", "#/txt"]
    assert isinstance(third, UnreadableItem)
    assert [problem.pointer for problem in third.errors] == ["#"]


def test_batch_made_by_a_client_survives_the_wire() -> None:
    batch = BatchRequest(episodes=(NewEpisode(text="a", session="s"),))
    assert BatchRequest.model_validate_json(to_body(batch)) == batch


def test_batch_schema_shows_items_as_append_requests() -> None:
    items = BatchRequest.model_json_schema()["properties"]["episodes"]["items"]
    assert items == {"$ref": "#/$defs/NewEpisode"}


def test_a_body_is_the_record_that_a_recall_takes() -> None:
    body = {
        "cue": "where?",
        "strategy": "synapse",
        "options": {"waves": 3},
        "k": 5,
        "filters": {"speaker": "Ana", "occurred_before": "2026-01-01T00:00:00Z"},
        "token_budget": 100,
        "explain": True,
    }
    assert read_as(RecallRequest, body) == RecallRequest(
        cue="where?",
        strategy="synapse",
        options={"waves": 3},
        k=5,
        filters=Filters(speaker="Ana", occurred_before=datetime(2026, 1, 1, tzinfo=UTC)),
        token_budget=100,
        explain=True,
    )


def test_a_record_is_sent_without_its_defaults_and_read_as_it_was() -> None:
    cue = RecallRequest(cue="x", k=3, filters=Filters(exclude=frozenset({EpisodeId("0" * 32)})))
    body = to_body(cue)
    assert json.loads(body) == {"cue": "x", "k": 3, "filters": {"exclude": ["0" * 32]}}
    assert read_as(RecallRequest, json.loads(body)) == cue


def test_episodes_may_be_left_out_by_id() -> None:
    ident = "0123456789abcdef" * 2
    request = read_as(RecallRequest, {"cue": "x", "filters": {"exclude": [ident, ident]}})
    assert request.filters == Filters(exclude=frozenset({EpisodeId(ident)}))


@pytest.mark.parametrize(
    ("exclude", "field"),
    [
        (["garden"], "#/filters/exclude/0"),
        (["0" * 32] * 1_001, "#/filters/exclude"),
        ("0" * 32, "#/filters/exclude"),
    ],
)
def test_what_cannot_be_left_out_is_refused(exclude: object, field: str) -> None:
    assert list(refusals(RecallRequest, {"filters": {"exclude": exclude}})) == [field]


def test_what_is_no_id_is_told_what_one_is() -> None:
    told = refusals(RecallRequest, {"filters": {"exclude": ["garden"]}})
    assert "32 lower-case hexadecimal digits" in told["#/filters/exclude/0"]


@pytest.mark.parametrize(
    "value",
    ["0001-01-01T00:00:00+05:00", "9999-12-31T23:00:00-05:00", "1e3", "5", 5, True, None, "x"],
)
def test_instants_that_are_none_are_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Instant).validate_python(value)


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001 zone below
    st.integers(min_value=-840, max_value=840),
)
def test_an_instant_keeps_its_moment_and_becomes_utc(naive: datetime, minutes: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    read = TypeAdapter(Instant).validate_python(moment.isoformat())
    assert read == moment
    assert read.utcoffset() == timedelta(0)


@given(st.lists(st.text(st.characters())))
def test_pointers_are_wellformed_and_reversible(parts: list[str]) -> None:
    written = pointer(parts, "#")
    assert written.encode("utf-8")
    back = [p.replace("~1", "/").replace("~0", "~") for p in written.split("/")[1:]]
    assert back == [p.encode("utf-8", "replace").decode() for p in parts]


def test_a_batch_of_too_many_items_is_refused_whole() -> None:
    whole = {"episodes": [{"text": "a"}] * 1_000}
    assert len(read_as(BatchRequest, whole).episodes) == 1_000
    whole["episodes"].append({"text": "a"})
    assert refusals(BatchRequest, whole).keys() == {"#/episodes"}


def test_a_merge_of_the_longest_names_can_be_decided() -> None:
    longest = "a" * max(length for length in range(2_000) if is_name("a" * length))
    body = {"one": longest, "other": longest[::-1], "status": "accepted"}
    assert read_as(MergeRequest, body).one == longest
