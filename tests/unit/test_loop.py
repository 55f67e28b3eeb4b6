"""A program runs on the faster loop where there is one, and on Python's own elsewhere."""

import asyncio
import sys

import pytest

from ecphoria import runtime as loop


async def _kind() -> str:
    await asyncio.sleep(0)
    return type(asyncio.get_running_loop()).__module__


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not made for Windows")
def test_the_faster_loop_is_installed_with_the_service() -> None:
    assert loop.run(_kind()).startswith("uvloop")


def test_without_it_the_program_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert loop.run(_kind()).startswith("asyncio")


def test_an_error_of_the_program_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        loop.run(fail())
