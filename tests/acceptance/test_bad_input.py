"""Whatever is sent, the answer says what to do and nothing half-written stays."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import Owner, RunningService, new_owner, pointers, problem

JSON = {"Content-Type": "application/json"}
DIMENSION = 384


@pytest.fixture(scope="module")
def owner(operator: httpx.Client) -> Iterator[Owner]:
    """The owner of a tenant that stays empty."""
    with new_owner(operator) as made:
        yield made


@pytest.fixture(autouse=True)
def nothing_written(owner: Owner, request: pytest.FixtureRequest) -> Any:
    """After every test of this module the tenant is as empty as before."""
    yield
    stats = owner.get("/v1/stats").json()
    left = {name: count for name, count in stats.items() if count}
    left.pop("traces", None)
    assert left == {}


APPENDS: list[tuple[str, dict[str, Any], str, str]] = [
    ("empty text", {"text": ""}, "invalid-input", "#/text"),
    ("blank text", {"text": " \n\t "}, "invalid-input", "#/text"),
    ("no text", {"speaker": "Ana"}, "invalid-input", "#/text"),
    ("1 MB title", {"text": "x", "title": "a" * 1_000_000}, "too-large", "#/title"),
    ("control characters", {"text": "bell \x07"}, "invalid-input", "#/text"),
    ("NUL", {"text": "nul \x00"}, "invalid-input", "#/text"),
    ("control character in a name", {"text": "x", "speaker": "A\x1bna"}, "invalid-input", "#/speaker"),  # noqa: E501
    ("unknown field", {"text": "x", "txet": "y"}, "invalid-input", "#/txet"),
    ("far future", {"text": "x", "occurred_at": "9999-01-01T00:00:00Z"}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("year 1", {"text": "x", "occurred_at": "0001-01-01T00:00:00Z"}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("before year 1 in UTC", {"text": "x", "occurred_at": "0001-01-01T00:00:00+10:00"}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("naive datetime", {"text": "x", "occurred_at": "2025-01-01T00:00:00"}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("seconds since 1970", {"text": "x", "occurred_at": 1_735_689_600}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("no such day", {"text": "x", "occurred_at": "2025-02-30T00:00:00Z"}, "invalid-input", "#/occurred_at"),  # noqa: E501
    ("importance above 1", {"text": "x", "importance": 1.5}, "invalid-input", "#/importance"),
    ("nested metadata", {"text": "x", "metadata": {"a": {"b": 1}}}, "invalid-input", "#/metadata"),
    ("huge integer", {"text": "x", "metadata": {"a": 2**80}}, "invalid-input", "#/metadata"),
    ("negative position", {"text": "x", "position": -1}, "invalid-input", "#/position"),
    ("short vector", {"text": "x", "vector": [0.1, 0.2]}, "bad-vector", "#/vector"),
    ("zero vector", {"text": "x", "vector": [0.0] * DIMENSION}, "bad-vector", "#/vector"),
    ("empty vector", {"text": "x", "vector": []}, "bad-vector", "#/vector"),
    ("overflowing vector", {"text": "x", "vector": [1e308] * DIMENSION}, "bad-vector", "#/vector"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "code", "field"), [each[1:] for each in APPENDS], ids=[each[0] for each in APPENDS]
)
def test_an_unusable_episode_names_the_field(
    owner: Owner, body: dict[str, Any], code: str, field: str
) -> None:
    answer = owner.post("/v1/episodes", json=body)
    status = 413 if code == "too-large" else 422
    told = pointers(problem(answer, status, code))
    assert any(pointer == field or pointer.startswith(f"{field}/") for pointer in told), told


@pytest.mark.parametrize(
    ("route", "body", "remedy"),
    [
        ("episodes", {"text": "x", "occurred_at": "yesterday"}, "2026-03-01T09:30:00Z"),
        ("episodes", {"text": "x", "idempotency_key": ""}, "leave it out"),
        ("episodes", {"text": "x", "speaker": "a" * 5_000}, "shorten it"),
        ("episodes", [1], "Send a JSON object."),
        ("recall", {"cue": "a " * 10_000}, "send the question alone"),
        ("recall", {"cue": "x", "after": "2026-03-01T09:30:00Z"}, "`filters.occurred_from`"),
    ],
)
def test_a_refusal_names_the_remedy(owner: Owner, route: str, body: object, remedy: str) -> None:
    answer = owner.post(f"/v1/{route}", json=body)
    assert answer.status_code in {413, 422}
    assert remedy in answer.json()["detail"]


def test_an_empty_body_is_called_empty(owner: Owner) -> None:
    answer = owner.post("/v1/episodes", content=b"", headers=JSON)
    assert answer.json()["detail"] == "#: The body is empty; send JSON."


def test_a_blank_key_in_the_header_is_no_key(owner: Owner) -> None:
    answer = owner.post("/v1/episodes", json={"text": "x"}, headers={"Idempotency-Key": ""})
    problem(answer, 422, "invalid-input")


RAW: list[tuple[str, bytes, str]] = [
    ("lone surrogate", b'{"text": "half \\ud83d"}', "#/text"),
    ("lone surrogate in a name", b'{"text": "x", "speaker": "\\udc00"}', "#/speaker"),
    ("lone surrogate in metadata", b'{"text": "x", "metadata": {"\\ud800": 1}}', "#/metadata"),
    ("lone surrogate as a field", b'{"text": "x", "\\ud800": 1}', "#"),
    ("invalid UTF-8", b'{"text": "\xff\xfe"}', ""),
    ("not JSON", b"text=hello", "#"),
    ("cut off", b'{"text": "hel', "#"),
    ("empty", b"", "#"),
    ("null", b"null", "#"),
    ("a list", b"[]", "#"),
    ("deeply nested", b"[" * 100_000, ""),
    ("a number of 5,000 digits", b'{"text": "x", "position": ' + b"9" * 5_000 + b"}", ""),
    ("infinity", b'{"text": "x", "importance": Infinity}', "#/importance"),
    ("NaN in a vector", b'{"text": "x", "vector": [' + b"NaN," * 383 + b"1]}", "#/vector"),
]


@pytest.mark.parametrize(
    ("body", "field"), [each[1:] for each in RAW], ids=[each[0] for each in RAW]
)
def test_bytes_that_are_no_request_are_refused(owner: Owner, body: bytes, field: str) -> None:
    answer = owner.post("/v1/episodes", content=body, headers=JSON)
    code = "bad-vector" if "vector" in field else "invalid-input"
    told = pointers(problem(answer, 422, code))
    assert told == ([field] if field else []), told


RAW_CUES: list[tuple[str, bytes, str]] = [
    ("lone surrogate", b'{"cue": "half \\ud83d"}', "#/cue"),
    ("lone surrogate in a filter", b'{"cue": "x", "filters": {"speaker": "\\udc00"}}', "#/filters"),  # noqa: E501
    ("invalid UTF-8", b'{"cue": "\xff\xfe"}', ""),
    ("NaN in a vector", b'{"vector": [' + b"NaN," * 383 + b"1]}", "#/vector"),
    ("infinity in a vector", b'{"vector": [' + b"Infinity," * 383 + b"1]}", "#/vector"),
    ("k = 1e400", b'{"cue": "x", "k": 1e400}', "#/k"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "field"), [each[1:] for each in RAW_CUES], ids=[each[0] for each in RAW_CUES]
)
def test_bytes_that_are_no_cue_are_refused(owner: Owner, body: bytes, field: str) -> None:
    answer = owner.post("/v1/recall", content=body, headers=JSON)
    code = "bad-vector" if "vector" in field else "invalid-input"
    told = pointers(problem(answer, 422, code))
    assert [pointer for pointer in told if pointer.startswith(field)] or not field


def test_bytes_that_are_no_item_sink_only_their_item(owner: Owner) -> None:
    items = (
        b'{"text": "half \\ud83d"}',
        b'{"text": "x", "vector": [' + b"NaN," * 383 + b"1]}",
        b'{"text": "x", "vector": [' + b"0," * 383 + b"0]}",
        b'{"text": "x", "vector": [1, 2]}',
        b'{"text": "x", "occurred_at": "0001-01-01T00:00:00Z"}',
        b'{"text": "x", "occurred_at": "9999-12-31T23:59:59Z"}',
        b'{"text": "\\u0000"}',
    )
    body = b'{"episodes": [' + b",".join(items) + b"]}"
    told = owner.post("/v1/episodes/batch", content=body, headers=JSON)
    assert told.status_code == 200, told.text
    answer = told.json()
    assert (answer["created"], answer["refused"]) == (0, len(items))
    fields = ("text", "vector", "vector", "vector", "occurred_at", "occurred_at", "text")
    for place, (result, field) in enumerate(zip(answer["results"], fields, strict=True)):
        assert result["problem"]["detail"]
        assert any(
            each["pointer"].startswith(f"#/episodes/{place}/{field}")
            for each in result["problem"]["errors"]
        ), result
    whole = owner.post(
        "/v1/episodes/batch", content=b'{"episodes": [{"text": "\xff"}]}', headers=JSON
    )
    problem(whole, 422, "invalid-input")


def test_a_tenant_that_does_not_exist_is_not_made(operator: httpx.Client, owner: Owner) -> None:
    headers = {"Ecphoria-Tenant": "no-such-tenant"}
    for answer in (
        operator.post("/v1/episodes", json={"text": "x"}, headers=headers),
        operator.post("/v1/episodes/batch", json={"episodes": [{"text": "x"}]}, headers=headers),
        operator.post("/v1/recall", json={"cue": "x"}, headers=headers),
    ):
        problem(answer, 404, "not-found")
    names = [tenant["name"] for tenant in operator.get("/v1/tenants").json()["items"]]
    assert "no-such-tenant" not in names


def test_a_body_over_the_bound_is_refused_whether_its_length_is_told_or_not(owner: Owner) -> None:
    piece = b" " * 1_000_000
    told = owner.post("/v1/episodes", content=piece * 17, headers=JSON)
    assert "16,000,000" in problem(told, 413, "too-large")["detail"]
    streamed = owner.post("/v1/episodes", content=(piece for _ in range(17)), headers=JSON)
    problem(streamed, 413, "too-large")


def test_a_batch_of_10_000_is_told_the_bound(owner: Owner) -> None:
    items = [{"text": f"turn {number}"} for number in range(10_000)]
    answer = owner.post("/v1/episodes/batch", json={"episodes": items})
    told = problem(answer, 413, "too-large")
    assert pointers(told) == ["#/episodes"]
    assert "1,000" in told["detail"]


@pytest.mark.parametrize("body", [{}, {"episodes": {}}, {"episodes": None}, {"items": []}])
def test_a_batch_without_its_list_is_refused(owner: Owner, body: dict[str, Any]) -> None:
    problem(owner.post("/v1/episodes/batch", json=body), 422, "invalid-input")


def test_an_empty_batch_stores_nothing(owner: Owner) -> None:
    answer = owner.post("/v1/episodes/batch", json={"episodes": []})
    assert answer.json() == {"created": 0, "existed": 0, "refused": 0, "results": []}


RECALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("no cue", {}, "invalid-input", "#/cue"),
    ("blank cue", {"cue": "  "}, "invalid-input", "#/cue"),
    ("long cue", {"cue": "a " * 100_000}, "too-large", "#/cue"),
    ("unknown strategy", {"cue": "x", "strategy": "magic"}, "unknown-strategy", "#/strategy"),
    ("unknown option", {"cue": "x", "options": {"magic": 1}}, "invalid-input", "#/options"),
    ("k = 0", {"cue": "x", "k": 0}, "invalid-input", "#/k"),
    ("k = 10,000", {"cue": "x", "k": 10_000}, "invalid-input", "#/k"),
    ("k as text", {"cue": "x", "k": "10"}, "invalid-input", "#/k"),
    ("limit = 0", {"cue": "x", "limit": 0}, "invalid-input", "#/limit"),
    ("limit = 201", {"cue": "x", "limit": 201}, "invalid-input", "#/limit"),
    ("engrams = 51", {"cue": "x", "engrams": 51}, "invalid-input", "#/engrams"),
    ("negative score", {"cue": "x", "min_score": -0.1}, "invalid-input", "#/min_score"),
    ("endless score", {"cue": "x", "min_score": 1e300}, "invalid-input", "#/min_score"),
    ("too sure", {"cue": "x", "min_confidence": 1.1}, "invalid-input", "#/min_confidence"),
    ("no budget", {"cue": "x", "token_budget": 0}, "invalid-input", "#/token_budget"),
    ("huge budget", {"cue": "x", "token_budget": 1_000_001}, "invalid-input", "#/token_budget"),
    ("naive filter", {"cue": "x", "filters": {"occurred_from": "2025-01-01"}}, "invalid-input", "#/filters/occurred_from"),  # noqa: E501
    ("unknown filter", {"cue": "x", "filters": {"person": "Ana"}}, "invalid-input", "#/filters/person"),  # noqa: E501
    ("short vector", {"vector": [1.0]}, "bad-vector", "#/vector"),
    ("zero vector", {"vector": [0.0] * DIMENSION}, "bad-vector", "#/vector"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "code", "field"), [each[1:] for each in RECALLS], ids=[each[0] for each in RECALLS]
)
def test_an_unusable_cue_names_the_field(
    owner: Owner, body: dict[str, Any], code: str, field: str
) -> None:
    answer = owner.post("/v1/recall", json=body)
    status = 413 if code == "too-large" else 422
    told = pointers(problem(answer, status, code))
    assert any(pointer == field or pointer.startswith(f"{field}/") for pointer in told), told


@pytest.mark.parametrize(
    "cue",
    [
        "the of and to a in is it",
        '+tenant:x AND (text:* OR "open',
        "a\\ ~2 ^5 [1 TO *] {} /regex/ && || !",
        'it\'s "quoted" `ticks`; MATCH (n) DETACH DELETE n //',
        "🙂 ︎ \u200b",
        "\x00\x07",
        "???",
        "x" * 5_000,
    ],
)
def test_an_empty_store_answers_any_cue_with_nothing(owner: Owner, cue: str) -> None:
    answer = owner.post("/v1/recall", json={"cue": cue})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["hits"] == []
    assert told["verdict"] == "empty"
    assert told["answerable"] is False
    assert told["reasons"] == ["nothing is stored yet"]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/v1/episodes", {"limit": "0"}, "query:limit"),
        ("/v1/episodes", {"limit": "100000"}, "query:limit"),
        ("/v1/episodes", {"cursor": "x"}, "query:cursor"),
        ("/v1/episodes", {"cursor": "9" * 30}, "query:cursor"),
        ("/v1/episodes", {"occurred_from": "2025-01-01"}, "query:occurred_from"),
        ("/v1/episodes", {"sesion": "x"}, "query:sesion"),
        ("/v1/sessions", {"limit": "many"}, "query:limit"),
    ],
)
def test_an_unusable_query_names_the_parameter(
    owner: Owner, path: str, query: dict[str, str], field: str
) -> None:
    assert pointers(problem(owner.get(path, params=query), 422, "invalid-input")) == [field]


def test_what_does_not_exist_is_not_found(owner: Owner) -> None:
    for path in ("/v1/episodes/no-such", "/v1/traces/no-such", "/v1/nowhere", "/errors/none"):
        problem(owner.get(path), 404, "not-found")
    problem(owner.delete("/v1/episodes/no-such"), 404, "not-found")
    problem(owner.get("/v1/episodes/%00%ff%ed%a0%80"), 404, "not-found")


def test_a_refusal_never_repeats_the_text(owner: Owner) -> None:
    for body in ({"text": "marmalade", "role": 5}, {"text": ["marmalade"]}, "marmalade"):
        answer = owner.post("/v1/episodes", json=body)
        assert answer.status_code == 422
        assert "marmalade" not in answer.text


def test_a_request_id_is_taken_over_when_it_is_usable(owner: Owner) -> None:
    named = owner.get("/v1/stats", headers={"X-Request-Id": "turn-17.a_b"})
    assert named.headers["X-Request-Id"] == "turn-17.a_b"
    for unusable in ("x" * 65, "a b", "a;b"):
        other = owner.get("/v1/stats", headers={"X-Request-Id": unusable})
        assert other.headers["X-Request-Id"] not in {unusable, ""}


def test_a_strangers_body_is_not_read(server: RunningService, owner: Owner) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as anyone:
        answer = anyone.post("/v1/episodes", content=b"{not json", headers=JSON)
    problem(answer, 401, "unauthenticated")


def test_an_importance_that_json_cannot_hold_is_refused(owner: Owner) -> None:
    body = json.dumps({"text": "x", "importance": float("nan")}).encode()
    answer = owner.post("/v1/episodes", content=body, headers=JSON)
    assert pointers(problem(answer, 422, "invalid-input")) == ["#/importance"]


def listed(start: str, item: str, times: int, end: str) -> bytes:
    return f"{start}{', '.join([item] * times)}{end}".encode()


def named(start: str, value: str, times: int, end: str) -> bytes:
    fields = ", ".join(f'"f{number}": {value}' for number in range(times))
    return f"{start}{fields}{end}".encode()


VECTOR, SCOPES = '{"text": "x", "vector": [', '{"name": "x", "scopes": ['
MANY: list[tuple[str, str, bytes]] = [
    ("15 MB of empty strings", "/v1/recall", listed(VECTOR, '""', 4_000_000, "]}")),
    ("60,000 empty strings", "/v1/recall", listed(VECTOR, '""', 60_000, "]}")),
    ("9,000 empty strings", "/v1/recall", listed(VECTOR, '""', 9_000, "]}")),
    ("scopes", "/v1/keys", listed(SCOPES, '""', 60_000, "]}")),
    ("unknown fields", "/v1/episodes", named('{"text": "x", ', "1", 300_000, "}")),
    ("nested metadata", "/v1/episodes", named('{"text": "x", "metadata": {', "[]", 300_000, "}}")),
    ("a vector of texts", "/v1/episodes", listed(VECTOR, '""', 4_000_000, "]}")),
    ("empty facts", "/v1/episodes", listed('{"text": "x", "extraction": {"facts": [', "{}", 900, "]}}")),  # noqa: E501
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body"), [each[1:] for each in MANY], ids=[each[0] for each in MANY]
)
def test_a_body_of_very_many_faults_is_refused_briefly(
    owner: Owner, operator: httpx.Client, path: str, body: bytes
) -> None:
    caller = operator if path == "/v1/keys" else owner
    answer = caller.post(path, content=body, headers=JSON)
    assert answer.status_code in {413, 422}
    assert len(answer.content) < 4_000
    assert len(answer.json().get("errors", ())) <= 10


def test_items_of_a_batch_with_very_many_faults_are_told_briefly(owner: Owner) -> None:
    bad = {"text": "x", "metadata": {f"f{n}": [] for n in range(900)}}
    worse = {"text": "x", "metadata": {f"f{n}": {"deep": []} for n in range(1_001)}}
    answer = owner.post("/v1/episodes/batch", json={"episodes": [bad] * 200 + [worse] * 200})
    assert len(answer.content) < 1_000_000
    assert answer.json()["refused"] == 400


def test_a_body_without_memories_has_a_smaller_bound(owner: Owner) -> None:
    answer = owner.post("/v1/recall", content=b" " * 256_001, headers=JSON)
    assert "256,000" in problem(answer, 413, "too-large")["detail"]


@pytest.mark.parametrize(
    "form",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "nonsense",
    ],
)
def test_a_body_in_another_form_is_told_the_header(owner: Owner, form: str) -> None:
    body = json.dumps({"text": "The kettle is red."}).encode()
    answer = owner.post("/v1/episodes", content=body, headers={"Content-Type": form})
    assert "application/json" in problem(answer, 415, "unsupported-media-type")["detail"]


def test_a_body_without_a_declared_form_is_told_the_header(owner: Owner) -> None:
    answer = owner.post("/v1/recall", content=b'{"cue": "kettle"}')
    problem(answer, 415, "unsupported-media-type")


def test_a_compressed_body_is_refused(owner: Owner) -> None:
    compressed = gzip.compress(b'{"text": "The kettle is red."}')
    answer = owner.post(
        "/v1/episodes", content=compressed, headers=JSON | {"Content-Encoding": "gzip"}
    )
    said = problem(answer, 415, "unsupported-media-type")["detail"]
    assert said == "Send the body as it is, without `Content-Encoding`."


def test_another_method_is_told_those_the_path_takes(owner: Owner) -> None:
    answer = owner.put("/v1/episodes", json={})
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET, POST"
    one = owner.post("/v1/episodes/x", json={})
    problem(one, 405, "method-not-allowed")
    assert one.headers["Allow"] == "DELETE, GET, PATCH"


WRONG_VECTOR = {"text": 5, "vector": [""] * 900}
WRONG_METADATA = {"text": "a", "metadata": {str(place): [] for place in range(500)}}
HOSTILE: list[tuple[str, str, Any]] = [
    ("lists for a text", "/v1/episodes", {"text": [[]] * 500_000}),
    ("wrong items", "/v1/episodes/batch", {"episodes": [WRONG_VECTOR] * 1_000}),
    ("wrong metadata", "/v1/episodes/batch", {"episodes": [WRONG_METADATA] * 1_000}),
    ("a million numbers", "/v1/episodes/batch", {"episodes": [1] * 1_000_000}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body"), [each[1:] for each in HOSTILE], ids=[each[0] for each in HOSTILE]
)
def test_a_hostile_body_gets_a_short_answer(owner: Owner, path: str, body: Any) -> None:
    answer = owner.post(path, json=body)
    assert answer.status_code in {200, 413, 422}
    assert len(answer.content) < 1_000_000
    if answer.status_code == 200:
        assert answer.json()["refused"] == len(body["episodes"])
