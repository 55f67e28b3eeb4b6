"""Answer every error as a problem document (RFC 9457)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import Scope

from ecphoria import errors
from ecphoria.errors import EcphoriaError, InvalidInput, MethodNotAllowed, NotFound, TooLarge
from ecphoria.telemetry import Metrics
from ecphoria.wire.base import (
    PROBLEM_JSON,
    TOLD,
    FieldProblem,
    Problem,
    code_of,
    pointer,
    problem_type,
    saying,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The answer to an error class."""

    status: int
    title: str


PROBLEMS: Mapping[type[EcphoriaError], Kind] = {
    errors.EcphoriaError: Kind(status=500, title="Internal error"),
    errors.InvalidInput: Kind(status=422, title="Invalid input"),
    errors.UnknownStrategy: Kind(status=422, title="Unknown strategy"),
    errors.BadVector: Kind(status=422, title="Unusable vector"),
    errors.BadFile: Kind(status=422, title="Unreadable file"),
    errors.Unauthenticated: Kind(status=401, title="Not authenticated"),
    errors.Forbidden: Kind(status=403, title="Not allowed"),
    errors.NotFound: Kind(status=404, title="Not found"),
    errors.Conflict: Kind(status=409, title="Conflict"),
    errors.Erased: Kind(status=410, title="Erased"),
    errors.TooLarge: Kind(status=413, title="Too large"),
    errors.UnsupportedMediaType: Kind(status=415, title="Unsupported media type"),
    errors.MethodNotAllowed: Kind(status=405, title="Method not allowed"),
    errors.UnknownHost: Kind(status=421, title="Unknown host"),
    errors.TooManyRequests: Kind(status=429, title="Too many requests"),
    errors.Unavailable: Kind(status=503, title="Unavailable"),
    errors.StoreUnavailable: Kind(status=503, title="Store unavailable"),
    errors.OutcomeUnknown: Kind(status=503, title="Outcome unknown"),
    errors.Timeout: Kind(status=504, title="Timed out"),
    errors.EncoderUnavailable: Kind(status=503, title="Embedder unavailable"),
    errors.EmbedderChanged: Kind(status=503, title="Embedding model changed"),
    errors.ModelUnavailable: Kind(status=503, title="Language model unavailable"),
    errors.ModelMissing: Kind(status=501, title="No language model"),
    errors.ArchiveUnavailable: Kind(status=503, title="Archive unavailable"),
    errors.ArchiveDamaged: Kind(status=500, title="Archive damaged"),
    errors.Misconfigured: Kind(status=500, title="Misconfigured"),
    errors.StoreUnsuitable: Kind(status=500, title="Unsuitable store"),
    errors.EmbedderMismatch: Kind(status=500, title="Other embedding model"),
    errors.WeightsMismatch: Kind(status=500, title="Unexpected model files"),
    errors.EngineError: Kind(status=500, title="Local Neo4j failed"),
}
_BEHIND_A_KEY = (
    errors.InvalidInput,
    errors.Unauthenticated,
    errors.Forbidden,
    errors.NotFound,
    errors.TooManyRequests,
    errors.Unavailable,
    errors.StoreUnavailable,
    errors.OutcomeUnknown,
    errors.Timeout,
    errors.Misconfigured,
    errors.EcphoriaError,
)
_OF_THE_SERVER = (errors.ArchiveUnavailable,)
"""Errors whose messages name folders of the server; only the log has these."""
_MOVED: Final = {
    "/v1/consolidation/schedule": "`schedule` of /v1/settings",
    "/v1/dormancy/policy": "`dormancy` of /v1/settings",
    "/v1/expiry": "`expiry` of /v1/settings",
    "/v1/gate": "`gate` of /v1/settings",
    "/v1/learning": "`learning` of /v1/settings, its counts to /v1/stats",
    "/v1/promotion": "/v1/strategies/promotions",
    "/v1/shadow": "`trial` of /v1/settings, its report to /v1/strategies/trial",
    "/v1/shadow/report": "/v1/strategies/trial",
}
"""The new places of routes that moved."""
_READY: Final = "/readyz"
_RETRY_AFTER_S = {429: "1", 503: "2", 504: "5"}


def problem_of(error: EcphoriaError, root: str = "#") -> Problem:
    """Describe an error to a caller; of an internal error only its class.

    The pointer to the field at fault begins with `root`.
    """
    kind = PROBLEMS[type(error)]
    inside = kind.status == HTTPStatus.INTERNAL_SERVER_ERROR or isinstance(error, _OF_THE_SERVER)
    shown = type(error)() if inside else error
    fields = {} if kind.status >= HTTPStatus.INTERNAL_SERVER_ERROR else dict(shown.fields)
    field = fields.pop("field", None)
    faults: tuple[FieldProblem, ...] = ()
    if isinstance(field, str):
        faults = (FieldProblem(pointer=_place(field, root), detail=shown.message),)
    return Problem(
        type=problem_type(error.code),
        title=kind.title,
        status=kind.status,
        detail=shown.message,
        errors=faults,
        fields=fields,
    )


def invalid_problem(
    faults: tuple[FieldProblem, ...], cls: type[EcphoriaError] = InvalidInput
) -> Problem:
    """Describe the fields of a request that cannot be read; there is at least one."""
    more = f" ({len(faults) - 1} more in `errors`)" if len(faults) > 1 else ""
    problem = problem_of(cls(f"{faults[0].pointer}: {faults[0].detail}{more}"))
    return problem.model_copy(update={"errors": faults})


def render(problem: Problem, request_id: str | None, path: str | None) -> Response:
    """Write a problem as a response, with the headers its status calls for."""
    whole = problem.model_copy(update={"request_id": request_id, "instance": path})
    headers: dict[str, str] = {}
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status in _RETRY_AFTER_S:
        seconds = problem.fields.get("retry_after_s")
        headers["Retry-After"] = str(seconds or _RETRY_AFTER_S[problem.status])
    body = json.dumps(whole.model_dump(mode="json", exclude_defaults=True))
    return Response(body, status_code=problem.status, headers=headers, media_type=PROBLEM_JSON)


def install(app: FastAPI, metrics: Metrics) -> None:
    """Answer our errors, invalid bodies and unknown paths with problems."""

    def answer(request: Request, problem: Problem) -> Response:
        metrics.refusal(code_of(problem))
        return render(problem, request.scope.get("request_id"), request.url.path)

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, EcphoriaError)
        if request.url.path == _READY and isinstance(error, errors.Unavailable):
            # Expected while Neo4j starts, and a probe asks again and again.
            log.warning("not_ready", code=error.code, reason=error.message)
        else:
            report(error)
        return answer(request, problem_of(error))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(request, _unreadable(error))

    async def other(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        cause = error.__cause__
        # Raised while the framework read the body.
        if isinstance(cause, EcphoriaError):
            return await ours(request, cause)
        if isinstance(cause, RequestValidationError):
            return await invalid(request, cause)
        response = answer(request, _of_http(error, request.url.path))
        response.headers.update(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            response.headers["Allow"] = ", ".join(_methods(app, request.url.path))
        return response

    app.add_exception_handler(EcphoriaError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, other)


def report(error: EcphoriaError) -> None:
    """Log errors that concern the operator; refusals of bad requests are only counted."""
    status = PROBLEMS[type(error)].status
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request_failed", code=error.code, reason=error.message, exc_info=error)


def responses(*classes: type[EcphoriaError]) -> dict[int | str, dict[str, Any]]:
    """Document errors for OpenAPI, by status, each with an example."""
    documented: dict[int | str, dict[str, Any]] = {}
    for cls in classes:
        problem = problem_of(cls())
        entry = documented.setdefault(
            problem.status,
            {
                "description": HTTPStatus(problem.status).phrase,
                "content": {
                    PROBLEM_JSON: {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "examples": {},
                    }
                },
            },
        )
        entry["content"][PROBLEM_JSON]["examples"][cls.code] = {
            "summary": problem.title,
            "value": problem.model_dump(mode="json", exclude_defaults=True),
        }
    return documented


def guarded(*classes: type[EcphoriaError]) -> dict[int | str, dict[str, Any]]:
    """Document the errors of every endpoint behind a key, and these."""
    return responses(*_BEHIND_A_KEY, *classes)


def _place(field: str, root: str) -> str:
    return field if ":" in field else f"{root}/{field.replace('.', '/')}"


def _unreadable(error: RequestValidationError) -> Problem:
    found: dict[str, FieldProblem] = {}
    for each in error.errors():
        fault = _fault(each)
        found.setdefault(fault.pointer, fault)
    too_long = any(each["type"] == "too_long" for each in error.errors())
    return invalid_problem(tuple(found.values())[:TOLD], TooLarge if too_long else InvalidInput)


def _fault(error: ErrorDetails) -> FieldProblem:
    where, *rest = error["loc"] or ("body",)
    if error["type"] == "json_invalid" and where == "body":
        detail = f"The body is not valid JSON from character {rest[0]} on."
        return FieldProblem(pointer="#", detail=detail)
    if error["type"] == "missing" and where == "body" and not rest:
        return FieldProblem(pointer="#", detail="The body is empty; send JSON.")
    place = pointer(rest, "#") if where == "body" else f"{where}:{'/'.join(map(str, rest))}"
    return FieldProblem(pointer=place, detail=saying(error))


def _methods(app: FastAPI, path: str) -> list[str]:
    """List the methods of a path; the framework tells only those of its first route."""
    # A mounted folder takes every method, so it counts only where there is no route.
    own = [route for route in app.routes if not isinstance(route, Mount)]
    return _taken(own, path) or _taken(app.routes, path)


def _taken(routes: Sequence[BaseRoute], path: str) -> list[str]:
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        if _matches(routes, {"type": "http", "method": method, "path": path})
    ]


def _matches(routes: Iterable[BaseRoute], scope: Scope) -> bool:
    return any(route.matches(dict(scope))[0] is Match.FULL for route in routes)


def _of_http(error: HTTPException, path: str) -> Problem:
    if error.status_code == HTTPStatus.NOT_FOUND:
        if moved := _MOVED.get(path):
            return problem_of(NotFound(f"This path moved to {moved}."))
        return problem_of(
            NotFound("There is no such path; see /openapi.json for those there are.")
        )
    if error.status_code == HTTPStatus.BAD_REQUEST:  # the framework could not read the body
        return problem_of(InvalidInput("The body cannot be read; send JSON in UTF-8."))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return problem_of(MethodNotAllowed())
    status = HTTPStatus(error.status_code)
    return Problem(
        type="about:blank", title=status.phrase, status=status, detail=status.description
    )
