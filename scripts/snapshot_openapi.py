"""Write the shape of the OpenAPI document, so that a change of the API shows in a diff.

Words (descriptions, summaries, examples) are left out; they may become clearer at any time.

    python -m scripts.snapshot_openapi
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from prometheus_client import CollectorRegistry

from ecphoria.app import Services
from ecphoria.http.app import create_app
from ecphoria.settings import Settings
from ecphoria.telemetry import Metrics, Spans

SNAPSHOT = Path(__file__).parents[1] / "tests" / "architecture" / "openapi.json"
_WORDS = frozenset({"description", "summary", "title", "example", "examples"})


def shape() -> str:
    """Build the document, without a store, and keep its shape."""
    services = SimpleNamespace(
        settings=Settings(), metrics=Metrics(CollectorRegistry()), spans=Spans()
    )
    document = create_app(cast("Services", services)).openapi()
    document["info"].pop("version")
    return json.dumps(_without_words(document), indent=1, sort_keys=True) + "\n"


def _without_words(value: Any, *, names: bool = False) -> Any:
    if isinstance(value, dict):
        # The keys of `properties` and of `schemas` are names of ours, also if one is `title`.
        return {
            key: _without_words(each, names=key in {"properties", "schemas"})
            for key, each in value.items()
            if names or key not in _WORDS
        }
    return [_without_words(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    SNAPSHOT.write_text(shape(), encoding="utf-8")
