"""The command line as processes of its own, on the real Neo4j."""

import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ecphoria import Client
from tests.conftest import CACHE, Server, drop_queued_jobs

PROGRAM = [sys.executable, "-c", "from ecphoria.cli.main import run; run()"]
STOP_WITHIN_S = 60


@dataclass(frozen=True)
class CommandLine:
    """Runs `ecphoria` with an environment that knows the database and one operator's key."""

    environment: dict[str, str]

    def __call__(self, *words: str, feed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *words],
            env=self.environment,
            input=feed,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )


@pytest.fixture(scope="session")
def ecphoria(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    key = f"test-{secrets.token_urlsafe(32)}"
    told = {
        "ECPHORIA_HOME": str(tmp_path_factory.mktemp("home")),
        "ECPHORIA_CACHE": str(CACHE),
        "ECPHORIA_NEO4J__URI": neo4j_server.uri,
        "ECPHORIA_NEO4J__USER": neo4j_server.user,
        "ECPHORIA_NEO4J__PASSWORD": neo4j_server.password,
        "ECPHORIA_AUTH__BOOTSTRAP_KEY": key,
        "ECPHORIA_API_KEY": key,
        "ECPHORIA_TENANT": f"cli-{secrets.token_hex(4)}",
        # No cycle runs by itself, because the tenants of all modules are in this Neo4j.
        "ECPHORIA_CONSOLIDATION__LIGHT_EPISODES": "0",
        "COLUMNS": "120",
        "PYTHONUNBUFFERED": "1",
    }
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251
        if not name.startswith("ECPHORIA_")
    }
    return CommandLine(environment=kept | told)


@dataclass(frozen=True)
class Served:
    """A service started by `ecphoria serve`."""

    url: str
    process: subprocess.Popen[str]


@contextlib.contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[Served]:
    """Run `serve` until the block ends, then terminate it and see that it ends well."""
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            found = re.search(r"http://\S+", said)
            assert found, said + log.read_text()
            yield Served(url=found[0], process=process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            assert process.wait(timeout=STOP_WITHIN_S) == 0, log.read_text()


@pytest.fixture(scope="module", autouse=True)
def no_job_comes_before(neo4j_server: Server) -> None:
    """Let a consolidation that a test asks for begin at once."""
    drop_queued_jobs(neo4j_server)


@pytest.fixture(scope="session")
def service(ecphoria: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests here, and the tenant they share."""
    # It works on what it is asked for, and leaves what other tests queue to their own workers.
    alone = ecphoria.environment | {
        "ECPHORIA_TEST_JOBS__POLL_S": "600", "ECPHORIA_TEST_JOBS__SCHEDULE_S": "3600",
    }  # fmt: skip
    with serving(alone, tmp_path_factory.mktemp("log") / "serve.log") as served:
        ecphoria.environment["ECPHORIA_URL"] = served.url
        tenant = ecphoria.environment["ECPHORIA_TENANT"]
        assert ecphoria("tenants", "create", tenant).returncode == 0
        yield served
        assert ecphoria("tenants", "erase", tenant, "--yes").returncode == 0


@pytest.fixture
def client(service: Served, ecphoria: CommandLine) -> Iterator[Client]:
    told = ecphoria.environment
    key, tenant = told["ECPHORIA_API_KEY"], told["ECPHORIA_TENANT"]
    with Client(service.url, key, tenant=tenant) as opened:
        yield opened
