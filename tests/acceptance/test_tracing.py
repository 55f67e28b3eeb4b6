"""Spans of real requests, as a collector receives them."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ecphoria.settings import TracingSettings
from tests.acceptance.conftest import new_owner, running, settings_for
from tests.conftest import Server

CALLER = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
HIDDEN = ("xylophone", "Quillfeather", "velvet")


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A place that takes OTLP over HTTP, its address, and what it took."""
    taken: list[bytes] = []

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            taken.append(gzip.decompress(body) if packed else body)
            assert self.path == "/v1/traces"
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taker) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", taken
        server.shutdown()
        thread.join()


def value(span: Span, key: str) -> str:
    return str(next(each.value.string_value for each in span.attributes if each.key == key))


def test_a_recall_is_one_trace_of_named_queries_without_its_words(
    neo4j_server: Server, tmp_path: Path
) -> None:
    with collector() as (address, taken):
        settings = settings_for(
            neo4j_server, tmp_path, tracing=TracingSettings(endpoint=f"{address}/")
        )
        headers = {"Authorization": f"Bearer {settings.auth.bootstrap_key.get_secret_value()}"}  # type: ignore[union-attr]  # settings_for sets it
        with (
            running(settings) as service,
            httpx.Client(base_url=service.url, headers=headers, timeout=60) as operator,
            new_owner(operator) as owner,
        ):
            owner.remember("The password is xylophone.", speaker="Quillfeather", session="velvet")
            asked = owner.post(
                "/v1/recall", json={"cue": "xylophone"}, headers={"traceparent": CALLER}
            )
            assert asked.status_code == 200
            owner.texts(session="velvet")
            owner.get("/velvet/xylophone")
            key = owner.key
    received = b"".join(taken)
    for hidden in (*HIDDEN, owner.name, key, neo4j_server.password):
        assert hidden.encode() not in received
    spans = [
        span
        for body in taken
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = {span.name for span in spans}
    assert {"POST /v1/episodes", "GET /v1/episodes", "GET (no such path)"} <= names
    (recall,) = [span for span in spans if span.name == "POST /v1/recall"]
    assert recall.trace_id.hex() == CALLER[3:35]
    assert recall.parent_span_id.hex() == CALLER[36:52]
    assert value(recall, "ecphoria.request_id") == asked.headers["X-Request-Id"]
    inside = {span.name for span in spans if span.parent_span_id == recall.span_id}
    assert {"recall.load_lexicon", "recall.seeds_by_vector"} <= inside


@pytest.mark.parametrize("endpoint", ["localhost:4318", "grpc://localhost:4317"])
def test_an_address_that_is_not_http_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match="endpoint"):
        TracingSettings(endpoint=endpoint)
