"""Logs, metrics and spans for the operator.

Events are names with ids and numbers. Memory text, cues and secrets are never logged; an
exception is logged by its class and its frames, because its message may quote either.
"""

import asyncio
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, TextIO

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from structlog.typing import EventDict, Processor, WrappedLogger

from ecphoria.errors import Misconfigured, install

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer


_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LONG = (*_SHORT[3:], 30.0, 60.0)
_SHARES = tuple(tenth / 10 for tenth in range(11))
_SERVER_ERROR = 500
_HANDLER = "ecphoria"
_DETAILS = frozenset({"timestamp", "request_id", "raised"})
"""Fields of a record that the form `brief` omits."""
_FOREIGN = ("neo4j", "httpx", "httpcore", "openai", "asyncio", "uvicorn.access")


class Metrics:
    """Every figure the service publishes, in the registry given."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        self._requests = Histogram(
            "ecphoria_request_seconds",
            "Time to answer a request, by method, route and status.",
            ("method", "route", "status"),
            buckets=_LONG,
            registry=registry,
        )
        self._waiting = _waiting_figure(registry)
        self._refusals = Counter(
            "ecphoria_refusals",
            "Requests and batch items answered with a problem, by its code.",
            ("code",),
            registry=registry,
        )
        self._queries = Histogram(
            "ecphoria_query_seconds",
            "Time a named query took, its retries included.",
            ("query",),
            buckets=_SHORT,
            registry=registry,
        )
        self._phases = Histogram(
            "ecphoria_recall_phase_seconds",
            "Time a recall spent in each phase, by strategy.",
            ("strategy", "phase"),
            buckets=_SHORT,
            registry=registry,
        )
        self._recalls = Counter(
            "ecphoria_recalls",
            "Recalls answered, by strategy and by what the gate said.",
            ("strategy", "verdict"),
            registry=registry,
        )
        self._tokens = _tokens_figure(registry)
        self._episodes = Counter(
            "ecphoria_episodes",
            "Episodes acknowledged, by outcome.",
            ("outcome",),
            registry=registry,
        )
        self._effects = _effects_figure(registry)
        self._shadows, self._agreement, self._shadow_seconds = _shadow_figures(registry)
        self._jobs, self._steps, self._stored_jobs = _job_figures(registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request under its route's template, never its path."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def waited(self, kind: str, seconds: float) -> None:
        """Count a request that was given its turn."""
        self._waiting.labels(kind).observe(seconds)

    def refusal(self, code: str, count: int = 1) -> None:
        """Count problem documents."""
        self._refusals.labels(code).inc(count)

    def query(self, name: str, seconds: float) -> None:
        """Count a named query."""
        self._queries.labels(name).observe(seconds)

    def recall(self, strategy: str, verdict: str, phases_ms: Mapping[str, float]) -> None:
        """Count a recall and its phases."""
        self._recalls.labels(strategy, verdict).inc()
        for phase, milliseconds in phases_ms.items():
            self._phases.labels(strategy, phase).observe(milliseconds / 1_000)

    def episodes(self, outcome: str, number: int = 1) -> None:
        """Count acknowledged episodes."""
        self._episodes.labels(outcome).inc(number)

    def effects(self, outcome: str) -> None:
        """Count a recall that was to be learned from."""
        self._effects.labels(outcome).inc()

    def shadow(self, strategy: str, outcome: str) -> None:
        """Count a recall of a shadow's sample."""
        self._shadows.labels(strategy, outcome).inc()

    def agreement(self, strategy: str, overlap: float, live_ms: float, shadow_ms: float) -> None:
        """Count how an answer and its shadow compare."""
        self._agreement.labels(strategy).observe(overlap)
        self._shadow_seconds.labels(strategy, "live").observe(live_ms / 1_000)
        self._shadow_seconds.labels(strategy, "shadow").observe(shadow_ms / 1_000)

    def job(self, kind: str, state: str) -> None:
        """Count a job that ended."""
        self._jobs.labels(kind, state).inc()

    def stored_jobs(self, state: str, number: int) -> None:
        """Tell how many jobs the store has in a state."""
        self._stored_jobs.labels(state).set(number)

    def step(self, kind: str, name: str, seconds: float) -> None:
        """Count a step of a cycle that ended."""
        self._steps.labels(kind, name).observe(seconds)

    def tokens(self, purpose: str, direction: str, number: int) -> None:
        """Count the tokens that a language model read or wrote."""
        self._tokens.labels(purpose, direction).inc(number)


def _job_figures(registry: CollectorRegistry) -> tuple[Counter, Histogram, Gauge]:
    jobs = Counter(
        "ecphoria_jobs",
        "Jobs that ended in this process, by kind and by how: done, failed, cancelled or dead.",
        ("kind", "state"),
        registry=registry,
    )
    steps = Histogram(
        "ecphoria_step_seconds",
        "Time a step of consolidation took, by the kind of its job.",
        ("kind", "step"),
        buckets=_LONG,
        registry=registry,
    )
    stored = Gauge(
        "ecphoria_stored_jobs",
        "Jobs in the store by state, of all tenants, when this process last looked; the latest"
        " ended ones are kept.",
        ("state",),
        registry=registry,
    )
    return jobs, steps, stored


def _waiting_figure(registry: CollectorRegistry) -> Histogram:
    return Histogram(
        "ecphoria_waiting_seconds",
        "Time a request waited for its turn, by kind: short, or bulk for batches.",
        ("kind",),
        buckets=_SHORT,
        registry=registry,
    )


def _tokens_figure(registry: CollectorRegistry) -> Counter:
    return Counter(
        "ecphoria_llm_tokens",
        "Tokens of a language model, as its endpoint counts them, by purpose (ask, cue, extract,"
        " session, cluster) and direction (read, written).",
        ("purpose", "direction"),
        registry=registry,
    )


def _effects_figure(registry: CollectorRegistry) -> Counter:
    return Counter(
        "ecphoria_effects",
        "Recalls of learning tenants, by what came of them: applied, gone because another service"
        " was first or learning was switched off, or failed.",
        ("outcome",),
        registry=registry,
    )


def _shadow_figures(registry: CollectorRegistry) -> tuple[Counter, Histogram, Histogram]:
    shadows = Counter(
        "ecphoria_shadows",
        "Recalls of a shadow's sample, by its strategy and by what came of them: compared,"
        " dropped because too many waited, or failed.",
        ("strategy", "outcome"),
        registry=registry,
    )
    agreement = Histogram(
        "ecphoria_shadow_overlap",
        "Share of the hits that an answer and its shadow have in common, by the shadow's"
        " strategy.",
        ("strategy",),
        buckets=_SHARES,
        registry=registry,
    )
    seconds = Histogram(
        "ecphoria_shadow_seconds",
        "Time of compared recalls without the encoder, by the shadow's strategy, of the side:"
        " live or shadow.",
        ("strategy", "side"),
        buckets=_SHORT,
        registry=registry,
    )
    return shadows, agreement, seconds


class Spans:
    """Spans for OpenTelemetry at the seams: the request and the named query.

    They carry names, ids and numbers; of an error its class alone, for its message may quote a
    memory. Without a tracer there are none, and OpenTelemetry is not imported.
    """

    def __init__(self, tracer: "Tracer | None" = None) -> None:
        self._tracer = tracer

    @contextmanager
    def request(
        self, method: str, headers: Mapping[str, str]
    ) -> Iterator[Callable[[str, int, str], None]]:
        """Span a request; a `traceparent` among its headers is the parent.

        Yields a function to call at the end, with the route's template, the status and the
        request's id.
        """
        if self._tracer is None:
            yield lambda _route, _status, _id: None
            return
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 (optional extra)
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        with self._tracer.start_as_current_span(
            method,
            context=TraceContextTextMapPropagator().extract(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            def describe(route: str, status: int, request_id: str) -> None:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
                span.set_attribute("http.response.status_code", status)
                span.set_attribute("ecphoria.request_id", request_id)
                if status >= _SERVER_ERROR:
                    _fail(span, str(status))

            try:
                yield describe
            except BaseException as error:
                _fail(span, type(error).__name__)
                raise

    @contextmanager
    def query(self, name: str) -> Iterator[None]:
        """Span a named query, or a transaction of several, its retries included."""
        if self._tracer is None:
            yield
            return
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 (optional extra)

        with self._tracer.start_as_current_span(
            name,
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": "neo4j", "db.query.summary": name},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                _fail(span, type(error).__name__)
                raise


def _fail(span: "Span", kind: str) -> None:
    from opentelemetry.trace import StatusCode  # noqa: PLC0415 (optional extra)

    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def configure_logging(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send our events and every library's log lines to one stream in one form.

    Args:
        level: debug, info, warning, error or critical; libraries that could quote a request
            log nothing below a warning.
        form: console, brief (the same without times, ids of requests and frames), json, or auto
            (console on a terminal).
        stream: Where to; standard error if None.
    """
    stream = stream or sys.stderr
    if form == "auto":
        form = "console" if stream.isatty() else "json"
    readable = structlog.dev.ConsoleRenderer(colors=stream.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _frames_only,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.name = _HANDLER
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *([_in_brief] if form == "brief" else []),
                structlog.processors.JSONRenderer() if form == "json" else readable,
            ],
        )
    )
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if each.name == _HANDLER]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in _FOREIGN:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def log_through_standard_library() -> None:
    """Hand our events to `logging`, where the program that we are part of decides about them.

    A program that has configured structlog itself is left alone.
    """
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            _frames_only,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _frames_only(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace an exception by the classes and frames of its chain."""
    raised = event.pop("exc_info", None)
    if raised is True:
        raised = sys.exc_info()
    error = raised[1] if isinstance(raised, tuple) else raised
    chain: list[str] = []
    while isinstance(error, BaseException) and len(chain) < 8:
        frames = traceback.extract_tb(error.__traceback__)
        places = " < ".join(f"{f.name} {f.filename}:{f.lineno}" for f in reversed(frames))
        chain.append(f"{type(error).__name__}: {places}")
        error = error.__cause__ or error.__context__
    if chain:
        event["raised"] = chain
    return event


def _in_brief(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Omit the fields that only an operator needs."""
    return {name: told for name, told in event.items() if name not in _DETAILS}


def open_spans(endpoint: str | None, sample: float, stack: AsyncExitStack) -> Spans:
    """Send spans to a collector, if one is set; the last leave when the stack is unwound.

    Args:
        endpoint: Address of a collector that speaks OTLP over HTTP.
        sample: Share of the requests that are traced.
        stack: Ends the sending.

    Raises:
        Misconfigured: OpenTelemetry is not installed.
    """
    if endpoint is None:
        return Spans()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 (optional extra)
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio  # noqa: PLC0415
    except ImportError as error:
        raise Misconfigured(
            f"ECPHORIA_TRACING__ENDPOINT needs OpenTelemetry: {install('otel')}, or unset it.",
            setting="ECPHORIA_TRACING__ENDPOINT",
        ) from error
    provider = TracerProvider(
        resource=Resource.create(
            {"service.name": "ecphoria", "service.version": version("ecphoria")}
        ),
        sampler=ParentBasedTraceIdRatio(sample),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    stack.push_async_callback(asyncio.to_thread, provider.shutdown)
    return Spans(provider.get_tracer("ecphoria"))
