"""Compare recall of evidence, storing and searching with other products, on the same machine.

    python -m scripts.compare_products --data CONVERSATIONS.json [--only NAME ...]

Each product has an environment of its own below `.venv/products`, a new Neo4j (Community, of the
version that `ecphoria up` runs), and the same encoder; none has a language model. It holds one
conversation at a time, and is asked one question after the other. `scripts/products.py` tells how
each one stores the messages.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from ecphoria.engine import Engine, EngineSettings
from ecphoria.models.weights import REQUIREMENT
from ecphoria.settings import read_settings
from ecphoria_eval.datasets.dataset import Collection, Dataset, sampled
from ecphoria_eval.datasets.locomo import load_locomo
from ecphoria_eval.measures import all_at, mean, percentile, recall_at, reciprocal_rank
from scripts.archive_classes import quick_java
from scripts.test_frameworks import ROOT, UV, VENV

PACKAGES = {
    "ecphoria": "",
    "graphiti": "graphiti-core",
    "mem0": "mem0ai",
    "neo4j-agent-memory": "neo4j-agent-memory",
    "neo4j-graphrag": "neo4j-graphrag",
}
"""The package of each product; ours is in `.venv`."""
_ON_NEO4J = {"graphiti", "neo4j-agent-memory", "neo4j-graphrag"}
"""Those that need a Neo4j given; ours starts its own."""
_LIMIT = 10
_QUIET = {
    "MEM0_TELEMETRY": "false",
    "GRAPHITI_TELEMETRY_ENABLED": "false",
    "NAM_TELEMETRY_ENABLED": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "PYTHONPATH": f"{ROOT}/service",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one product did.

    Attributes:
        version: Of the package.
        recall: R@10 in points.
        whole: Questions with all evidence among the first ten, in points.
        first: Mean reciprocal rank, in points.
        stored_ms: Milliseconds a message, its vector included.
        p50: Median milliseconds of a search, the vector of the cue included.
        p95: 95th percentile of these.
    """

    version: str
    recall: float
    whole: float
    first: float
    stored_ms: float
    p50: float
    p95: float


def main() -> int:
    """Measure the products, print a table; 1 if one could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="conversations as LoCoMo has them"
    )
    parser.add_argument("--questions", type=int, help="ask only so many, spread evenly")
    parser.add_argument("--only", nargs="*", choices=PACKAGES, default=list(PACKAGES))
    given = parser.parse_args()
    dataset = load_locomo(given.data)
    if given.questions:
        dataset = sampled(dataset, given.questions)
    found, failed = {}, []
    for name in given.only:
        print(name, flush=True)
        try:
            version = _prepare(name)
            found[name] = measured(version, dataset, _run(name, dataset))
        except subprocess.CalledProcessError:
            failed.append(name)
    Console().print(_table(found))
    if failed:
        print(f"not measured: {', '.join(failed)}; see above")
    return 1 if failed else 0


def measured(version: str, dataset: Dataset, result: dict[str, Any]) -> Measured:
    """Score the answers of a product.

    Args:
        version: Of its package.
        dataset: What was asked.
        result: As `products.measure` gives it.
    """
    gold = {
        _asked(part, question.id): question.gold
        for part in dataset.collections
        for question in part.questions
        if question.scored
    }
    hits = {one["question"]: one["hits"] for one in result["answers"]}
    took = [one["ms"] for one in result["answers"]]

    def points(measure: Any, *limit: int) -> float:
        return 100 * (mean([measure(hits[one], gold[one], *limit) for one in gold]) or 0.0)

    return Measured(
        version=version,
        recall=points(recall_at, _LIMIT),
        whole=points(all_at, _LIMIT),
        first=points(reciprocal_rank),
        stored_ms=1_000 * result["seconds"] / result["stored"],
        p50=percentile(took, 0.5) or 0.0,
        p95=percentile(took, 0.95) or 0.0,
    )


def task_of(dataset: Dataset) -> list[dict[str, Any]]:
    """Give the conversations and the questions with evidence in the shape of `products`."""
    return [
        {
            "name": part.name,
            "messages": [
                {
                    "id": ident, "session": one.session or "", "speaker": one.speaker or "",
                    "text": one.text,
                    "when": one.occurred_at.isoformat() if one.occurred_at else None,
                }
                for ident, one in part.memories.items()
            ],
            "questions": [
                {"id": _asked(part, question.id), "text": question.text}
                for question in part.questions
                if question.scored
            ],
        }
        for part in dataset.collections
    ]  # fmt: skip


def _asked(part: Collection, question: str) -> str:
    return f"{part.name}/{question}"


def _prepare(name: str) -> str:
    """Make the environment of a product; give the version that it has."""
    python = _python(name)
    if package := PACKAGES[name]:
        _call(UV, "venv", "-q", "--allow-existing", python.parents[1])
        install = (UV, "pip", "install", "-q", "--python", python)
        _call(*install, "-e", f"{ROOT}[encoder]", package)
        _call(*install, "--no-deps", "--only-binary=:all:", REQUIREMENT)
    told = f"import importlib.metadata as m; print(m.version({(package or 'ecphoria')!r}))"
    return subprocess.check_output([python, "-c", told], text=True).strip()  # noqa: S603


def _python(name: str) -> Path:
    folder = VENV / "products" / name if PACKAGES[name] else VENV
    return folder / "bin" / "python"


def _run(name: str, dataset: Dataset) -> dict[str, Any]:
    cache = read_settings().cache
    with TemporaryDirectory(prefix="compare-") as folder, ExitStack() as held:
        home = Path(folder)
        place = {"uri": "", "password": ""}
        if name in _ON_NEO4J:
            settings = EngineSettings(home=home / "neo4j", cache=cache, java_options=quick_java())
            up = held.enter_context(Engine(settings).running())
            place = {"uri": up.bolt_uri, "password": up.password}
        task, result = home / "task.json", home / "result.json"
        asked = {"limit": _LIMIT, "cache": str(cache), "collections": task_of(dataset)}
        task.write_text(json.dumps(place | asked))
        _call(_python(name), "-m", "scripts.products", name, task, result)
        found: dict[str, Any] = json.loads(result.read_text())
        return found


def _call(*command: str | Path) -> None:
    environment = dict(os.environ) | _QUIET  # noqa: TID251 (what the commands inherit)
    subprocess.run(command, cwd=ROOT, env=environment, check=True)  # noqa: S603


def _table(found: dict[str, Measured]) -> Table:
    table = Table(
        "product", "version", "R@10", "all@10", "MRR", "stored, ms a message",
        "search, ms p50", "p95",
    )  # fmt: skip
    for name, one in found.items():
        table.add_row(
            name, one.version, f"{one.recall:.1f}", f"{one.whole:.1f}", f"{one.first:.1f}",
            f"{one.stored_ms:.1f}", f"{one.p50:.0f}", f"{one.p95:.0f}",
        )  # fmt: skip
    return table


if __name__ == "__main__":
    sys.exit(main())
