import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from ecphoria.telemetry import configure_logging


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log, as JSON lines; the set-up of other tests comes back afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_events_carry_what_is_bound_to_the_request(log: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger().info("something_done", count=2)
        structlog.get_logger().debug("too_fine")
    (event,) = lines(log)
    assert event["event"] == "something_done"
    assert (event["request_id"], event["count"], event["level"]) == ("r-1", 2, "info")
    assert str(event["timestamp"]).endswith("Z")


def test_an_exception_is_logged_without_its_message(log: io.StringIO) -> None:
    def fail(found: dict[str, str]) -> None:
        try:
            found["marmalade"]
        except KeyError as inner:
            raise ValueError("more marmalade") from inner

    try:
        fail({})
    except ValueError:
        structlog.get_logger().exception("it_failed")
        logging.getLogger("library").exception("it failed there")
    assert "marmalade" not in log.getvalue()
    for event in lines(log):
        raised = event["raised"]
        assert isinstance(raised, list)
        assert [each.partition(":")[0] for each in raised] == ["ValueError", "KeyError"]
        assert "test_an_exception_is_logged" in raised[0]


def test_libraries_that_could_quote_a_request_stay_quiet(log: io.StringIO) -> None:
    configure_logging("debug", "json", log)
    for name in ("neo4j.io", "httpx", "openai", "uvicorn.access"):
        logging.getLogger(name).info("marmalade")
    assert log.getvalue() == ""


def test_a_second_set_up_replaces_the_first(log: io.StringIO) -> None:
    configure_logging("info", "console", log)
    structlog.get_logger().info("said_once")
    assert log.getvalue().count("said_once") == 1
