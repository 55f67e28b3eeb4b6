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
        (
            {"llm": {"model": "small", "base_url": "http://127.0.0.1:1234/v1"}},
            "ECPHORIA_LLM__MODEL needs the package openai",
        ),
    ],
)
async def test_a_setting_that_cannot_work_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, dict[str, str]], told: str
) -> None:
    for missing in ("opentelemetry.sdk.trace", "ecphoria.models.openai"):
        monkeypatch.setitem(sys.modules, missing, None)
    settings = Settings(home=tmp_path / "home", cache=tmp_path / "cache", **given)  # type: ignore[arg-type]
    with pytest.raises(Misconfigured, match=told):
        await build(settings)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
