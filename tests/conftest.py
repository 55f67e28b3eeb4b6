"""One real Neo4j for each worker of the run; the report says which.

In this order: a server given by `ECPHORIA_TEST_NEO4J__URI` and `__PASSWORD`; a container of the
image in docker/neo4j, through testcontainers, for the first worker where a Docker engine answers;
the managed local server. `ECPHORIA_TEST_ENGINE=local` skips the container.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis
import neo4j
import platformdirs
import pytest
from filelock import FileLock
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from ecphoria.engine import Engine, EngineSettings
from ecphoria.models.embedders import create_embedder
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Embedder
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.tenant import Tenant
from ecphoria.runtime import faster
from ecphoria.settings import EmbedderSettings, EngineGroup
from ecphoria.tenancy.store import Tenants
from scripts.archive_classes import FIRST_COMPILER, quick_java, with_schema
from scripts.generate_sync_client import refresh

# Before any test imports it.
refresh()

# A machine under load is no failure of the code, so no profile has a deadline. `make test-long`
# tries fifty times the examples.
hypothesis.settings.register_profile("short", deadline=None, max_examples=20)
hypothesis.settings.register_profile("long", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile("short")

CACHE = platformdirs.user_cache_path("ecphoria")
QUICK_JAVA = quick_java()
PLANS = {"dbms.cypher.min_replan_interval": "1h"}
"""A store that grows from nothing has its queries planned again and again, a quarter of the time
of a test run. The plans themselves are tested in tests/cypher."""
BUILD_IMAGE = Path(__file__).parent.parent / "docker" / "neo4j" / "build.sh"

FIRST = "cypher/test_budgets"
"""It has the worker's Neo4j plan every query anew, while there are few plans."""

LONGEST = (
    "acceptance/test_leaks", "acceptance/test_docs", "acceptance/test_openapi",
    "evaluation/test_mini", "acceptance/test_reembedding", "acceptance/test_memory",
    "engine/test_local_engine", "cli/test_command_line", "contract/test_reembedding",
    "acceptance/test_bare_neo4j", "contract/test_crashes", "acceptance/test_any_order",
    "explorer/test_pictures", "evaluation/test_qa", "acceptance/test_mcp_start",
    "acceptance/test_first_start", "cypher/test_plans", "evaluation/test_reading_facts",
    "evaluation/test_dynamics", "explorer/test_page", "acceptance/test_erasing",
    "acceptance/test_mcp", "acceptance/test_access", "evaluation/test_tuning",
    "explorer/test_ask",
)  # fmt: skip
"""Files that come next, so that no worker ends long after the other; `make test` tells times."""

LAST = "contract/test_migrate"
"""It changes the schema of the worker's Neo4j, which then plans every query anew."""

TOGETHER = ("/test_reembedding.py", "tests/explorer/")
"""Files with this in their names run on one worker, as they share what is slow to make."""

COMPARATORS = frozenset({"memorybank", "myagent"})
"""Strategies that rank by age, for comparison only: the best memory need not be their first."""

served_by = pytest.StashKey[str]()


@dataclass(frozen=True)
class Server:
    """A Neo4j that answers."""

    uri: str
    user: str
    password: str
    kind: str

    def options(self, **more: Any) -> GraphOptions:
        """Give what a graph needs to connect."""
        return GraphOptions(uri=self.uri, user=self.user, password=self.password, **more)


@pytest.fixture
def heeding_ctrl_c() -> Iterator[None]:
    """Heed Ctrl-C here and in child processes; a shell has it ignored in the background."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def free_ports(number: int) -> list[int]:
    """Find some that no outgoing connection is given while a server is away."""
    found: list[int] = []
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == number:
            return found
    raise AssertionError("too few ports are free")


class WallClock:
    """The real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def _given() -> Server | None:
    uri = os.environ.get("ECPHORIA_TEST_NEO4J__URI")  # noqa: TID251
    password = os.environ.get("ECPHORIA_TEST_NEO4J__PASSWORD", "")  # noqa: TID251
    return Server(uri=uri, user="neo4j", password=password, kind="a given server") if uri else None


def _docker_answers() -> bool:
    if os.environ.get("ECPHORIA_TEST_ENGINE") == "local":  # noqa: TID251
        return False
    # One worker tests the image. The others save half of a start: only local servers have the
    # archive of classes.
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":  # noqa: TID251
        return False
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True, check=False).returncode == 0


@contextmanager
def _container() -> Iterator[Server]:
    # Its reaper image cannot be pulled where no registry answers; the container is stopped below.
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"  # noqa: TID251
    from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415

    # Two sessions must not build the same image at once.
    with FileLock(Path(tempfile.gettempdir()) / "ecphoria-test-image.lock"):
        built = subprocess.run(
            ["sh", str(BUILD_IMAGE)],
            env={**os.environ, "PYTHON": sys.executable},  # noqa: TID251
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    image = built.stdout.strip()
    made = Neo4jContainer(image, password="ecphoria-tests")
    made.with_env("JDK_JAVA_OPTIONS", FIRST_COMPILER)  # its own Java, with a collector
    for name, value in PLANS.items():
        made.with_env("NEO4J_" + name.replace("_", "__").replace(".", "_"), value)
    with made as container:
        yield Server(
            uri=container.get_connection_url(),
            user="neo4j",
            password="ecphoria-tests",
            kind=f"testcontainers, {image}",
        )


def quick_engine(home: Path, *, heap_mb: int = 768, page_cache_mb: int = 128) -> EngineSettings:
    """Settings of a small local Neo4j that starts soon and plans a query once."""
    return EngineSettings(
        home=home,
        cache=CACHE,
        java_options=QUICK_JAVA,
        conf=PLANS,
        heap_mb=heap_mb,
        page_cache_mb=page_cache_mb,
    )


SMALL_ENGINE = EngineGroup(java_options=QUICK_JAVA, conf=PLANS, heap_mb=512, page_cache_mb=64)
"""The same for the Neo4j that a service starts itself."""
SMALL_ENGINE_VARIABLES = {
    "ECPHORIA_CACHE": str(CACHE),
    "ECPHORIA_ENGINE__JAVA_OPTIONS": QUICK_JAVA,
    "ECPHORIA_ENGINE__CONF": json.dumps(PLANS),
    "ECPHORIA_ENGINE__HEAP_MB": "512",
    "ECPHORIA_ENGINE__PAGE_CACHE_MB": "64",
}
"""The same for a process."""


@contextmanager
def _managed(home: Path) -> Iterator[Server]:
    settings = quick_engine(with_schema(home), heap_mb=1_024, page_cache_mb=256)
    with Engine(settings).running() as endpoint:
        yield Server(
            uri=endpoint.bolt_uri,
            user=endpoint.user,
            password=endpoint.password,
            kind="the managed local server",
        )


@pytest.fixture(scope="session")
def neo4j_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Server]:
    """A real Neo4j with GDS."""
    given = _given()
    container = _container if given is None and _docker_answers() else None
    home = tmp_path_factory.mktemp("engine")
    with nullcontext(given) if given else container() if container else _managed(home) as server:
        request.config.stash[served_by] = server.kind
        yield server


@pytest.fixture(scope="session")
def changing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Neo4j for tests that change the model of a store; each takes it `emptied`."""
    home = with_schema(tmp_path_factory.mktemp("engine"))
    with Engine(quick_engine(home)).running() as up:
        yield Server(uri=up.bolt_uri, user=up.user, password=up.password, kind="managed")


def emptied(server: Server) -> Server:
    """Remove all nodes and vector indexes, so that a store of any model can begin there."""
    auth = (server.user, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        for row in driver.execute_query("SHOW VECTOR INDEXES YIELD name").records:
            driver.execute_query("DROP INDEX $name", name=row["name"])
    return server


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests on the loop of the product, which is faster than Python's own."""
    return {"product": faster() or asyncio.new_event_loop}


class Together(LoadFileScheduling):  # type: ignore[misc]
    """Gives files that share a server, a browser or a story of a session to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((name for name in TOGETHER if name in file), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep those files together where each file runs on one worker."""
    return Together(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    early = (FIRST, *LONGEST)
    rank = {name: place for place, name in enumerate(early)} | {LAST: len(early) + 1}

    def place(item: pytest.Item) -> int:
        return rank.get(f"{item.path.parent.name}/{item.path.stem}", len(early))

    items.sort(key=place)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the kind of the server to the process that reports, if this is a worker."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["served_by"] = session.config.stash.get(served_by, "")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the kind of the server from a worker."""
    if kind := getattr(node, "workeroutput", {}).get("served_by"):
        kinds = {kind, *filter(None, node.config.stash.get(served_by, "").split("; "))}
        node.config.stash[served_by] = "; ".join(sorted(kinds))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say where the database came from."""
    kind = config.stash.get(served_by, None)
    if kind:
        terminalreporter.write_line(f"Neo4j: {kind}")


def drop_queued_jobs(server: Server) -> None:
    """Drop the jobs that other modules left in a store; a worker would do them first."""
    auth = (server.user, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver:
        driver.execute_query("MATCH (j:Job {state: 'queued'}) DETACH DELETE j")


@pytest.fixture(scope="session")
async def embedder() -> AsyncIterator[Embedder]:
    """The local encoder."""
    made = create_embedder(EmbedderSettings(), CACHE)
    yield made
    await made.close()


@pytest.fixture(scope="session")
async def graph(neo4j_server: Server, embedder: Embedder) -> AsyncIterator[Graph]:
    """A connected, migrated graph."""
    async with Graph.connect(neo4j_server.options()) as connected:
        await migrate(connected, embedder.model, embedder.dimension)
        yield connected


Rows = list[dict[str, Any]]
Cypher = Callable[..., Awaitable[Rows]]


@pytest.fixture(scope="session")
def options(neo4j_server: Server) -> GraphOptions:
    return neo4j_server.options()


@asynccontextmanager
async def asking(options: GraphOptions) -> AsyncIterator[Cypher]:
    """Ask a server directly, past the product."""
    auth = (options.user, options.password)
    async with neo4j.AsyncGraphDatabase.driver(options.uri, auth=auth) as driver:

        async def ask(query: str, **params: object) -> Rows:
            answer = await driver.execute_query(query, params)
            return [row.data() for row in answer.records]

        yield ask


@pytest.fixture(scope="session")
async def cypher(neo4j_server: Server) -> AsyncIterator[Cypher]:
    """Ask the tests' server."""
    async with asking(neo4j_server.options()) as ask:
        yield ask


async def new_tenant(graph: Graph) -> TenantId:
    """Make an empty tenant."""
    made = TenantId(fresh_id())
    await Tenants(graph).create(Tenant(id=made, name=f"t-{made}", created_at=WallClock().now()))
    return made


@pytest.fixture
async def tenant(graph: Graph) -> AsyncIterator[TenantId]:
    """A fresh tenant, erased afterwards."""
    made = await new_tenant(graph)
    yield made
    await Tenants(graph).erase(made)


@pytest.fixture
async def other_tenant(graph: Graph) -> AsyncIterator[TenantId]:
    """A second one, which must never be seen by the first."""
    made = await new_tenant(graph)
    yield made
    await Tenants(graph).erase(made)
