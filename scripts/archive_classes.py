"""Write an archive of the classes of a local Neo4j: with it, servers of tests start sooner.

    python -m scripts.archive_classes

A server in a folder of its own does the work of a start, and Java writes the archive at its end.
Java itself leaves an archive aside if the Java or the jars are others than those of that server.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import LiteralString

import platformdirs
import psutil

from ecphoria.engine import Endpoint, Engine, EngineSettings
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions, open_driver

FIRST_COMPILER = "-XX:TieredStopAtLevel=1"
_JAVA = f"{FIRST_COMPILER} -XX:-UseG1GC -XX:+UseSerialGC"
"""Options of a Java that starts with half the work: one thread collects the garbage."""
ARCHIVE = Path(sys.prefix) / "neo4j.jsa"
"""`make test` writes it here. Servers start without it too."""
_START_S = 600
_END_S = 600
"""The archive is written meanwhile: ten seconds of a processor, longer on a busy machine."""
_DIMENSION = 8
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


def quick_java() -> str:
    """Give the options of a small server, with the archive if there is one."""
    if not ARCHIVE.exists():
        return _JAVA
    # Java reports options of ours that no archive can hold.
    return f"{_JAVA} -XX:SharedArchiveFile={ARCHIVE} -Xlog:cds*=off,aot*=off"


def main() -> None:
    """Write the archive; the file appears when it is whole."""
    part = ARCHIVE.with_suffix(".part")
    part.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="ecphoria-") as home:
        settings = EngineSettings(
            home=Path(home),
            cache=platformdirs.user_cache_path("ecphoria"),
            java_options=f"{_JAVA} -XX:ArchiveClassesAtExit={part}",
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
    part.replace(ARCHIVE)


async def _use(endpoint: Endpoint) -> None:
    """Load the classes that the first requests need."""
    options = GraphOptions(uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password)
    async with Graph.connect(options) as graph, open_driver(options) as driver:
        await migrate(graph, "none", _DIMENSION)
        for query in (_PROJECT, _RANK):
            await driver.execute_query(query)


if __name__ == "__main__":
    main()
