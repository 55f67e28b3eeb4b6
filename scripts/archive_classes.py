"""Write what lets the local servers of tests start sooner: an archive of classes, and a store.

    python -m scripts.archive_classes

A server does the work of a start, and Java writes the archive at its end. Java itself leaves an
archive aside if the Java or the jars are others than those of that server. The store of that
server has our schema and nothing else. Its folder stays: see `STORE`.
"""

import asyncio
import hashlib
import shutil
import sys
from pathlib import Path
from typing import LiteralString

import platformdirs
import psutil

from ecphoria.engine import Endpoint, Engine, EngineSettings
from ecphoria.engine.home import Home, packaged_lock
from ecphoria.models.embedders import create_embedder
from ecphoria.neo4j_store.queries import Mode, cypher_root, load_queries
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions, open_driver
from ecphoria.settings import EmbedderSettings

FIRST_COMPILER = "-XX:TieredStopAtLevel=1"
_JAVA = (
    f"{FIRST_COMPILER} -XX:CompileThresholdScaling=0.2 -XX:ReservedCodeCacheSize=96m"
    " -XX:-UseG1GC -XX:+UseSerialGC"
)
"""Options of a Java that starts with half the work: one thread collects the garbage.

Code is compiled after a fifth of the usual calls: the first compiler costs so little that planning
all queries takes a tenth less. At the usual number their plans fill 32 of the usual 48 MB of code.
"""
ARCHIVE = Path(sys.prefix).resolve() / "neo4j.jsa"
"""`make test` writes it here. Servers start without it too."""
STORE = ARCHIVE.with_suffix(".store")
"""The home of a stopped server that has our schema.

The archive names its jars. If they are gone, Java looks for the jar of each archived class that it
loads, and throws two exceptions: 4,500 times while it plans all queries, a fifteenth of the time.
They are links to the jars of the cache, which take no space.
"""
_MADE_OF = "made-of"
_CACHE = platformdirs.user_cache_path("ecphoria")
_START_S = 600
_END_S = 600
"""The archive is written meanwhile: ten seconds of a processor, longer on a busy machine."""
_PROJECT: LiteralString = """
UNWIND range(1, 9) AS number
CREATE (:Archived {number: number})-[:NEXT]->(:Archived)
WITH count(*) AS made
CALL gds.graph.project('archived', 'Archived', 'NEXT') YIELD nodeCount
RETURN nodeCount
"""
_RANK: LiteralString = (
    "CALL gds.pageRank.stream('archived') YIELD score RETURN sum(score) AS total"
)
_REMOVE: LiteralString = "MATCH (n:Archived) DETACH DELETE n"


def quick_java() -> str:
    """Give the options of a small server, with the archive if there is one."""
    if not ARCHIVE.exists():
        return _JAVA
    # Java reports options of ours that no archive can hold.
    return f"{_JAVA} -XX:SharedArchiveFile={ARCHIVE} -Xlog:cds*=off,aot*=off"


def with_schema(folder: Path) -> Path:
    """Let the first server of a folder begin with our schema, if there is a store of this schema.

    This saves three of ten processor seconds. Tests of a first start do not use it.
    """
    made_of = STORE / _MADE_OF
    if made_of.exists() and made_of.read_text() == _digest():
        made, home = Home(STORE), Home(folder)
        home.create()
        shutil.copytree(made.data, home.data, dirs_exist_ok=True)
        shutil.copy2(made.password_file, home.password_file)
    return folder


def _digest() -> str:
    """Name what a store is made of: the jars, the schema and the model that it is bound to."""
    schema = [query.text for query in load_queries(cypher_root()).values()
              if query.mode is Mode.SCHEMA]  # fmt: skip
    told = repr((packaged_lock().digest, schema, EmbedderSettings()))
    return hashlib.sha256(told.encode()).hexdigest()


def main() -> None:
    """Write the archive and the store; each appears when it is whole."""
    part = ARCHIVE.with_suffix(".part")
    part.unlink(missing_ok=True)
    shutil.rmtree(STORE, ignore_errors=True)
    settings = EngineSettings(
        home=STORE,
        cache=_CACHE,
        java_options=f"{_JAVA} -XX:ArchiveClassesAtExit={part}",
        conf={"db.tx_log.preallocate": "false"},  # two files of 64 MB, to be copied each time
        heap_mb=768,
        page_cache_mb=128,
        start_timeout_s=_START_S,
    )
    endpoint = Engine(settings).up()
    server = psutil.Process(endpoint.pid)
    try:
        asyncio.run(_use(endpoint))
    finally:
        # `Engine.down` would kill it while it writes.
        server.terminate()
        try:
            server.wait(_END_S)
        except psutil.TimeoutExpired:
            server.kill()
            raise
    (STORE / _MADE_OF).write_text(_digest())
    part.replace(ARCHIVE)


async def _use(endpoint: Endpoint) -> None:
    """Load the classes that the first requests need."""
    options = GraphOptions(uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password)
    embedder = create_embedder(EmbedderSettings(), _CACHE)
    async with Graph.connect(options) as graph, open_driver(options) as driver:
        await migrate(graph, embedder.model, embedder.dimension)
        for query in (_PROJECT, _RANK, _REMOVE):
            await driver.execute_query(query)
    await embedder.close()


if __name__ == "__main__":
    main()
