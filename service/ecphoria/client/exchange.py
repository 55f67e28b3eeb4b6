"""The values of one HTTP exchange: the request, its retries, and the error of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from math import inf
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import ValidationError

from ecphoria import records
from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    InvalidInput,
    Timeout,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from ecphoria.records.answered import adapter
from ecphoria.records.asked import read_as, to_body
from ecphoria.wire.base import (
    BOOKMARKS_HEADER,
    Patch,
    Problem,
    error_from,
    field_problems,
    problem_type,
)

_Body = TypeVar("_Body")

_LONGEST_PAUSE_S = 8.0
_PASSING = frozenset({502, 503, 504})
_APPENDS = frozenset({"/v1/episodes", "/v1/episodes/batch"})
_READS = frozenset(
    {"/v1/recall", "/v1/ask", "/v1/ask/stream", "/v1/items/find", "/v1/items/search",
     "/v1/items/namespaces", "/v1/dormancy/preview"}
)  # fmt: skip
"""Paths of calls that read by POST."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to make.

    Attributes:
        body: A record, or bytes that are JSON already.
        repeatable: Whether sending it twice does no more than sending it once.
        timeout_s: Longest to wait for the answer; the client's own if None.
    """

    method: str
    path: str
    _: KW_ONLY
    body: object = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    repeatable: bool = True
    timeout_s: float | None = None

    def query(self) -> dict[str, str | int | list[str]]:
        """Give the parameters that have a value."""
        given = {name: value for name, value in self.parameters.items() if value is not None}
        return {name: _spelled(value) for name, value in given.items()}

    def headers(self) -> dict[str, str]:
        """Give the headers that belong to this call alone."""
        return {} if self.body is None else {"Content-Type": "application/json"}

    def content(self) -> bytes | None:
        """Spell the body, leaving out the fields that were not given."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return to_body(self.body, whole=isinstance(self.body, Patch))


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """The number of retries of a repeatable call, and the pauses.

    The pause doubles from `first_pause_s`; an answer's `Retry-After` can only lengthen it.
    """

    limit: int = 2
    first_pause_s: float = 0.25

    def allow(self, call: Call, attempt: int, failure: EcphoriaError) -> bool:
        """Tell whether to send again after attempt number `attempt`, counted from 0.

        A call that timed out would take as long again, so it is not repeated. A call that was
        refused for its rate was not begun, so it may always be repeated.
        """
        if isinstance(failure, TooManyRequests):
            return attempt < self.limit
        passing = isinstance(failure, Unavailable) and not isinstance(failure, Timeout)
        return call.repeatable and passing and attempt < self.limit

    def pause_s(self, attempt: int, answer: httpx.Response | None) -> float:
        """Give the seconds to wait after attempt number `attempt`."""
        asked: str = answer.headers.get("Retry-After", "") if answer is not None else ""
        wanted = float(asked) if asked.isdecimal() else 0.0
        return min(max(self.first_pause_s * 2.0**attempt, wanted), _LONGEST_PAUSE_S)


class Bookmarks:
    """The writes that a client's next calls must see, also from another service (decision 0115).

    Answers from a store in a cluster of Neo4j name them; without a cluster there are none.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def sent(self) -> dict[str, str]:
        """Give the header of a call."""
        return {BOOKMARKS_HEADER: ",".join(sorted(self._known))} if self._known else {}

    def learn(self, answer: httpx.Response) -> None:
        """Replace the bookmarks that a call sent by those of its answer, if it has some."""
        told = _bookmarks_of(answer.headers)
        if told:
            # Added first, so that no thread meanwhile sends a call without either.
            self._known.update(told)
            self._known.difference_update(_bookmarks_of(answer.request.headers) - told)


def _bookmarks_of(headers: httpx.Headers) -> frozenset[str]:
    return frozenset(filter(None, headers.get(BOOKMARKS_HEADER, "").split(",")))


def address_of(base_url: str) -> str:
    """Check the address of a service; the error does not repeat it, as it may be a key.

    Raises:
        InvalidInput: It is no address.
    """
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        raise InvalidInput(
            "The first argument is the address of the service, such as http://127.0.0.1:8765; "
            "give the key as `api_key`.",
            field="base_url",
        )
    return trimmed(base_url)


def trimmed(base_url: str) -> str:
    """Leave out slashes at the end of an address, and the `/v1` with which each path begins."""
    return base_url.rstrip("/").removesuffix("/v1")


def header_text(name: str, value: str) -> str:
    """Check a text that goes into a header; the error does not repeat it, as it may be a key.

    Raises:
        InvalidInput: No header can carry it.
    """
    if not (value.isascii() and value.isprintable()):
        raise InvalidInput(
            f"`{name}` holds a character that no header can carry; check how it was copied. Names "
            "of tenants have small letters, digits, `-` and `_`.",
            field=name,
        )
    return value


def checked_tenant(tenant: str) -> str:
    """Check the name of a tenant that a caller gives.

    Raises:
        InvalidInput: It is empty, or no header can carry it.
    """
    if not tenant:
        # Else it would silently be the default tenant.
        raise InvalidInput("`tenant` is empty; name one, or leave it out.", field="tenant")
    return header_text("tenant", tenant)


def check_timeout(timeout: float | None) -> None:
    """Check the seconds that a caller waits for an answer; None waits without end.

    Raises:
        InvalidInput: It is no finite number above 0.
    """
    if timeout is not None and not 0 < timeout < inf:
        raise InvalidInput(
            f"`timeout` is {timeout}; give the seconds to wait, a finite number above 0.",
            field="timeout",
        )


def unreachable(base_url: str, call: Call, cause: httpx.TransportError) -> EcphoriaError:
    """Make the error of a call that got no answer."""
    if isinstance(cause, httpx.TimeoutException) and not isinstance(cause, httpx.ConnectTimeout):
        said = f"The service at {base_url} did not answer in time"
        if call.method != "GET" and call.path not in _READS:
            said += "; it may still do what was asked"
        said += ". Repeat the call, or give the client a longer `timeout`."
        if call.method == "POST" and call.path in _APPENDS:
            said += (
                " An append that is sent again with the same `idempotency_key` is stored once. "
                "Without a key of yours it may be stored twice."
            )
        return Timeout(said, url=base_url)
    # Without the cause, an unknown name or a certificate looks like a service that does not run.
    why = f" ({cause})" if str(cause) else ""
    return Unavailable(
        f"No Ecphoria service answers at {base_url}{why}; start one with `ecphoria serve`, or give"
        " the address of one that runs.",
        url=base_url,
    )


def unaddressable(cause: httpx.InvalidURL | UnicodeEncodeError) -> InvalidInput:
    """Make the error of a text that cannot stand in an address."""
    is_long = isinstance(cause, httpx.InvalidURL)
    why = "is too long" if is_long else "holds half of a surrogate pair"
    return InvalidInput(f"A name, an id or a filter {why}; check what you send.")


def unusable(cause: ValidationError) -> InvalidInput:
    """Make the error of an argument that cannot be sent, in the words of the service."""
    found = field_problems(cause.errors(), "#")
    said = " ".join(f"`{problem.pointer[2:]}`: {problem.detail}" for problem in found)
    said = said.removeprefix("``: ")  # of the whole body
    said = said.replace("`filters.", "`")  # a filter is an argument of its own here
    return InvalidInput(said, field=found[0].pointer)


def error_of(answer: httpx.Response, about_key: str = "") -> EcphoriaError:
    """Turn an answer that is no success into the error the service raised.

    `about_key` says where the key of the call is from, for one that is refused.
    """
    try:
        error = error_from(Problem.model_validate_json(answer.content))
    except ValidationError:
        kind = Unavailable if answer.status_code in _PASSING else EcphoriaError
        return _strange(answer, "without a problem document", kind)
    if about_key and isinstance(error, Unauthenticated):
        return Unauthenticated(f"{error.message} {about_key}", **error.fields)
    return error


def read(answer_type: type[_Body], answer: httpx.Response) -> _Body:
    """Read the answer of a call that succeeded.

    Raises:
        EcphoriaError: It is none of the service's, such as the page of a proxy.
    """
    try:
        found: _Body = adapter(answer_type).validate_json(answer.content)
    except ValidationError as error:
        raise _strange(answer, "in another form than expected") from error
    return found


def _strange(
    answer: httpx.Response, what: str, kind: type[EcphoriaError] = EcphoriaError
) -> EcphoriaError:
    return kind(
        f"{answer.url} answered {answer.status_code} {what}; is it the address of an Ecphoria"
        " service?",
        status=answer.status_code,
    )


def failure_of(job: records.job.Job) -> EcphoriaError:
    """Turn a job that ended without being done into the error it failed with."""
    if job.fault is None:
        return Conflict(f"The job was {job.state}; retry it, or queue a new one.", job=job.id)
    problem = Problem(
        type=problem_type(job.fault.code), title="", status=0, detail=job.fault.message,
        fields={"job": job.id},
    )  # fmt: skip
    return error_from(problem)


def late(job: records.job.Job, waited_s: float) -> Timeout:
    """Make the error of a job that did not end in time."""
    said = "it goes on all the same; wait longer, or look at `GET /v1/jobs`."
    if not job.attempts:
        said = "no worker has taken it yet; if none runs, start one with `ecphoria worker`."
    return Timeout(f"The job is {job.state} after {waited_s:.0f} s: {said}", job=job.id)


def change_late(change: records.embedding.Reembedding, waited_s: float) -> Timeout:
    """Make the error of a change of the embedding model that did not end in time."""
    count = f", {change.done} of {change.total} vectors" if change.total else ""
    return Timeout(
        f"The change to {change.model} is {change.state}{count} after {waited_s:.0f} s: it goes "
        "on all the same; wait longer, or look at `GET /v1/embedding`."
    )


def body_of(model: type[_Body], /, **given: object) -> _Body:
    """Make a body of the values that are not None.

    Raises:
        InvalidInput: The model refuses one of them.
    """
    return body_with(model, {name: value for name, value in given.items() if value is not None})


def body_with(model: type[_Body], given: Mapping[str, object]) -> _Body:
    """Make a body of values, None among them.

    Raises:
        InvalidInput: The model refuses one of them.
    """
    try:
        return read_as(model, given)
    except ValidationError as error:
        raise unusable(error) from error


def segment(text: str) -> str:
    """Quote a text so that it is one step of a path.

    Raises:
        InvalidInput: It is empty, would be left out of the path, or is not well-formed Unicode.
    """
    if not isinstance(text, str) or text in {"", ".", ".."}:
        raise InvalidInput(
            "An id or a name is no text, is empty, or is `.` or `..`; check what you send."
        )
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as error:
        raise unaddressable(error) from error


def _spelled(value: object) -> str | int | list[str]:
    """Spell a value for the query part of an address."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        # An empty list would not be sent at all, and all episodes would be listed.
        return [str(one) for one in value] or ""
    return value if isinstance(value, int) else str(value)


def converted(make: Callable[[Any], object], value: object) -> object:
    """Convert a value of another library; one that cannot be converted is refused by its body."""
    try:
        return make(value)
    except (TypeError, ValueError, OverflowError):
        return value


def keyed(episode: records.episode.NewEpisode) -> records.episode.NewEpisode:
    """Give an episode a key, so that sending it again is safe.

    A document or a dated turn needs none: its content is its key. A note may be meant twice, so
    only a key tells whether the same note was sent again.

    Raises:
        InvalidInput: It is something else, such as a dictionary.
    """
    if not isinstance(episode, records.episode.NewEpisode):
        raise InvalidInput(
            "Send a `NewEpisode`; `NewEpisode(**fields)` makes one of a dictionary."
        )
    settled = episode.idempotency_key or episode.title or episode.occurred_at
    return episode if settled else replace(episode, idempotency_key=uuid4().hex)
