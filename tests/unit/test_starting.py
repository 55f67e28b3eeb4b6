"""The start of the service, before Neo4j."""

from pathlib import Path

import pytest

from ecphoria.app import build
from ecphoria.errors import Misconfigured
from ecphoria.settings import Settings


async def test_an_unknown_strategy_is_told_before_anything_is_made(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path / "home", cache=tmp_path / "cache", recall={"strategy": "magic"}
    )
    with pytest.raises(Misconfigured, match="no strategy magic; set ECPHORIA_RECALL__STRATEGY"):
        await build(settings)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
