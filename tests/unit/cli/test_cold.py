"""Commands of the archive, against a stub service."""

from tests.unit.cli.conftest import Command, StubService


def test_an_empty_list_tells_whether_it_was_filtered(
    command: Command, service: StubService
) -> None:
    service.routes["GET /v1/archive"] = 200, {"items": []}
    assert command("archive", "list").out == "Nothing is archived.\n"
    assert command("archive", "list", "--session", "s").out == "No such memory is archived.\n"


def test_archive_tells_how_many(command: Command, service: StubService) -> None:
    service.routes["POST /v1/archive"] = 200, {"archived": 1234}
    assert command("archive", "add", "--days", "30").out == "1,234 archived\n"
    assert service.seen[-1][2] == {"days": 30}


def test_restore_names_what_is_damaged(command: Command, service: StubService) -> None:
    service.routes["POST /v1/archive/restore"] = 200, {"restored": ["a"], "damaged": []}
    done = command("archive", "restore", "a")
    assert (done.code, done.out) == (0, "1 restored\n")
    service.routes["POST /v1/archive/restore"] = 200, {"restored": [], "damaged": ["b"]}
    done = command("archive", "restore", "b")
    assert done.code == 1
    assert done.out.splitlines()[-1] == "b"
    unknown = command("archive", "restore", "b", "nope", "--json")
    assert unknown.code == 1
    assert unknown.err == "Not in the archive: nope\n"
