"""Read bodies: JSON in UTF-8 only, and large ones in a thread."""

import asyncio
import json
from collections.abc import Callable
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # unknown to typeshed
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from ecphoria.errors import InvalidInput
from ecphoria.wire.reading import TOLD

__all__ = ["JsonRequest"]

_LARGE = 64_000
"""Bytes of a body above which it is read in a thread."""


class _Yielding(json.JSONDecoder):
    """Reads JSON like the standard decoder, but gives way to other threads.

    The standard decoder reads a whole document in one call of C, and no other thread runs
    meanwhile: five million small parts hold the event loop for seconds. Here the structure is
    read by Python, which gives way every few milliseconds; strings are still read by C.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scan_once = py_make_scanner(self)


class JsonRequest(Request):
    """A request whose body is read as JSON.

    Args:
        request: As it came.
        body: What the body must be; None where the endpoint takes none.
    """

    def __init__(self, request: Request, body: TypeAdapter[Any] | None) -> None:
        super().__init__(request.scope, request.receive)
        self._expected = body

    async def json(self) -> Any:
        """Read the body; a large one is validated here too, and comes as the object expected.

        Raises:
            InvalidInput: The body is not UTF-8, or is nested too deeply.
            json.JSONDecodeError: It is not JSON.
            RequestValidationError: It is large and not as expected.
        """
        sent = await self.body()
        if len(sent) <= _LARGE or self._expected is None:
            return _decoded(sent, json.loads)
        return await asyncio.to_thread(_validated, sent, self._expected)


def _validated(sent: bytes, expected: TypeAdapter[Any]) -> Any:
    found = _decoded(sent, _Yielding().decode)
    try:
        return expected.validate_python(found)
    except ValidationError as invalid:
        faults = invalid.errors(include_input=False)
        wrong = [{**fault, "loc": ("body", *fault["loc"])} for fault in faults[:TOLD]]
    _drop(found)
    raise RequestValidationError(wrong)


def _decoded(sent: bytes, read: Callable[[str], Any]) -> Any:
    try:
        return read(sent.decode())
    except UnicodeDecodeError:
        raise InvalidInput("The body is not UTF-8; send JSON in UTF-8.") from None
    except RecursionError:
        raise InvalidInput("The body is nested too deeply; send what the API describes.") from None


def _drop(found: Any) -> None:
    """Take a refused body apart in small steps; Python would free all of it in one."""
    parts = [found]
    del found
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts.extend(part.values())
            part.clear()
        elif isinstance(part, list):
            parts.extend(part)
            part.clear()
