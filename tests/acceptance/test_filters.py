"""Filters of recall, lists and erasure: sessions, role and metadata, alone and together."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from ecphoria.client import Client
from ecphoria.errors import Conflict, InvalidInput
from ecphoria.records.episode import MetadataValue, NewEpisode
from tests.acceptance.conftest import Owner, RunningService, problem

CUE = "What colour is the boat?"
COLOURS = ("red", "green", "blue", "white", "black", "yellow")


@contextmanager
def boats(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        for n, colour in enumerate(COLOURS):
            made.remember(
                f"The colour of boat number {n} is {colour}.",
                session=f"s{n // 2}",
                role=("user", "assistant")[n % 2],
                metadata={"n": n, "even": n % 2 == 0, "place": ("pier", 'a "b", \\c')[n // 3]},
                importance=0.5,
                kind="procedural" if n == 2 else None,
            )
        yield made


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with boats(server, owner) as made:
        yield made


@pytest.fixture(scope="module")
def unchanged(server: RunningService, reader: Owner) -> Iterator[Client]:
    with boats(server, reader) as made:
        yield made


def colours(client: Client, **filters: object) -> list[str]:
    hits = client.recall(CUE, **filters).hits  # type: ignore[arg-type]
    return sorted(hit.episode.text.split()[-1].rstrip(".") for hit in hits)


def test_case_and_blanks_around_a_speaker_do_not_matter(client: Client) -> None:
    ids = [client.remember(f"A boat of {n}.", speaker=n).id for n in ("Ana", " ana\t", "Anna")]
    for speaker in ("Ana", "ANA ", " ana\t"):
        assert [one.id for one in client.list(speaker=speaker)] == ids[:2]
    client.archive.sleep(ids)
    client.archive.add(days=0)
    assert [one.id for one in client.archive.list(speaker="Ana")] == ids[:2]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"role": "system"}, "`role`"),
        ({"kind": "semantic", "metadata": {"n": 0}}, "`kind` and `metadata`"),
        ({"as_of": datetime(1999, 1, 1, tzinfo=UTC)}, "`as_of`"),
        ({"cue": '"purple boat"', "match": "phrase"}, "`match`"),
    ],
)
def test_an_empty_answer_names_what_lets_nothing_pass(
    unchanged: Client, asked: dict[str, Any], reason: str
) -> None:
    told = unchanged.recall(**{"cue": CUE, **asked})
    assert told.verdict == "empty"
    assert told.reasons == (f"something is stored, but no memory passes {reason}",)


def test_an_empty_answer_tells_of_dormant_and_of_deleted_memories(owner: Owner) -> None:
    def reasons() -> list[str]:
        told = owner.post("/v1/recall", json={"cue": CUE}).json()
        assert told["verdict"] == "empty"
        return list(told["reasons"])

    boat = owner.remember("The boat is red.")
    assert owner.post("/v1/dormancy/sleep", json={"ids": [boat]}).json() == {"ids": [boat]}
    assert reasons() == [
        "no live memory matches this cue; `include_dormant` also searches dormant ones"
    ]
    assert owner.delete(f"/v1/episodes/{boat}").is_success
    assert reasons() == ["nothing is stored any more: all memories were deleted"]


def test_times_in_the_wrong_order_are_told(unchanged: Client) -> None:
    day = datetime(2025, 1, 1, tzinfo=UTC)
    told = unchanged.recall(CUE, occurred_from=day, occurred_before=day)
    assert told.reasons == (
        "`occurred_before` is not later than `occurred_from`, so no memory lies between",
    )


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"sessions": ("s0", "s2")}, {0, 1, 4, 5}),
        ({"sessions": ("s1",), "session": "s1"}, {2, 3}),
        ({"sessions": ("s1",), "session": "s0"}, set()),
        ({"sessions": ("none",)}, set()),
        ({"role": "assistant"}, {1, 3, 5}),
        ({"kind": "procedural"}, {2}),
        ({"kind": "episodic", "role": "user"}, {0, 4}),
        ({"kind": "semantic"}, set()),
        ({"role": "assistant", "session": "s1"}, {3}),
        ({"metadata": {"n": 1}}, {1}),
        ({"metadata": {"n": 1.0}}, {1}),
        ({"metadata": {"n": True}}, set()),
        ({"metadata": {"n": {"$gte": 2, "$lt": 4.5}}}, {2, 3, 4}),
        ({"metadata": {"n": {"$ne": 0}, "even": {"$eq": True}}}, {2, 4}),
        ({"metadata": {"n": {"$gt": "1"}}}, set()),
        ({"metadata": {"place": {"$gt": "a"}, "n": {"$lte": 3}}}, {0, 1, 2, 3}),
        ({"metadata": {"other": {"$ne": 1}}, "role": "user"}, {0, 2, 4}),
        ({"metadata": {"n": "1"}}, set()),
        ({"metadata": {"even": True}}, {0, 2, 4}),
        ({"metadata": {"place": "pier"}}, {0, 1, 2}),
        ({"metadata": {"place": 'a "b", \\c'}}, {3, 4, 5}),
        ({"metadata": {"place": "a"}}, set()),
        ({"metadata": {"place": "pier", "even": True}, "sessions": ("s0",)}, {0}),
        ({"metadata": {"other": 1}}, set()),
    ],
)
def test_only_what_passes_every_filter_is_recalled(
    unchanged: Client, filters: dict[str, object], found: set[int]
) -> None:
    expected = sorted(COLOURS[n] for n in found)
    for strategy in ("ecphoria", "dense", "lexical", "synapse"):
        assert colours(unchanged, strategy=strategy, **filters) == expected, strategy


def test_filters_hold_for_dormant_memories_and_as_of(client: Client, owner: Owner) -> None:
    ids = [episode.id for episode in client.list(metadata={"even": True})]
    assert len(ids) == 3
    owner.post("/v1/dormancy/sleep", json={"ids": ids})
    assert colours(client, metadata={"even": True}) == []
    asleep = colours(client, metadata={"even": True}, include_dormant=True)
    assert asleep == ["black", "blue", "red"]


def test_no_metadata_can_pretend_to_be_others(client: Client) -> None:
    client.remember(
        "The colour of boat number 9 is pink.",
        metadata={"fake": '", "n": 1, "x": "', "n": 12, '"n": 1}': "y"},
    )
    assert colours(client, metadata={"n": 1}) == ["green"]
    assert colours(client, metadata={"n": 12}) == ["pink"]


_SIGNS = ("a", '"a', 'a"', "a\\", ", ", ": 1, ", "{", "}", "[a]", "", "é", "数", "$gt", "a: 1")


def test_an_entry_is_found_by_its_own_name_and_value_alone(
    server: RunningService, owner: Owner
) -> None:
    """Each name and value is an odd text, and each looks like a part of another."""
    stored: list[dict[str, MetadataValue]] = [
        {name: value} for name in _SIGNS[:9] for value in (*_SIGNS, 1, 1.0, True, -0.0)
    ]
    stored += [{one: other, other: 1} for one in _SIGNS for other in _SIGNS if one != other]
    with Client(server.url, owner.key) as client:
        told = [
            NewEpisode(text=f"Note number {n}.", metadata=each) for n, each in enumerate(stored)
        ]
        assert client.append_batch(told).created == len(stored)
        for name in _SIGNS:
            for value in (*_SIGNS[::3], 1, 1.0, True, 0):
                expected = sorted(
                    n for n, each in enumerate(stored) if _same(each.get(name), value)
                )
                wanted = {name: value}
                found = [
                    int(one.text[12:-1]) for one in client.list(metadata=wanted, page_size=50)
                ]
                assert found == expected, wanted
                assert client.preview_erasure(metadata=wanted).matched == len(expected), wanted
        for name, value in (("a", 1), ('"a', "a"), (", ", ": 1, "), ("", 0), ("$gt", 1.0)):
            expected = sorted(n for n, each in enumerate(stored) if _same(each.get(name), value))
            hits = client.recall("Which note?", k=200, metadata={name: value}).hits
            assert sorted(int(hit.episode.text[12:-1]) for hit in hits) == expected, (name, value)


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


@pytest.mark.parametrize(
    "condition",
    [{}, {"$in": 1}, {"$gt": {"$gt": 1}}, {"$gt": None}, {"a": 1}, {"$gt": 1, "a": 1}, [1], None],
)
def test_a_condition_that_is_none_is_refused_everywhere(owner: Owner, condition: object) -> None:
    filters = {"metadata": {"n": condition}}
    for path, body in (
        ("/v1/recall", {"cue": CUE, "filters": filters}),
        ("/v1/ask", {"question": CUE, "filters": filters}),
        ("/v1/episodes/erase", {"filters": filters}),
    ):
        document = problem(owner.post(path, json=body), 422, "invalid-input")
        (fault,) = document["errors"]
        assert fault["pointer"].startswith("#/filters/metadata/n")
    answer = owner.get("/v1/episodes", params={"metadata": json.dumps({"n": condition})})
    problem(answer, 422, "invalid-input")


def test_an_erasure_by_metadata_never_leaves_archived_memories_behind(
    client: Client, owner: Owner
) -> None:
    first = next(iter(client.list()))
    owner.post("/v1/dormancy/sleep", json={"ids": [first.id]})
    policy = {"mode": "off", "quiet_days": 0, "second_look": True}
    owner.patch("/v1/settings", json={"dormancy": policy})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    with pytest.raises(Conflict, match="1 archived"):
        client.erase(metadata={"place": "pier"})
    assert client.erase(metadata={"place": "pier"}, sessions=("s1",)) == 1
    owner.post("/v1/archive/restore", json={"ids": [first.id]})
    assert client.erase(metadata={"place": "pier"}) == 2


def test_long_memories_are_filtered_by_passage(client: Client) -> None:
    long = "Nothing happened at the pier on that day, and nobody said a word. " * 60
    for n in range(2):
        client.remember(
            f"{long} The colour of the long boat is {('gold', 'silver')[n]}. {long}",
            role=("user", "assistant")[n], metadata={"long": n},
        )  # fmt: skip
    (hit,) = client.recall("What colour is the long boat?", metadata={"long": 1}).hits
    assert "silver" in hit.episode.text
    assert hit.passage is not None
    start, end = hit.passage.start, hit.passage.end
    assert "silver" in hit.episode.text[start:end]


def test_lists_and_erasure_take_them_too(client: Client, owner: Owner) -> None:
    texts = [one.text for one in client.list(metadata={"place": "pier"}, role="user")]
    assert [text.split()[-1] for text in texts] == ["red.", "blue."]
    odd = client.list(metadata={"even": False}, order="newest")
    assert [one.metadata["n"] for one in odd] == [5, 3, 1]
    assert [one.metadata["n"] for one in client.list(session="s2", metadata={"n": 4})] == [4]
    assert client.preview_erasure(metadata={"place": "pier"}, role="user").matched == 2
    assert client.erase(metadata={"place": "pier"}, role="user") == 2
    assert client.erase(sessions=("s2",)) == 2
    assert [one.metadata["n"] for one in client.list()] == [1, 3]
    with pytest.raises(InvalidInput, match="at least one filter"):
        client.erase()
    answer = owner.get("/v1/episodes", params={"metadata": "{"})
    assert problem(answer, 422, "invalid-input")["errors"][0]["pointer"] == "query:metadata"
    nested = owner.post("/v1/recall", json={"cue": CUE, "filters": {"metadata": {"a": {}}}})
    problem(nested, 422, "invalid-input")


def test_a_speaker_is_found_in_any_case(client: Client, owner: Owner) -> None:
    for n, speaker in enumerate(("Ana", "ANA", "Øyvind", "Bob")):
        client.remember(
            f"The colour of kite number {n} is pink.", speaker=speaker, session="kites"
        )
    for wanted, found in (("ana", {0, 1}), ("øYVIND", {2}), ("Bob", {3}), ("Bo", set())):
        texts = {f"The colour of kite number {n} is pink." for n in found}
        for strategy in ("ecphoria", "dense", "lexical"):
            hits = client.recall(CUE, speaker=wanted, strategy=strategy, collapse=False).hits
            assert {hit.episode.text for hit in hits} == texts, (wanted, strategy)
        assert {one.text for one in client.list(speaker=wanted)} == texts
        assert {one.text for one in client.list(speaker=wanted, session="kites")} == texts
        assert client.preview_erasure(speaker=wanted).matched == len(found)
    long = "Nothing happened at the pier on that day, and nobody said a word. " * 60
    client.remember(f"{long} The long kite is mauve. {long}", speaker="Ana")
    hits = client.recall("Is the long kite mauve?", speaker="aNA").hits
    assert any("mauve" in hit.episode.text for hit in hits)
    ids = [one.id for one in client.list(speaker="ana")]
    owner.post("/v1/dormancy/sleep", json={"ids": ids})
    assert client.recall(CUE, speaker="ana").hits == ()
    assert len(client.recall(CUE, speaker="ana", include_dormant=True, collapse=False).hits) == 3
    assert client.erase(speaker="ana") == 3


def test_unknown_names_are_told(client: Client) -> None:
    client.remember("The colour of the kite is pink.", speaker="Ana")
    told = client.recall(CUE, speaker="Zoe", sessions=("s0", "s9")).reasons
    assert told[:2] == (
        "unknown speaker: Zoe; known: Ana",
        "unknown session: s9; known: s0, s1, s2",
    )
    assert not any("unknown" in reason for reason in client.recall(CUE, session="s0").reasons)


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/recall", {"cue": CUE, "filters": {"session": ""}}, "#/filters/session"),
        ("/v1/recall", {"cue": CUE, "filters": {"speaker": " "}}, "#/filters/speaker"),
        ("/v1/recall", {"cue": CUE, "filters": {"role": "human"}}, "#/filters/role"),
        ("/v1/episodes", {"text": "It is red.", "role": "human"}, "#/role"),
    ],
)
def test_empty_names_and_other_roles_are_refused(
    owner: Owner, path: str, body: dict[str, object], pointer: str
) -> None:
    document = problem(owner.post(path, json=body), 422, "invalid-input")
    assert [fault["pointer"] for fault in document["errors"]] == [pointer]
    problem(owner.get("/v1/episodes", params={"session": ""}), 422, "invalid-input")
