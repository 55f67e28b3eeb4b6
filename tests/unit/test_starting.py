"""The start of the service, before Neo4j."""

import sys
from pathlib import Path

import pytest

from ecphoria.app import build
from ecphoria.errors import Misconfigured
from ecphoria.settings import Settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"recall": {"strategy": "magic"}}, "no strategy magic; set ECPHORIA_RECALL__STRATEGY"),
        (
            {"tracing": {"endpoint": "http://127.0.0.1:4318"}},
            "ECPHORIA_TRACING__ENDPOINT needs OpenTelemetry",
        ),
    ],
)
async def test_a_setting_that_cannot_work_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, dict[str, str]], told: str
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    settings = Settings(home=tmp_path / "home", cache=tmp_path / "cache", **given)  # type: ignore[arg-type]
    with pytest.raises(Misconfigured, match=told):
        await build(settings)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
