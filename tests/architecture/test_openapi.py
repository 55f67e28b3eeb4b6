"""The API's description changes only on purpose.

After a change of the API, write the snapshot anew and read what changed:

    python -m tests.architecture.test_openapi
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from prometheus_client import CollectorRegistry

from ecphoria.app import Services
from ecphoria.http.app import create_app
from ecphoria.settings import Settings
from ecphoria.telemetry import Metrics

SNAPSHOT = Path(__file__).with_name("openapi.json")


def described() -> str:
    """Write the description without its version; no part that needs a store takes part in it."""
    parts = SimpleNamespace(settings=Settings(), metrics=Metrics(CollectorRegistry()), spans=None)
    document = create_app(cast("Services", parts)).openapi()
    del document["info"]["version"]
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_description_is_the_snapshot() -> None:
    assert described() == SNAPSHOT.read_text(encoding="utf-8"), __doc__


if __name__ == "__main__":
    SNAPSHOT.write_text(described(), encoding="utf-8")
