import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from ecphoria.telemetry import Spans, configure_logging


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log, as JSON lines; the set-up of other tests comes back afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    yield stream
    configure_logging("info", "json", stream)  # the levels of the libraries
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


def test_a_brief_record_is_one_line_without_times_and_frames(log: io.StringIO) -> None:
    configure_logging("warning", "brief", log)
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger().error("it_failed", code="unavailable", exc_info=ValueError("why"))
    assert log.getvalue().split() == ["[error", "]", "it_failed", "code=unavailable"]


def test_libraries_that_could_quote_a_request_stay_quiet(log: io.StringIO) -> None:
    configure_logging("debug", "json", log)
    for name in ("neo4j.io", "httpx", "openai", "uvicorn.access"):
        logging.getLogger(name).info("marmalade")
    assert log.getvalue() == ""


def test_libraries_keep_to_a_higher_level(log: io.StringIO) -> None:
    configure_logging("error", "json", log)
    logging.getLogger("neo4j").warning("the server has a notice")
    logging.getLogger("neo4j").error("the server is gone")
    assert [line["event"] for line in lines(log)] == ["the server is gone"]


def test_a_second_set_up_replaces_the_first(log: io.StringIO) -> None:
    configure_logging("info", "console", log)
    structlog.get_logger().info("said_once")
    assert log.getvalue().count("said_once") == 1


@pytest.fixture
def exported() -> InMemorySpanExporter:
    """What was exported."""
    return InMemorySpanExporter()


@pytest.fixture
def spans(exported: InMemorySpanExporter) -> Spans:
    """Spans that are exported as they end."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    return Spans(provider.get_tracer("test"))


def test_a_query_is_a_child_of_its_request_and_that_of_its_caller(
    spans: Spans, exported: InMemorySpanExporter
) -> None:
    caller = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
    with spans.request("POST", {"traceparent": caller}) as describe:
        with spans.query("recall.load_lexicon"):
            pass
        describe("/v1/recall", 200, "r-1")
    query, request = exported.get_finished_spans()
    assert (query.name, query.kind) == ("recall.load_lexicon", SpanKind.CLIENT)
    assert query.attributes == {
        "db.system.name": "neo4j",
        "db.query.summary": "recall.load_lexicon",
    }
    assert (request.name, request.kind) == ("POST /v1/recall", SpanKind.SERVER)
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "/v1/recall",
        "http.response.status_code": 200,
        "ecphoria.request_id": "r-1",
    }
    assert request.context is not None
    assert query.parent == request.context
    assert request.parent is not None
    assert f"{request.context.trace_id:032x}" == caller[3:35]
    assert f"{request.parent.span_id:016x}" == caller[36:52]
    assert request.status.status_code is query.status.status_code is StatusCode.UNSET


def test_a_failure_is_told_by_its_class_alone(
    spans: Spans, exported: InMemorySpanExporter
) -> None:
    with pytest.raises(ValueError, match="marmalade"), spans.query("ingest.append"):
        raise ValueError("marmalade")
    with pytest.raises(KeyError), spans.request("GET", {}):
        raise KeyError("marmalade")
    with spans.request("GET", {}) as describe:
        describe("/v1/stats", 503, "r-2")
    kinds = []
    for span in exported.get_finished_spans():
        assert "marmalade" not in span.to_json()
        assert span.events == ()
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes is not None
        kinds.append(span.attributes["error.type"])
    assert kinds == ["ValueError", "KeyError", "503"]


def test_without_a_tracer_there_is_nothing(exported: InMemorySpanExporter) -> None:
    with Spans().request("GET", {"traceparent": "nonsense"}) as describe, Spans().query("x"):
        describe("/v1/stats", 200, "r-3")
    assert exported.get_finished_spans() == ()
