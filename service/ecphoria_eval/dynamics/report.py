"""Run the generated tasks and report them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rich.table import Table

from ecphoria.cli.progress import Watch
from ecphoria.errors import InvalidInput
from ecphoria_eval.dynamics.agents import benefit, continuity, relevance
from ecphoria_eval.dynamics.firing import fired_sets, firing
from ecphoria_eval.dynamics.forgetting import contradictions, forgetting
from ecphoria_eval.dynamics.ground import Ground
from ecphoria_eval.dynamics.links import bridge, links, settling
from ecphoria_eval.rows import write_json
from ecphoria_eval.run import Connect


class Finding(Protocol):
    """The finding of a task: a dataclass of figures."""

    bound: ClassVar[str]

    @property
    def holds(self) -> bool:
        """Tell whether the figures keep the bound."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicsReport:
    """One run."""

    version: str
    seed: int
    embedder: str
    engine: Mapping[str, str]
    findings: Mapping[str, Finding]

    @property
    def failed(self) -> tuple[str, ...]:
        """Tasks whose bound does not hold."""
        return tuple(name for name, finding in self.findings.items() if not finding.holds)


def write(report: DynamicsReport, target: Path) -> None:
    """Write the report as JSON."""
    told: dict[str, Any] = {
        "suite": "dynamics",
        "version": report.version,
        "seed": report.seed,
        "embedder": report.embedder,
        "engine": dict(report.engine),
    }
    write_json(target, told | _figures(report))


def table(report: DynamicsReport) -> Table:
    """List the finding of each task, and whether it is within its bound."""
    shown = Table(box=None, pad_edge=False)
    for column in ("task", "found", "must be", ""):
        shown.add_column(column, overflow="fold")
    for name, figures in _figures(report).items():
        finding = report.findings[name]
        found = ", ".join(f"{key} {_spoken(value)}" for key, value in figures.items())
        verdict = "yes" if finding.holds else "[error]no[/error]"
        shown.add_row(name, found, finding.bound, verdict)
    return shown


def _figures(report: DynamicsReport) -> dict[str, dict[str, Any]]:
    return {name: _spelled(asdict(finding)) for name, finding in report.findings.items()}  # type: ignore[call-overload]  # findings are dataclasses


def _spelled(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Use the contract's names: a field cannot be called `recall@10`."""
    return {
        name.replace("_at_", "@"): round(value, 6) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def _spoken(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


TASKS: Mapping[str, Callable[[Ground], Awaitable[Finding]]] = {
    "forgetting": forgetting,
    "hebbian": links,
    "lif": firing,
    "erc": fired_sets,
    "bridge": bridge,
    "contradictions": contradictions,
    "consolidation": settling,
    "continuity": continuity,
    "relevance": relevance,
    "benefit": benefit,
}


async def measure(
    connect: Connect, watch: Watch, *, wanted: Sequence[str], name: str, seed: int
) -> DynamicsReport:
    """Run tasks one after the other, each on a tenant of its own.

    Args:
        connect: The way to the service.
        watch: Told how many tasks are done.
        wanted: Tasks by name; all if none is named.
        name: Prefix of the tenants' names, which must be new.
        seed: Of whatever is drawn.

    Raises:
        InvalidInput: There is no task of a name wanted.
        EcphoriaError: The service cannot be used.
    """
    for one in wanted:
        if one not in TASKS:
            raise InvalidInput(
                f"There is no task `{one}`; choose from: {', '.join(TASKS)}.", field="task"
            )
    async with connect(None) as client:
        ready = await client.ready()
    ground = Ground(connect=connect, name=name, dimension=ready.dimension, seed=seed)
    tasks = [task for task in TASKS if not wanted or task in wanted]
    findings: dict[str, Finding] = {}
    for done, task in enumerate(tasks, start=1):
        findings[task] = await TASKS[task](ground)
        watch("tasks", done, len(tasks))
    return DynamicsReport(
        version=version("ecphoria"),
        seed=seed,
        embedder=ready.model,
        engine={"neo4j": ready.neo4j, "gds": ready.gds or ""},
        findings=findings,
    )
