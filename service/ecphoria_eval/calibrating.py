"""Ask conversations what a gate is fitted on: `ecphoria calibrate --data FILE`."""

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ecphoria.calibration.fitting import calibrate
from ecphoria.cli.progress import Watch
from ecphoria.records.calibration import Calibration, FitOptions, Sample
from ecphoria_eval.datasets.dataset import Dataset
from ecphoria_eval.datasets.locomo import load_locomo, load_mini
from ecphoria_eval.options import Where, on_service
from ecphoria_eval.rows import chosen
from ecphoria_eval.run import ANY_TENANT, Connect, Plan, run

_MINI = "mini"


def calibrate_conversations(
    data: str, fit: FitOptions, *, server: str | None, key: str | None, home: Path | None
) -> Calibration:
    """Fit a gate on the questions of a LoCoMo file, or of the shipped sample for `mini`.

    Without a server, a service is started here.
    """
    dataset = load_mini()[0] if data == _MINI else load_locomo(Path(data))
    samples, findings = on_service(
        lambda connect, watch: ask_memories(
            dataset,
            connect,
            watch,
            name=f"calibrate-{secrets.token_hex(4)}",
            monotonic=time.perf_counter,
        ),
        Where(server=server, key=key, home=home),
    )
    fitted = calibrate(samples, fit, data_sha256=dataset.sha256, fitted_at=datetime.now(UTC))
    return replace(fitted, findings=findings)


async def ask_memories(
    dataset: Dataset, connect: Connect, watch: Watch, *, name: str, monotonic: Callable[[], float]
) -> tuple[tuple[Sample, ...], dict[str, int]]:
    """Append each conversation to a tenant of its own, ask its questions, erase it.

    Args:
        dataset: Its category of questions without an answer counts as unanswerable.
        connect: The way to the service, with an operator's key.
        watch: Told the progress.
        name: Prefix of the tenants' names, which must be new.
        monotonic: Seconds from some fixed moment.

    Returns:
        The questions with their evidence, and what could not be asked.
    """
    async with connect(ANY_TENANT) as client:
        known = await client.strategies()
    arms = chosen(known, [known[0].name])
    # A fit reads figures of evidence, which do not depend on earlier recalls.
    plan = Plan(arms=arms, name=name, monotonic=monotonic, history=0)
    outcome = await run(dataset, connect, plan, watch)
    samples = tuple(
        Sample(evidence=row.evidence, answerable=row.scored, group=row.collection)
        for row in outcome.rows
        if (row.scored or row.adversarial) and row.error is None
    )
    return samples, outcome.findings
