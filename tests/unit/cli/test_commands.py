"""Commands as a user types them, against a stub service."""

import errno
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from ecphoria.records.tenant import TenantStats
from tests.unit.cli.answers import TRACE, answer, episode
from tests.unit.cli.conftest import COUNTS, MOMENT, Command, StubService
from tests.unit.cli.leaves import LEAVES


def first_hit(told: dict[str, object]) -> dict[str, Any]:
    hits = told["hits"]
    assert isinstance(hits, list)
    hit: dict[str, Any] = hits[0]
    return hit


def test_remember_tells_the_id(command: Command, service: StubService) -> None:
    service.routes["POST /v1/episodes"] = 201, {"id": "a" * 32, "outcome": "created"}
    done = command("remember", "A tick bit me.", "--speaker", "Mara", "--at", "2025-09-05T18:00Z")
    assert (done.code, done.out) == (0, f"Remembered  {'a' * 32}\n")
    (_, _, body), *_ = service.seen
    assert body == {
        "text": "A tick bit me.",
        "speaker": "Mara",
        "occurred_at": "2025-09-05T18:00:00Z",
    }


def test_remember_takes_importance_and_kind(command: Command, service: StubService) -> None:
    service.routes["POST /v1/episodes"] = 201, {"id": "a" * 32, "outcome": "created"}
    command("remember", "Rinse it twice.", "--kind", "procedural", "--importance", "0.9")
    (_, _, body), *_ = service.seen
    assert (body["kind"], body["importance"]) == ("procedural", 0.9)
    refused = command("remember", "x", "--kind", "odd")
    assert (refused.code, len(service.seen)) == (2, 1)
    assert "'odd' is not one of" in refused.err


def test_remember_says_when_it_was_known(command: Command, service: StubService) -> None:
    service.routes["POST /v1/episodes"] = 200, {"id": "a" * 32, "outcome": "existed"}
    assert command("remember", "x").out.startswith("Already remembered")


def test_remember_refuses_what_is_no_text(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for errors in ("strict", "surrogateescape"):  # the latter where no locale is set
        piped = io.TextIOWrapper(io.BytesIO(b"tick \xff"), encoding="utf-8", errors=errors)
        monkeypatch.setattr(sys, "stdin", piped)
        done = command("remember", "-")
        assert (done.code, done.err) == (2, "Error: Standard input is not text in utf-8.\n")
    assert not service.seen


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("at", "sent"),
    [
        ("2025-07-05", "2025-07-05T00:00:00+02:00"),
        ("2025-01-05T18:00", "2025-01-05T18:00:00+01:00"),
        ("2025-07-05 18:00:00-03:00", "2025-07-05T18:00:00-03:00"),
    ],
)
def test_a_time_without_an_offset_is_one_of_this_machine(
    command: Command, service: StubService, at: str, sent: str
) -> None:
    service.routes["POST /v1/episodes"] = 201, {"id": "a" * 32, "outcome": "created"}
    assert command("remember", "x", "--at", at).code == 0
    assert service.seen[0][2]["occurred_at"] == sent


@pytest.mark.parametrize("at", ["yesterday", "2025-13-05", "0001-01-01", "1757095200"])
def test_what_is_no_time_is_refused(command: Command, service: StubService, at: str) -> None:
    done = command("remember", "x", "--at", at)
    assert done.code == 2
    assert f"`{at}` is no time; write it like 2026-03-14" in done.err
    assert service.seen == []


def test_recall_lists_hits_without_reading_markup(command: Command, service: StubService) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    done = command("recall", "What illness did Mara catch?")
    assert done.code == 0
    assert "I remember  confidence 0.86" in done.out
    assert "0.750" in done.out
    assert "Mara  5 Sep 2025  A red ring [bold]around[/bold] the bite. And a fever." in done.out
    assert f"fusion: 16 ms (seeds 12, rank 3)\ntrace {TRACE}\n" in done.out
    assert "NEXT" not in done.out
    assert service.seen[0][2] == {"cue": "What illness did Mara catch?"}


def test_explain_draws_the_path_with_its_texts(command: Command, service: StubService) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    found = episode("c", "did you walk in the long grass?", "Tobias")
    service.routes[f"GET /v1/episodes/{'c' * 32}"] = 200, found
    done = command("recall", "What illness?", "--explain")
    lines = [line.strip() for line in done.out.splitlines()]
    start = lines.index(
        "words of the cue 2.50 → Tobias  5 Sep 2025  did you walk in the long grass?"
    )
    assert lines[start + 1] == "└── NEXT 0.70 → this memory"
    assert lines[start + 2] == "= 0.500 lex + 0.250 sem"
    assert service.seen[0][2]["explain"] is True


def test_a_step_that_is_gone_keeps_its_id(command: Command, service: StubService) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    done = command("recall", "What illness?", "--explain")
    assert "words of the cue 2.50 → cccccccc (episode)" in done.out


def test_not_knowing_says_why(command: Command, service: StubService) -> None:
    service.routes["POST /v1/recall"] = (
        200,
        answer(
            verdict="refuse",
            answerable=False,
            confidence=0.1,
            hits=[],
            reasons=["No memory says it of Mara."],
            misses=[{"episode": "d" * 32, "score": 0.4, "text": "Ines has a parrot"}],
        ),
    )
    done = command("recall", "Did Mara adopt a parrot?")
    assert done.code == 0
    assert "I don't know  confidence 0.10" in done.out
    assert "· No memory says it of Mara." in done.out
    assert "nearest 0.400: Ines has a parrot" in done.out


def test_an_answer_has_its_reasons_too(command: Command, service: StubService) -> None:
    below = [{"episode": "d" * 32, "score": 0.4, "text": "Ines has a parrot"}]
    service.routes["POST /v1/recall"] = 200, answer(reasons=["Mara said it."], misses=below)
    done = command("recall", "What illness?")
    assert "I remember  confidence 0.86\n  · Mara said it.\n" in done.out
    assert "nearest" not in done.out


def test_a_hit_tells_its_copies_and_that_it_is_outdated(
    command: Command, service: StubService
) -> None:
    told = answer()
    hit = first_hit(told)
    hit |= {"copies": ["e" * 32, "f" * 32], "superseded_at": "2025-12-24T00:00:00Z"}
    service.routes["POST /v1/recall"] = 200, told
    done = " ".join(command("recall", "What illness?").out.split())
    assert "And a fever. said 3 times outdated since 24 Dec 2025" in done


def test_of_a_long_memory_the_passage_is_shown(command: Command, service: StubService) -> None:
    told = answer()
    hit = first_hit(told)
    text = "First the weather. Then the bite got a red ring. Then supper."
    start, end = text.index("Then the bite"), text.index(" Then supper")
    hit["episode"] |= {"text": text}
    hit["passage"] = {"part": 1, "start": start, "end": end}
    service.routes["POST /v1/recall"] = 200, told
    done = command("recall", "What illness?")
    assert "Mara  5 Sep 2025  …Then the bite got a red ring.…" in done.out
    assert "weather" not in done.out


def test_recall_sends_floors_and_keeps_copies_apart(
    command: Command, service: StubService
) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    floors = ("--min-score", "0.3", "--min-confidence", "1")
    assert command("recall", "x", *floors, "--no-collapse").code == 0
    body = service.seen[0][2]
    assert (body["min_score"], body["min_confidence"], body["collapse"]) == (0.3, 1.0, False)


def test_recall_as_json_is_the_answer_itself(command: Command, service: StubService) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    assert json.loads(command("recall", "x", "--json").out)["trace_id"] == TRACE


def test_the_context_of_a_start_is_printed_as_it_is(
    command: Command, service: StubService
) -> None:
    block = "<memories 1>\n[1] 2026-03-01 Ana: The lamp [red] is lit. " + "So it is. " * 30
    told = {
        "context": block, "context_tokens": 9, "token_counter": "o200k_base", "references": [],
        "left_out": 0, "reasons": ["unknown speaker: Bo"],
    }  # fmt: skip
    service.routes["GET /v1/context"] = (200, told)
    done = command("context", "--token-budget", "50", "--speaker", "Bo")
    assert (done.code, done.out) == (0, block + "\n")
    assert "unknown speaker: Bo" in done.err
    assert service.seen[0][1] == "/v1/context?token_budget=50&speaker=Bo"
    assert json.loads(command("context", "--json").out) == told


def test_stats_have_the_size_of_the_store(command: Command, service: StubService) -> None:
    kinds = ("nodes", "relationships", "properties", "vector_indexes", "text_indexes",
             "other_indexes", "other", "log")  # fmt: skip
    sizes = dict.fromkeys(kinds, 1_500_000)
    service.routes["GET /v1/disk"] = 200, {"bytes": sizes}
    told = command("stats", "--disk").out.splitlines()
    assert told[3].split() == ["vector", "indexes", "1.5", "MB"]
    assert told[-1].split()[-2:] == ["10.5", "MB"]
    assert json.loads(command("stats", "--disk", "--json").out) == {"bytes": sizes}
    service.routes["GET /v1/disk"] = 200, {"bytes": None}
    assert "Neo4j runs elsewhere" in command("stats", "--disk").out
    refused = command("stats", "--disk", "--by", "day")
    assert (refused.code, len(service.seen)) == (2, 3)
    assert "--disk counts the whole store" in refused.err


def test_stats_counts(command: Command, service: StubService) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    done = command("stats")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["episodes", "1,234"] in rows
    assert ["first", "occurred", "at", "2025-01-12"] in rows
    assert ["last", "occurred", "at", "never"] in rows
    assert ["recalls", "in", "scale", "29"] in rows
    assert not any(row[0] == "sums" for row in rows)
    service.routes["GET /v1/stats"] = 200, COUNTS | {"scale": None}
    assert "recalls in scale             0" in command("stats").out
    answered = TypeAdapter(TenantStats).json_schema(mode="serialization")["properties"]
    assert set(COUNTS) == set(answered), "the stub has every count, or one may not be drawn"


def _batch(refuse: Callable[[dict[str, object]], bool]) -> Callable[[dict[str, object]], object]:
    def answer_batch(body: dict[str, object]) -> object:
        items = body["episodes"]
        assert isinstance(items, list)
        problem = {
            "type": "/errors/invalid-input",
            "title": "t",
            "status": 422,
            "detail": "Empty.",
        }
        results = [
            {"index": place, "problem": problem}
            if refuse(item)
            else {"index": place, "id": "a" * 32, "outcome": "created"}
            for place, item in enumerate(items)
        ]
        refused = sum("problem" in result for result in results)
        created = len(results) - refused
        return 200, {"created": created, "existed": 0, "refused": refused, "results": results}

    return answer_batch


def test_import_names_every_bad_record(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    service.routes["POST /v1/episodes/batch"] = _batch(lambda item: item["text"] == " ")  # type: ignore[assignment]  # the stub's answers are loosely typed
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "a"}\n\nbroken\n{"text": " "}\n{"text": "b"}\n', encoding="utf-8")
    done = command("import", str(file), "--batch", "2")
    assert done.code == 1
    assert "Imported 2 new, 0 known before, 2 refused." in done.out
    assert "Record 3: Not JSON" in done.err
    assert "Record 4: Empty." in done.err
    assert "importing 100 %, 0 s left" in done.err


def test_a_table_is_told_to_become_one_document(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    service.routes["POST /v1/episodes/batch"] = _batch(lambda _: False)  # type: ignore[assignment]  # the stub's answers are loosely typed
    for name, told in (("chat.csv", True), ("chat.txt", False)):
        file = tmp_path / name
        file.write_text("date,speaker,text\n2026-01-01,Ana,The boiler was serviced\n")
        done = command("import", str(file))
        assert "Imported 1 new" in done.out
        assert ("The table becomes one document" in done.err) is told


def test_import_counts_what_it_leaves_out(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    service.routes["POST /v1/episodes/batch"] = _batch(lambda _: False)  # type: ignore[assignment]  # the stub's answers are loosely typed
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Hi."}, {"type": "image_url"}]},
    ]
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    done = command("import", str(file))
    assert "Imported 1 new, 0 known before, 0 refused. Left out 1 of 2." in done.out
    assert "Left out: 1 system messages" in done.err
    assert "Parts left out: 1 images and sounds" in done.err
    assert json.loads(command("import", str(file), "--json").out) == {
        "created": 1, "existed": 0, "refused": 0, "left_out": {"system messages": 1},
        "parts_left_out": {"images and sounds": 1},
    }  # fmt: skip


@pytest.mark.parametrize("content", ["", "[]", '{"messages": []}'])
def test_import_of_nothing_is_told(
    command: Command, service: StubService, tmp_path: Path, content: str
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    file = tmp_path / "chat.json"
    file.write_text(content, encoding="utf-8")
    done = command("import", str(file), "--format", "openai")
    assert done.code != 0
    assert "is empty" in done.err or "nothing to import" in done.err


@pytest.mark.parametrize("down", [False, True])
def test_a_text_that_the_embedder_cannot_take_costs_no_other(
    command: Command, service: StubService, tmp_path: Path, *, down: bool
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    store = _batch(lambda _: False)
    fails = {"type": "/errors/encoder-unavailable", "title": "t", "status": 503, "detail": "No."}

    def answer(body: dict[str, object]) -> object:
        items = body["episodes"]
        assert isinstance(items, list)
        bad = down or any("NAN" in item["text"] for item in items)
        return (503, fails) if bad else store(body)

    service.routes["POST /v1/episodes/batch"] = answer  # type: ignore[assignment]  # the stub's answers are loosely typed
    file = tmp_path / "in.jsonl"
    texts = [*(f"Bees {number}." for number in range(8)), "NAN two.", "Bees last."]
    file.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    done = command("import", str(file))
    assert done.code == 1
    if down:
        assert "Run the same command again to go on from here" in done.err
    else:
        assert "Imported 9 new, 0 known before, 1 refused." in done.out
        assert "Record 9: No." in done.err


@pytest.mark.parametrize("why", ["Too slow.", "Too slow"])
def test_import_tells_how_to_go_on(
    command: Command, service: StubService, tmp_path: Path, why: str
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    gone = {"type": "/errors/timeout", "title": "t", "status": 504, "detail": why}
    service.routes["POST /v1/episodes/batch"] = 504, gone
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "a"}\n', encoding="utf-8")
    done = command("import", str(file))
    assert done.code == 1
    assert (
        "Error: Too slow. Run the same command again to go on from here; nothing is stored twice."
        in done.err
    )


def test_import_of_a_missing_file_is_told(command: Command, tmp_path: Path) -> None:
    done = command("import", str(tmp_path / "nowhere.jsonl"))
    assert done.code == 2
    assert "nowhere.jsonl cannot be read: No such file or directory." in " ".join(done.err.split())


@pytest.mark.parametrize(
    "words", [("recall", "x"), ("remember", "x"), ("stats",), ("tenants", "list")]
)
def test_without_a_service_the_remedy_is_told(command: Command, words: tuple[str, ...]) -> None:
    done = command(*words, "--server", "http://127.0.0.1:9")
    assert done.code == 1
    assert "start one with `ecphoria serve`" in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_the_admin_key_of_this_machine_is_used(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "admin.key").write_text("eck_local\n", encoding="ascii")
    command("stats")
    command("stats", "--tenant", "acme")
    command("stats", "--key", "eck_given")
    first, second, third = service.headers
    assert (first["Authorization"], first["Ecphoria-Tenant"]) == ("Bearer eck_local", "default")
    assert second["Ecphoria-Tenant"] == "acme"
    assert third["Authorization"] == "Bearer eck_given"
    assert "Ecphoria-Tenant" not in third


def test_a_refused_key_says_where_it_is_from(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    refused = {"type": "/errors/unauthenticated", "title": "t", "status": 401, "detail": "No key."}
    service.routes["GET /v1/stats"] = 401, refused | {"request_id": "r-1"}
    file = tmp_path / "home" / "admin.key"
    other = "`--home` names the home of the service, `--key` or ECPHORIA_API_KEY another key."
    done = command("stats")
    assert done.code == 1
    assert f"No key. No key was given, and there is no {file}: {other} (request r-1)" in done.err
    file.parent.mkdir()
    file.write_text("eck_other\n", encoding="ascii")
    assert f"No key. The key is from {file}: {other} (request r-1)" in command("stats").err
    given = command("stats", "--key", "eck_given").err
    assert "No key. On the command line: --key, or ECPHORIA_API_KEY. (request r-1)" in given
    assert "eck_" not in given


def test_keys_are_issued_listed_and_revoked(command: Command, service: StubService) -> None:
    key = {
        "id": "k1",
        "name": "agent",
        "prefix": "eck_12345678",
        "scopes": ["read", "write"],
        "created_at": "2026-01-01T00:00:00Z",
        "revoked_at": None,
    }
    service.routes["POST /v1/keys"] = 201, key | {"secret": "eck_12345678_secret"}
    service.routes["GET /v1/keys"] = 200, {"items": [key]}
    service.routes["DELETE /v1/keys/k1"] = 200, None
    issued = command("keys", "issue", "agent", "--scope", "read", "--scope", "write")
    assert issued.out.splitlines()[-1] == "eck_12345678_secret"
    assert set(service.seen[0][2]["scopes"]) == {"read", "write"}  # type: ignore[call-overload]  # a JSON list
    assert "eck_12345678" in command("keys", "list").out
    assert command("keys", "revoke", "k1").out == "Revoked.\n"


@pytest.mark.parametrize("variable", [True, False])
def test_a_call_on_operators_keys_names_no_tenant(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch, *, variable: bool
) -> None:
    service.routes["GET /v1/keys"] = 200, {"items": []}
    if variable:
        monkeypatch.setenv("ECPHORIA_TENANT", "acme")
    named = () if variable else ("--tenant", "acme")
    command("keys", "list", *named)
    command("keys", "list", "--operator", *named)
    of_tenant, of_operators = service.headers
    assert of_tenant["Ecphoria-Tenant"] == "acme"
    assert "Ecphoria-Tenant" not in of_operators


def test_brackets_in_names_are_no_markup(command: Command, service: StubService) -> None:
    service.routes["POST /v1/keys"] = 201, {
        "id": "k" * 32, "name": "[/x] agent", "prefix": "p", "scopes": ["read"],
        "created_at": MOMENT, "secret": "eck_secret",
    }  # fmt: skip
    done = command("keys", "issue", "[/x] agent", "--scope", "read")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1] == "eck_secret"
    assert "Issued [/x] agent" in done.out
    service.routes[f"GET /v1/facts/{'f' * 32}/history"] = 200, {
        "subject": "ana [/b]", "relation": "lives in", "predicate_class": "functional",
        "qualifier": "", "facts": [], "decisions": [],
    }  # fmt: skip
    done = command("facts", "history", "f" * 32)
    assert (done.code, done.out.splitlines()[0]) == (0, "ana [/b] · lives in  functional")


@pytest.mark.parametrize("days", ["0", "3661", "inf", "nan"])
def test_a_key_lives_ten_years_at_most(command: Command, days: str) -> None:
    done = command("keys", "issue", "agent", "--scope", "read", "--days", days)
    assert (done.code, done.out) == (2, "")
    assert "--days" in done.err


def test_erasing_a_tenant_counts(command: Command, service: StubService) -> None:
    service.routes["DELETE /v1/tenants/demo"] = (
        200,
        {"removed": {"jobs": 0, "sessions": 1, "episodes": 1394, "tenants": 1}},
    )
    done = command("tenants", "erase", "demo", "--yes")
    assert done.out == "Erased demo: 1 session, 1,394 episodes, 1 tenant.\n"


REMOVES = {
    "passages": 0, "sessions": 2, "speakers": 0, "concepts": 0, "facts": 1, "decisions": 0,
    "engrams": 0, "traces": 4,
}  # fmt: skip


def test_forget_counts_asks_and_goes_on_until_none_is_left(
    command: Command, service: StubService
) -> None:
    left = [3]

    def erase(body: Any) -> tuple[int, dict[str, Any]]:
        assert body["filters"] == {"session": "s"}
        matched = left[0]
        if body.get("dry_run"):
            return 200, {"matched": matched, "erased": 0, "removes": REMOVES}
        erased = min(2, matched)
        left[0] -= erased
        return 200, {"matched": matched, "erased": erased}

    service.routes["POST /v1/episodes/erase"] = erase
    assert command("forget", "--session", "s", "--dry-run").out == (
        "3 episodes would be erased. With them: 2 sessions, 1 fact.\n"
    )
    assert command("forget", "--session", "s").code == 1, "nobody is there to confirm"
    assert left == [3]
    assert command("forget", "--session", "s", "--yes").out == "Erased 3 episodes.\n"
    assert left == [0]
    assert command("forget", "--session", "s", "--yes").out == "Nothing matches.\n"


def test_list_shows_a_line_an_episode(command: Command, service: StubService) -> None:
    episode = {
        "id": "a" * 32, "turn": 1, "text": "It\nrains.", "speaker": "Ana", "importance": 0.5,
        "occurred_at": "2026-03-14T09:30:00Z", "recorded_at": "2026-03-14T09:30:00Z",
        "kind": "episodic", "state": "live",
    }  # fmt: skip
    service.routes["GET /v1/episodes"] = 200, {"items": [episode] * 3}
    shown = command("list", "--newest", "-n", "2").out.splitlines()
    assert len(shown) == 2
    assert "Ana  It rains." in shown[0] or shown[0].endswith("…")
    told = command("list", "--json", "--pinned").out.splitlines()
    assert [json.loads(line)["text"] for line in told] == ["It\nrains."] * 3
    ends = episode | {"expires_at": "2099-03-14T09:30:00Z"}
    service.routes["GET /v1/expiring"] = 200, {"items": [ends]}
    assert "2099-03-14 09:30" in command("dormancy", "list", "--expiring").out


def test_an_unknown_session_and_speaker_are_told(command: Command, service: StubService) -> None:
    service.routes["GET /v1/episodes"] = 200, {"items": []}
    done = command("list", "--session", "peer", "--speaker", "ana")
    assert (done.code, done.out) == (0, "")
    assert "No episode is in the session `peer`; see ecphoria sessions." in done.err
    assert "No episode is by the speaker `ana`." in done.err
    assert command("list", "--speaker", "ana", "--json").err == ""


def test_forget_takes_ids_or_filters(command: Command, service: StubService) -> None:
    preview = {"matched": 1, "erased": 0, "removes": REMOVES}
    service.routes["POST /v1/episodes/erase"] = 200, preview
    assert command("forget", "a", "--dry-run").out == (
        "1 episode would be erased. With them: 2 sessions, 1 fact.\n"
    )
    service.routes["POST /v1/episodes/erase"] = 200, {"matched": 1, "erased": 1}
    assert command("forget", "a", "--yes").out == "Erased 1 episode.\n"
    assert command("forget", "a", "b", "--yes").out == "Erased 1 episode. Not found: 1 id.\n"
    service.routes["POST /v1/episodes/erase"] = 200, {"matched": 0, "erased": 0}
    unknown = command("forget", "a", "--yes")
    assert (unknown.code, unknown.out) == (1, "Nothing matches. Not found: 1 id.\n")
    said = "Error: Give ids of episodes, or filters such as --session."
    assert command("forget", "--yes").err == f"{said}\n"
    assert command("forget", "a", "--session", "s", "--yes").err == f"{said} Not both.\n"


def test_forget_sends_many_ids_in_parts_and_previews_none_after_yes(
    command: Command, service: StubService
) -> None:
    asked: list[dict[str, Any]] = []

    def erase(body: Any) -> tuple[int, dict[str, Any]]:
        asked.append(body)
        count = len(body["ids"])
        if body.get("dry_run"):
            return 200, {"matched": count, "erased": 0, "removes": REMOVES}
        return 200, {"matched": count, "erased": count}

    service.routes["POST /v1/episodes/erase"] = erase
    ids = [f"{number:032x}" for number in range(2_500)]
    done = command("forget", *ids, ids[0], "--yes")
    assert done.out == "Erased 2,500 episodes.\n"
    assert "erasing 1,000/2,500" in done.err
    assert [(len(body["ids"]), body.get("dry_run")) for body in asked] == [
        (1_000, None), (1_000, None), (500, None),
    ]  # fmt: skip
    assert command("forget", *ids, "--dry-run").out == "2,500 episodes would be erased.\n"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_the_encoding_of_the_output_lacks_is_written_as_json_does(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    service.routes["GET /v1/episodes"] = 200, {"items": [episode("a", "Zoë 😀")]}
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "latin-1", write_through=True))
    assert command("list", *form).code == 0
    said = written.getvalue().decode("latin-1")
    assert r"Zoë \ud83d\ude00" in said
    if form:
        assert json.loads(said)["text"] == "Zoë 😀"


def test_a_full_disk_is_no_fault_of_ours(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.routes["GET /v1/stats"] = 200, COUNTS

    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stdout", Full())
    done = command("stats")
    said = "Error: The output cannot be written: No space left on device.\n"
    assert (done.code, done.err) == (1, said)


@pytest.mark.parametrize("words", [("backup", "create"), ("tenants", "export", "acme")])
def test_a_copy_that_cannot_be_written_is_refused_before_neo4j_starts(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = command(*words, str(tmp_path / "none" / "acme.copy"))
    said = f"Error: There is no folder {tmp_path / 'none'}; make it before.\n"
    assert (done.code, done.err) == (2, said)
    assert not (tmp_path / "home").exists()


def test_a_history_without_decisions_says_so(command: Command, service: StubService) -> None:
    service.routes["GET /v1/decisions"] = 200, {"items": []}
    assert command("facts", "history").out == "There are no decisions.\n"


@pytest.mark.parametrize("words", [("recal", "x"), ("recall",), ("recall", "x", "--nope")])
def test_wrong_use_ends_with_two(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words).code == 2


def test_the_version_is_told(command: Command) -> None:
    done = command("--version")
    assert done.code == 0
    assert done.out[0].isdigit()


@pytest.mark.parametrize(
    "words",
    [
        ["stats"],
        ["doctor"],
        ["recall", "hi"],
        ["tenants", "list"],
        ["jobs", "list"],
        ["facts", "list"],
    ],
)
def test_commands_call_the_service_of_their_environment_with_its_key(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.delenv("ECPHORIA_URL")
    monkeypatch.setenv("ECPHORIA_SERVER__PORT", service.url.rpartition(":")[2])
    monkeypatch.setenv("ECPHORIA_AUTH__BOOTSTRAP_KEY", "b" * 32)
    command(*words)
    assert {seen.get("Authorization", seen.get("authorization")) for seen in service.headers} == {
        f"Bearer {'b' * 32}"
    }
    service.seen.clear()
    command(*words, "--server", "http://127.0.0.1:1")
    assert not service.seen


@pytest.mark.parametrize("address", ["127.0.0.1:8765", "memory.example.org", "eck_secret", ""])
def test_an_address_without_a_scheme_names_the_option(command: Command, address: str) -> None:
    done = command("recall", "x", "--server", address)
    assert done.code == 2
    assert "--server (or ECPHORIA_URL) is the address of a service with its scheme" in done.err
    assert "eck_secret" not in done.err


@pytest.mark.parametrize("words", ["serve --port 0", "worker", "neo4j up", "demo --port 0"])
def test_a_home_that_cannot_be_written_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.delenv("ECPHORIA_NEO4J__URI", raising=False)
    done = command(*words.split(), "--home", "/proc/nowhere")
    assert done.code == 1
    assert "/proc/nowhere" in done.err
    assert "fault in Ecphoria" not in done.err


def test_a_port_in_use_is_said_before_anything_is_imported(
    command: Command, service: StubService
) -> None:
    port = service.url.rpartition(":")[2]
    loaded = set(sys.modules)
    done = command("serve", "--port", port)
    assert done.code == 1
    assert f"Cannot listen on 127.0.0.1 port {port}" in done.err
    assert "Stop the program that does, or choose another port by --port" in done.err
    assert "ecphoria.cli.serve" in loaded or "ecphoria.cli.serve" not in sys.modules


def test_the_help_has_no_types_of_switches_and_no_braces(command: Command) -> None:
    for name in ("", *LEAVES):
        text = command(*name.split(), "--help").out
        assert "<bool>" not in text, name
        assert "{" not in text.partition("Options")[0], name


def test_an_address_of_another_machine_is_told_as_such(command: Command) -> None:
    done = command("serve", "--host", "192.0.2.1", "--port", "0")
    assert done.code == 1
    assert "Give an address of this machine by --host" in done.err
    assert "Stop the program" not in done.err


def test_a_memory_without_a_speaker_shows_its_role(command: Command, service: StubService) -> None:
    chat = episode("a", "Feed it with rye.") | {
        "speaker": None, "role": "assistant", "source": "chatgpt",
    }  # fmt: skip
    service.routes["GET /v1/episodes"] = 200, {"items": [chat]}
    assert "assistant  Feed it with rye." in command("list").out
    found = answer()
    first_hit(found)["episode"] = chat
    service.routes["POST /v1/recall"] = 200, found
    assert "assistant  5 Sep 2025  Feed it with rye." in command("recall", "rye?").out


def test_show_tells_how_to_see_what_is_no_episode(command: Command) -> None:
    done = command("show", "concept:Mara")
    assert done.code == 1
    assert "`ecphoria trace ID` shows a recall, `show ID --around` a concept" in done.err


def test_the_edges_around_a_session_are_in_the_order_of_time(
    command: Command, service: StubService
) -> None:
    service.routes["GET /v1/graph"] = 200, {
        "nodes": {
            "id": ["b", "c", "a"], "kind": ["episode", "concept", "episode"],
            "label": ["second", "Mara", "first"], "hop": [0, 1, 1], "speaker": [None] * 3,
            "session": ["s", None, "s"], "ordinal": [1, None, 0],
            "occurred_at": ["2026-03-02T09:00:00Z", None, "2026-03-01T09:00:00Z"],
            "state": ["live", None, "live"],
        },
        "edges": {
            "tail": [0, 0, 2, 2], "head": [1, 2, 1, 0], "weight": [1.0, 0.25, 1.0, 0.5],
            "type": ["MENTIONS", "SIMILAR", "MENTIONS", "NEXT"],
        },
        "left_out": 0,
    }  # fmt: skip
    done = command("show", "session:s", "--around")
    assert done.code == 0, done.err
    assert [line.split() for line in done.out.splitlines()[1:]] == [
        ["first", "MENTIONS", "Mara", "1.00"],
        ["first", "NEXT", "second", "0.50"],
        ["second", "MENTIONS", "Mara", "1.00"],
        ["second", "SIMILAR", "first", "0.25"],
    ]


def test_after_a_change_of_the_model_all_settings_of_the_next_start_are_told(
    command: Command, service: StubService
) -> None:
    change = {
        "state": "done", "provider": "openai", "model": "small", "dimension": 256, "done": 9,
        "total": 9, "started_at": "2026-01-01T00:00:00Z", "switched_at": "2026-01-01T00:01:00Z",
    }  # fmt: skip
    service.routes["GET /v1/embedding"] = 200, change
    told = command("reembed", "--status").out.split(":\n")[-1].split()
    assert told == [
        "ECPHORIA_EMBEDDER__PROVIDER=openai", "ECPHORIA_EMBEDDER__MODEL=small",
        "ECPHORIA_EMBEDDER__DIMENSION=256",
    ]  # fmt: skip
    there = {"request_dimension": True, "base_url": "http://[::1]:9000/v1"}
    service.routes["GET /v1/embedding"] = 200, change | there
    assert command("reembed", "--status").out.split()[-2:] == [
        "ECPHORIA_EMBEDDER__REQUEST_DIMENSION=true",
        "ECPHORIA_EMBEDDER__BASE_URL=http://[::1]:9000/v1",
    ]
