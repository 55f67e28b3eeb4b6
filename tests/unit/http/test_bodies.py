"""Bodies are read as the standard decoder reads them, and large ones in a thread."""

import asyncio
import json
import threading
from typing import Annotated, Any

import pytest
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidatorFunctionWrapHandler, WrapValidator
from starlette.requests import Request

from ecphoria.errors import InvalidInput
from ecphoria.http.middleware import JsonRequest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
LARGE = b" " * 100_000


def read(body: bytes, expected: Any = Any) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    request = Request({"type": "http", "headers": [], "method": "POST", "path": "/"}, receive)
    return asyncio.run(JsonRequest(request, TypeAdapter(expected)).json())


@given(JSON)
def test_a_large_body_reads_as_a_small_one(value: object) -> None:
    body = json.dumps(value).encode()
    assert read(body) == value
    assert read(LARGE + body) == value


def test_only_a_large_body_is_read_in_a_thread() -> None:
    threads: list[int] = []

    def note(value: Any, inner: ValidatorFunctionWrapHandler) -> Any:
        threads.append(threading.get_ident())
        return inner(value)

    expected = Annotated[int, WrapValidator(note)]
    read(b"5", expected)
    assert threads == []  # the framework validates it
    assert read(LARGE + b"5", expected) == 5
    assert threads
    assert threads[0] != threading.get_ident()


@pytest.mark.parametrize("padding", [b"", LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    "body", ['{"a": 1}'.encode("utf-16"), b'{"a": "\xff"}', b"[" * 100_000], ids=repr
)
def test_other_encodings_and_deep_nesting_are_refused(body: bytes, padding: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"UTF-8|nested"):
        read(padding + body)


@pytest.mark.parametrize("body", [b"", b"{", b"{} {}", b"text=hello", b"[1,]"])
def test_what_is_no_json_says_where(body: bytes) -> None:
    for sent in (body, LARGE + body):
        with pytest.raises(json.JSONDecodeError):
            read(sent)


def test_a_large_body_of_another_shape_names_at_most_ten_places() -> None:
    body = json.dumps({"names": [{"deep": []}] * 20_000}).encode()
    with pytest.raises(RequestValidationError) as refused:
        read(body, dict[str, list[str]])
    places = [fault["loc"] for fault in refused.value.errors()]
    assert places == [("body", "names", place) for place in range(10)]
