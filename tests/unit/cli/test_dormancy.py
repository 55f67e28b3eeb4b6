"""Commands of dormancy, against a stub service."""

from tests.unit.cli.conftest import COUNTS, Command, StubService


def test_what_sleeps_is_listed_with_the_reason(command: Command, service: StubService) -> None:
    sleeper = {
        "id": "a" * 32,
        "turn": 1,
        "text": "The bus was\nlate.",
        "occurred_at": "2025-01-01T00:00:00Z",
        "dormant_at": "2026-02-03T00:00:00Z",
        "reason": "by request",
    }
    pages = iter(({"items": [sleeper], "next_cursor": "4"}, {"items": [sleeper]}))
    service.routes["GET /v1/dormancy"] = lambda _: (200, next(pages))
    service.routes["GET /v1/stats"] = 200, COUNTS | {"archived": 3}
    done = command("dormancy", "list")
    assert done.code == 0
    assert "2026-02-03" in done.out
    assert done.err == "3 more memories are archived: ecphoria archive list\n"
    assert done.out.count("by request") == 2
    assert "The bus was late." in " ".join(done.out.split())


def test_nothing_sleeps(command: Command, service: StubService) -> None:
    service.routes["GET /v1/dormancy"] = 200, {"items": []}
    service.routes["GET /v1/stats"] = 200, COUNTS
    assert command("dormancy", "list").out == "Nothing is dormant.\n"


def test_sleep_and_wake_tell_how_many(command: Command, service: StubService) -> None:
    service.routes["POST /v1/dormancy/sleep"] = 200, {"ids": ["a", "b"]}
    service.routes["POST /v1/dormancy/wake"] = 200, {"ids": []}
    slept = command("dormancy", "sleep", "a", "b")
    assert (slept.code, slept.out, slept.err) == (0, "2 memories made dormant\n", "")
    woken = command("dormancy", "wake", "a", "b")
    assert (woken.code, woken.out) == (1, "0 memories live again\n")
    assert woken.err == "Not changed, because unknown or live already: a b\n"
    assert [body for _, _, body in service.seen] == [{"ids": ["a", "b"]}] * 2
    service.routes["POST /v1/dormancy/sleep"] = 200, {"ids": []}
    refused = command("dormancy", "sleep", "a").err
    assert refused == "Not changed, because unknown, pinned or not live: a\n"


def test_the_usage_names_a_list_of_ids(command: Command) -> None:
    assert "sleep [OPTIONS] ID...\n" in command("dormancy", "sleep").err
    assert "forget [OPTIONS] [ID]...\n" in command("forget", "--nope").err


def test_a_pin_is_put_and_taken(command: Command, service: StubService) -> None:
    service.routes["PUT /v1/episodes/a/pin"] = service.routes["DELETE /v1/episodes/a/pin"] = (
        204,
        "",
    )
    assert command("dormancy", "pin", "a").out == "Pinned.\n"
    assert command("dormancy", "pin", "a", "--off").out == "No longer pinned.\n"
