"""A service that evaluations measure."""

from collections.abc import Iterator

import pytest

from ecphoria.client import AsyncClient
from ecphoria.settings import JobsSettings
from ecphoria_eval.run import Connect
from tests.acceptance.conftest import running, settings_for
from tests.conftest import Server


@pytest.fixture(scope="module")
def connect(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    home, jobs = tmp_path_factory.mktemp("home"), JobsSettings(workers=1)
    with running(settings_for(neo4j_server, home, jobs=jobs)) as service:
        yield lambda tenant: AsyncClient(service.url, service.key, tenant=tenant, timeout=120)


def unwatched(_stage: str, _done: int, _total: int) -> None:
    """Nobody looks on."""
