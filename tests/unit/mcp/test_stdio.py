"""Each line on standard input is a message, or gets its answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest

from ecphoria.mcp.stdio import read_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
IDS = st.integers() | st.text(st.characters(codec="utf-8"))


def request(**changes: Any) -> dict[str, Any]:
    params = {"name": "recall", "arguments": {"query": "x"}}
    return {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params} | changes


@given(IDS, JSON)
def test_each_request_is_read_or_answered_with_its_id(ident: Any, params: Any) -> None:
    message, fault = read_line(json.dumps(request(id=ident, params=params)))
    assert (message is None) != (fault is None)
    if fault is not None:
        assert fault.id == ident
    else:
        assert isinstance(message, JSONRPCRequest)
        assert message.id == ident


@given(JSON.filter(lambda ident: isinstance(ident, bool) or not isinstance(ident, int | str)))
def test_an_id_that_is_none_is_answered_without_one(ident: Any) -> None:
    message, fault = read_line(json.dumps(request(id=ident)))
    assert message is None
    assert fault is not None
    assert fault.id is None


@pytest.mark.parametrize("half", [r"\ud83d", r"\ude00", r"\ud83d x \ude00", r"\ude00\ud83d"])
@pytest.mark.parametrize("where", ["text", "key", "nested"])
def test_half_a_surrogate_pair_is_named(half: str, where: str) -> None:
    spelled = {
        "text": f'{{"text": "cut {half}"}}',
        "key": f'{{"{half}": 1}}',
        "nested": f'{{"turns": [{{"text": "{half}"}}]}}',
    }[where]
    line = json.dumps(request(params={"arguments": 0})).replace(": 0}", f": {spelled}}}")
    message, fault = read_line(line)
    assert message is None
    assert fault is not None
    assert fault.id == 3
    assert "surrogate" in fault.error.message


@pytest.mark.parametrize("line", ["no json", '{"id": 3', "[1, 2]", "7", "[" * 100_000, '"x"'])
def test_what_is_no_object_is_answered_without_an_id(line: str) -> None:
    message, fault = read_line(line)
    assert message is None
    assert fault is not None
    assert fault.id is None


def test_notifications_get_no_answer() -> None:
    good = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    message, fault = read_line(json.dumps(good))
    assert isinstance(message, JSONRPCNotification)
    assert fault is None
    assert read_line(json.dumps(good | {"params": 7})) == (None, None)
