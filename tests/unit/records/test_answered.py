"""The readers of answers are made once, whatever threads ask."""

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import TypeAdapter

from ecphoria.records import answered
from ecphoria.records.answered import adapter


@dataclass(frozen=True)
class Small:
    """A record."""

    number: int


def test_threads_that_ask_at_once_get_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one thread makes one at a time, since the parser of CPython fails in two."""
    busy, most, made = 0, 0, []
    guard, slow = threading.Lock(), threading.Event()
    real: Any = TypeAdapter

    def counted(kind: Any) -> Any:
        nonlocal busy, most
        with guard:
            busy += 1
            most = max(most, busy)
        slow.wait(0.05)
        made.append(kind)
        with guard:
            busy -= 1
        return real(kind)

    monkeypatch.setattr(answered, "TypeAdapter", counted)
    monkeypatch.setattr(answered, "_adapters", {})
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda kind=kind: found.append((kind, id(adapter(kind)))))
        for kind in (Small, list[Small], Small, list[Small], Small)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == 1
    assert sorted(map(str, made)) == sorted(map(str, (Small, list[Small])))
    assert len(set(found)) == 2
