"""The tasks of `eval dynamics`, in the order in which they run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import version

from ecphoria.errors import InvalidInput
from ecphoria.evaluation.dynamics.bridge import bridge
from ecphoria.evaluation.dynamics.contradictions import contradictions
from ecphoria.evaluation.dynamics.fired_sets import fired_sets
from ecphoria.evaluation.dynamics.firing import firing
from ecphoria.evaluation.dynamics.forgetting import forgetting
from ecphoria.evaluation.dynamics.ground import Ground
from ecphoria.evaluation.dynamics.links import links
from ecphoria.evaluation.dynamics.report import DynamicsReport, Finding
from ecphoria.evaluation.dynamics.settling import settling
from ecphoria.evaluation.run import Connect, Watch

__all__ = ["TASKS", "measure"]

TASKS: Mapping[str, Callable[[Ground], Awaitable[Finding]]] = {
    "forgetting": forgetting,
    "hebbian": links,
    "lif": firing,
    "erc": fired_sets,
    "bridge": bridge,
    "contradictions": contradictions,
    "consolidation": settling,
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
    tasks = [one for one in TASKS if not wanted or one in wanted]
    findings: dict[str, Finding] = {}
    for done, one in enumerate(tasks, start=1):
        findings[one] = await TASKS[one](ground)
        watch("tasks", done, len(tasks))
    return DynamicsReport(
        version=version("ecphoria"),
        seed=seed,
        embedder=ready.model,
        engine={"neo4j": ready.neo4j, "gds": ready.gds or ""},
        findings=findings,
    )
