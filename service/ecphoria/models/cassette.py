"""A file of recorded answers of a language model, so that the same requests need no endpoint.

Each line is a JSON object: `request` (the hash of the request's body), `model`, `status`, `type`
and `body`. Neither headers, keys nor addresses are written.
"""

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import TypeAdapter, ValidationError

from ecphoria.errors import Misconfigured

_STREAM: Final = "text/event-stream"
_KEPT_TYPES: Final = frozenset({"application/json", _STREAM})
REFUSED_TEXTS: Final = frozenset({400, 413, 422})
"""Statuses by which an endpoint refuses a text or a form: the same request gets them again."""


class Unrecorded(httpx.TransportError):
    """The cassette has no answer to a request; the message gives the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A recorded answer.

    Attributes:
        request: Hash of the request, see `hash_of`.
        model: The model that was asked.
        type: Content type of the answer.
        body: Its text; empty for a refusal, which may quote the request.
    """

    request: str
    model: str
    status: int
    type: str
    body: str


_READER: Final = TypeAdapter(Exchange)


def hash_of(asked: object) -> str:
    """Hash a request's body, in whatever order its fields stand.

    >>> hash_of({"a": 1, "b": 2}) == hash_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


class Cassette(httpx.AsyncBaseTransport):
    """Answers requests from a file; asks for those that it lacks and adds them, or refuses.

    Failures that may pass, such as a used-up limit, are not recorded.
    """

    def __init__(self, path: Path, beyond: httpx.AsyncBaseTransport | None) -> None:
        """Read the file.

        Args:
            path: The file; without `beyond` it must exist.
            beyond: Sends the requests that the file lacks; None to send none.

        Raises:
            Misconfigured: The file cannot be read or written, or is no cassette.
        """
        self._path = path
        self._beyond = beyond
        self._known = _load(path, writable=beyond is not None)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request.

        Raises:
            Unrecorded: The file has no answer, and none may be asked for.
        """
        asked = json.loads(await request.aread())
        key = hash_of(asked)
        known = self._known.get(key)
        if known is None:
            if self._beyond is None:
                raise Unrecorded(
                    f"the cassette {self._path.name} has no answer to this request "
                    f"({key[:12]}); record it with ECPHORIA_TEST_LLM__RECORD"
                )
            answer = await self._beyond.handle_async_request(request)
            try:
                text = (await answer.aread()).decode(errors="replace")
            finally:
                await answer.aclose()
            known = _exchange(key, asked, answer, text)
            if not _is_kept(known):
                return httpx.Response(answer.status_code, headers=_plain(answer), text=text)
            self._keep(known)
        return httpx.Response(
            known.status, headers={"content-type": known.type}, content=known.body.encode()
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._beyond is not None:
            await self._beyond.aclose()

    def _keep(self, exchange: Exchange) -> None:
        self._known[exchange.request] = exchange
        line = json.dumps(asdict(exchange), ensure_ascii=False) + "\n"
        with self._path.open("ab") as file:
            file.write(line.encode())


def _exchange(key: str, asked: dict[str, Any], answer: httpx.Response, text: str) -> Exchange:
    is_refusal = answer.status_code in REFUSED_TEXTS
    return Exchange(
        request=key,
        model=str(asked.get("model", "")),
        status=answer.status_code,
        type=answer.headers.get("content-type", "").partition(";")[0],
        body="" if is_refusal else text,
    )


def _is_kept(exchange: Exchange) -> bool:
    if exchange.status in REFUSED_TEXTS:
        return True
    return exchange.status == HTTPStatus.OK and exchange.type in _KEPT_TYPES


def _plain(answer: httpx.Response) -> httpx.Headers:
    """Leave out what speaks of the encoding and length of the body before it was read."""
    headers = answer.headers.copy()
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    return headers


def _load(path: Path, *, writable: bool) -> dict[str, Exchange]:
    setting = "ECPHORIA_TEST_LLM__RECORD" if writable else "ECPHORIA_TEST_LLM__REPLAY"
    try:
        if writable:
            # It holds answers about memories, so that only its owner may read it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if writable and end < len(data):
            os.truncate(path, end)  # the last line of a process that was killed
    except OSError as error:
        raise Misconfigured(
            f"{setting}: {path.name} cannot be opened ({error.strerror}); name a file "
            + ("in a folder that can be written." if writable else "that was recorded."),
            setting=setting,
        ) from error
    known: dict[str, Exchange] = {}
    for number, line in enumerate(data[:end].split(b"\n")[:-1], start=1):
        try:
            exchange = _READER.validate_json(line)
        except ValidationError as error:
            raise Misconfigured(
                f"{setting}: line {number} of {path.name} is no recorded answer; delete the "
                "line, or record the file again.",
                setting=setting,
            ) from error
        known[exchange.request] = exchange
    return known
