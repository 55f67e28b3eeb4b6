"""Measure a vector index alone: the share of the exact nearest that it finds, time and size.

    python -m scripts.measure_index --sizes 10000,100000 --options 16,100,1:32,200,1

Options are M, ef_construction and quantisation (1 or 0). An index is filled as the service fills
it, by transactions of 1,000, or built at once over a filled store (`--built`). Each search asks
for one of 100 tenants that share the index, and for one tenant that has all of it. Vectors are
those of `ecphoria eval load`.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import LiteralString, cast

import neo4j
import numpy as np
import platformdirs
from neo4j.vector import Vector

from ecphoria.engine import Engine, EngineSettings
from ecphoria.maths.arrays import rounded, unit_vectors
from ecphoria.neo4j_store.encoding import stored
from ecphoria_eval.load_data import DIMENSION, Floats, Talk

BATCH, TENANTS, PROBES = 1_000, 100, 100
CHECKPOINT_S = 10
# What a recall wants, and how many it may request for that.
WANTED = {10: (10, 30, 70), 50: (50, 70, 100, 150, 200, 300)}

_POINT: LiteralString = "CREATE CONSTRAINT point FOR (n:Point) REQUIRE n.number IS UNIQUE"
_INSERT: LiteralString = """CYPHER 25
UNWIND $rows AS row
CREATE (:Point {number: row.number, tenant: row.tenant, whole: 'all', embedding: row.vector})"""
_INDEX = """CYPHER 25
CREATE VECTOR INDEX {name} FOR (n:{label}) ON n.embedding WITH [n.tenant, n.whole]
OPTIONS {{indexConfig: {{
  `vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine',
  `vector.hnsw.m`: {m}, `vector.hnsw.ef_construction`: {ef},
  `vector.quantization.enabled`: {quantized}
}}}}"""
_LABEL = """CYPHER 25
UNWIND range($start, $end - 1) AS number
MATCH (n:Point {{number: number}})
SET n:{label}"""
_SEARCH = """CYPHER 25
MATCH (n:{label})
SEARCH n IN (VECTOR INDEX {name} FOR $vector WHERE n.{key} = $owner LIMIT {limit})
RETURN collect(n.number) AS found"""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one index."""

    m: int
    ef: int
    quantized: bool

    @property
    def name(self) -> str:
        """Name the index after its options."""
        return f"i{self.m}_{self.ef}_{'q' if self.quantized else 'f'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the report; `found` is a share, `p50_ms` the time of a search."""

    vectors: int
    index: str
    filled: str
    per_second: float
    bytes_each: float
    owner: str
    wanted: int
    requested: int
    found: float
    p50_ms: float
    p95_ms: float


class Points:
    """Vectors with their tenants, and the exact nearest of some questions."""

    def __init__(self, count: int, seed: int = 5) -> None:
        talk = Talk(seed)
        turns = [turn for batch in talk.batches(count, BATCH) for turn in batch]
        self.vectors: Floats = unit_vectors(rounded([turn.vector for turn in turns]))
        # A tenant has whole sessions; all tenants share the encoder's common direction.
        self.tenants = np.array([int(turn.session.split("-")[1]) % TENANTS for turn in turns])
        self.cues = [probe.vector for probe in talk.probes(PROBES)]

    def owners(self, size: int) -> Iterator[tuple[str, str, list[tuple[str, Floats, list[int]]]]]:
        """Give both kinds of owner: its name, its property, and its cues with the exact best."""
        best = max(WANTED)
        for told, key in (("1 of 100", "tenant"), ("alone", "whole")):
            asked = []
            for number, cue in enumerate(self.cues):
                owner = str(number % TENANTS) if key == "tenant" else "all"
                mine = np.arange(size)
                if key == "tenant":
                    mine = np.flatnonzero(self.tenants[:size] == number % TENANTS)
                scores = self.vectors[mine] @ cue
                asked.append((owner, cue, mine[np.argsort(-scores)[:best]].tolist()))
            yield told, key, asked


def main() -> None:
    """Measure, print as one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="10000", help="numbers of vectors, ascending")
    parser.add_argument("--options", default="16,100,1", help="M,ef,quantised:M,ef,quantised")
    parser.add_argument("--built", action="store_true", help="also build each at once")
    parser.add_argument("--heap", type=int, default=1024, help="heap of Neo4j in MB")
    parser.add_argument("--page-cache", type=int, default=1024, help="its page cache in MB")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    options = [_options(text) for text in given.options.split(":")]
    home = Path(tempfile.mkdtemp(prefix="ecphoria-index-"))
    settings = EngineSettings(
        home=home,
        cache=platformdirs.user_cache_path("ecphoria"),
        heap_mb=given.heap,
        page_cache_mb=given.page_cache,
        conf={"db.checkpoint.interval.time": f"{CHECKPOINT_S}s"},
    )
    try:
        with Engine(settings).running() as server:
            auth = (server.user, server.password)
            with neo4j.GraphDatabase.driver(server.bolt_uri, auth=auth) as driver:
                measure(driver, home, sizes, options, built=given.built)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure(
    driver: neo4j.Driver,
    home: Path,
    sizes: Sequence[int],
    options: Sequence[Options],
    *,
    built: bool,
) -> None:
    """Fill a store, then each index after the other."""
    points = Points(max(sizes))
    driver.execute_query(_POINT)
    took = _insert(driver, points)
    print(json.dumps({"insert_without_index_per_second": len(points.vectors) / took}), flush=True)
    for option in options:
        _fill(driver, home, points, sizes, option)
        if built:
            _build(driver, home, points, option)


def _fill(
    driver: neo4j.Driver, home: Path, points: Points, sizes: Sequence[int], option: Options
) -> None:
    label, done, took, before = f"O{option.name}", 0, 0.0, _size(home)
    _create(driver, option, label, option.name)
    for size in sizes:
        begun = time.perf_counter()
        for start in range(done, size, BATCH):
            end = min(start + BATCH, size)
            driver.execute_query(_say(_LABEL, label=label), start=start, end=end)
        took, done = took + time.perf_counter() - begun, size
        used = (_size(home) - before) / size
        _search(
            driver,
            points,
            size,
            option,
            names=(label, option.name),
            filled=("online", size / took, used),
        )
    _drop(driver, option.name)


def _build(driver: neo4j.Driver, home: Path, points: Points, option: Options) -> None:
    name, size, before = f"b{option.name}", len(points.vectors), _size(home)
    begun = time.perf_counter()
    _create(driver, option, "Point", name)
    took = time.perf_counter() - begun
    used = (_size(home) - before) / size
    _search(
        driver, points, size, option, names=("Point", name), filled=("built", size / took, used)
    )
    _drop(driver, name)


def _search(
    driver: neo4j.Driver,
    points: Points,
    size: int,
    option: Options,
    *,
    names: tuple[str, str],
    filled: tuple[str, float, float],
) -> None:
    label, name = names
    for told, key, asked in points.owners(size):
        for wanted, requests in WANTED.items():
            for requested in requests:
                query = _say(_SEARCH, label=label, name=name, key=key, limit=requested)
                shares, times = [], []
                for owner, cue, exact in asked:
                    vector, begun = Vector.from_numpy(cue), time.perf_counter()
                    (row,) = driver.execute_query(query, vector=vector, owner=owner).records
                    times.append(1e3 * (time.perf_counter() - begun))
                    best = exact[:wanted]
                    shares.append(len(set(row["found"]) & set(best)) / max(1, len(best)))
                figure = Figure(
                    vectors=size,
                    index=option.name,
                    filled=filled[0],
                    per_second=filled[1],
                    bytes_each=filled[2],
                    owner=told,
                    wanted=wanted,
                    requested=requested,
                    found=float(np.mean(shares)),
                    p50_ms=float(np.median(times[10:])),
                    p95_ms=float(np.quantile(times[10:], 0.95)),
                )
                print(json.dumps(asdict(figure)), flush=True)


def _insert(driver: neo4j.Driver, points: Points) -> float:
    begun = time.perf_counter()
    for start in range(0, len(points.vectors), BATCH):
        numbers = range(start, min(start + BATCH, len(points.vectors)))
        rows = [
            {
                "number": number,
                "tenant": str(points.tenants[number]),
                "vector": stored(points.vectors[number]),
            }
            for number in numbers
        ]
        driver.execute_query(_INSERT, rows=rows)
    return time.perf_counter() - begun


def _create(driver: neo4j.Driver, option: Options, label: str, name: str) -> None:
    text = _say(
        _INDEX,
        name=name,
        label=label,
        dimension=DIMENSION,
        m=option.m,
        ef=option.ef,
        quantized=str(option.quantized).lower(),
    )
    driver.execute_query(text)
    driver.execute_query("CALL db.awaitIndexes(36000)")


def _drop(driver: neo4j.Driver, name: str) -> None:
    driver.execute_query(_say("DROP INDEX {name}", name=name))


def _say(text: str, **parts: object) -> LiteralString:
    """Fill names in, which Cypher takes no parameters for; all of them are of this file."""
    return cast("LiteralString", text.format(**parts))


def _size(home: Path) -> int:
    """Sum the files of all indexes, after the server wrote what it had in memory."""
    time.sleep(1.5 * CHECKPOINT_S)
    schema = home / "data" / "databases" / "neo4j" / "schema"
    return sum(file.stat().st_size for file in schema.rglob("*") if file.is_file())


def _options(text: str) -> Options:
    m, ef, quantized = (int(part) for part in text.split(","))
    return Options(m, ef, bool(quantized))


if __name__ == "__main__":
    main()
