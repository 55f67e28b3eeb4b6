"""The command that fits a gate."""

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from typer import Option

from ecphoria.calibration.labelled import LabelledFile, load_labelled
from ecphoria.cli.connection import Home, Key, TenantName, connect
from ecphoria.cli.extras import CONVERSATIONS, added
from ecphoria.cli.progress import following, goes_on, watching
from ecphoria.cli.render import reliability_table
from ecphoria.cli.terminal import (
    AsJson,
    check_targets,
    if_interrupted,
    print_json,
    stderr,
    stdout,
    table,
)
from ecphoria.client import Client
from ecphoria.client.defaults import default_url
from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.records.calibration import Calibration, CalibrationOptions, FitOptions, Sample
from ecphoria.records.tenant import Gate
from ecphoria.wire.settings import GateRequest

commands = typer.Typer(add_completion=False)

_LABELLED = ".jsonl"
_HOUR_S = 3_600.0
_DEFAULTS = CalibrationOptions()


@commands.command()
def calibrate(
    *,
    data: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Labelled questions about the tenant's own memories (.jsonl), or, with"
            " ecphoria-eval, a LoCoMo file or `mini` for the shipped sample; else questions are"
            " made of the tenant's memories.",
        ),
    ] = None,
    questions: Annotated[
        int,
        Option(
            min=10,
            max=2_000,
            metavar="N",
            help="Without --data: number of memories to make questions from.",
        ),
    ] = _DEFAULTS.memories,
    seed: Annotated[
        int, Option(min=0, help="Without --data: seed of the generated questions.")
    ] = _DEFAULTS.seed,
    false_refusals: Annotated[
        float,
        Option(
            min=0, max=0.99, metavar="RATE", help="Share of answerable questions it may refuse."
        ),
    ] = _DEFAULTS.false_refusals,
    question_type: Annotated[
        bool,
        Option("--question-type", help="Also weigh the type of the question, not only its hits."),
    ] = False,
    apply: Annotated[
        bool, Option("--apply", help="Use the gate for the tenant's recalls from now on.")
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only print; apply and write nothing.")
    ] = False,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Write the gate here, as JSON.")
    ] = None,
    judged: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Write the held-out judgement of each question here, one a line."
        ),
    ] = None,
    server: Annotated[
        str | None,
        Option(
            "--server",
            envvar="ECPHORIA_URL",
            metavar="URL",
            help="Address of the service; http://127.0.0.1:8765 if absent. For a LoCoMo file or"
            " `mini` without --apply a service is started here if absent.",
        ),
    ] = None,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Fit the gate, which decides whether the hits answer, and show its quality."""
    check_targets(out, judged)
    fit = FitOptions(
        false_refusals=false_refusals, question_type=question_type, judged=judged is not None
    )
    where = server or default_url()
    if data is None or data.endswith(_LABELLED):
        with connect(where, key, tenant, home) as client:
            found = (
                _calibrated(client, questions, seed, fit)
                if data is None
                else _fitted(client, load_labelled(Path(data)), fit)
            )
    else:
        near = where if apply else server
        calibrate_conversations = added(CONVERSATIONS, "locomo")
        found = calibrate_conversations(data, fit, server=near, key=key, home=home)
    if as_json:
        print_json(found)
    else:
        _show_fit(found)
    if dry_run:
        return
    request = GateRequest.model_validate(asdict(found.gate))
    if out is not None:
        out.write_text(request.model_dump_json(indent=2) + "\n", encoding="utf-8")
        stderr().print(Text(f"Gate: {out}", style="dim"))
    if judged is not None:
        lines = (json.dumps(asdict(question)) + "\n" for question in found.judged)
        judged.write_text("".join(lines), encoding="utf-8")
    if apply:
        with connect(where, key, tenant, home) as client:
            client.settings.change(gate=request)
        stderr().print(
            "Recalls are judged by it from now on; `ecphoria config unset gate` undoes it."
        )


def _calibrated(client: Client, memories: int, seed: int, fit: FitOptions) -> Calibration:
    """Have the service ask questions made of the tenant's memories."""
    job = client.admin.start_calibration(memories=memories, seed=seed, **asdict(fit))
    with goes_on(job.id), following() as watch:
        done = client.jobs.wait(job.id, timeout_s=_HOUR_S, watch=watch)
    assert done.calibration is not None, "a calibration that is done has a gate"
    return done.calibration


def _fitted(client: Client, file: LabelledFile, fit: FitOptions) -> Calibration:
    """Ask a tenant labelled questions, and have the service fit a gate on the answers."""
    samples: list[Sample] = []
    findings: Counter[str] = Counter()
    with if_interrupted(lambda: "Nothing is changed."), watching() as watch:
        for number, asked in enumerate(file.questions, start=1):
            try:
                answer = client.recall(asked.text, k=1, record=False, collapse=False)
            except (InvalidInput, TooLarge) as error:
                findings[f"recalls that failed: {error.code}"] += 1
            else:
                samples.append(
                    Sample(
                        evidence=answer.evidence, answerable=asked.answerable, group=asked.group
                    )
                )
            watch("asking", number, len(file.questions))
        found = client.admin.fit_gate(samples, data_sha256=file.sha256, **asdict(fit))
    return replace(found, findings=dict(sorted(findings.items())))


_ENOUGH: Final = 50
"""Questions of either kind from which the shares by confidence tell something."""


def _show_fit(found: Calibration) -> None:
    console, fit = stdout(), found.gate.fit
    assert fit is not None, "a fitted gate knows its fit"
    console.print(
        f"{fit.questions:,} questions, {fit.unanswerable:,} without an answer; judged by fits"
        f" without {'their group' if found.by_group else 'every fifth question'}:"
    )
    rows = table("false refusals", "refused")
    for rate, refused in found.refused.items():
        rows.add_row(f"{float(rate):.1%}", f"{refused:.1%}")
    console.print(
        f"AUROC {found.auroc:.3f}; the shipped gate has {found.shipped_auroc:.3f} on them"
    )
    if found.by_group:
        each = ", ".join(
            f"{escape(name)} {value:.3f}" for name, value in found.group_auroc.items()
        )
        console.print(f"[dim]{each}[/dim]")
    console.print(rows)
    console.print(reliability_table(found.reliability))
    console.print(f"Expected calibration error {found.ece:.3f}, both kinds of equal weight")
    _say_if_few(answerable=fit.questions - fit.unanswerable, others=fit.unanswerable)
    console.print(_weights(found.gate))
    for finding, count in found.findings.items():
        console.print(f"[dim]{count:,} {escape(finding)}[/dim]")


def _say_if_few(*, answerable: int, others: int) -> None:
    """Say that the shares of few questions are chance."""
    if min(answerable, others) < _ENOUGH:
        stdout().print(
            f"[bold]Few questions:[/bold] {answerable:,} with an answer and {others:,} without."
            " One question moves the share of a line of ten by ten points, so these shares may be"
            f" far from their confidences by chance. Trust them from {_ENOUGH} of each kind on:"
            " store more memories, or write more questions."
        )


def _weights(found: Gate) -> Table:
    rows = table("evidence", "weight")
    for name, weight in {**found.weights, "bias": found.bias}.items():
        rows.add_row(name, f"{weight:+.3f}")
    rows.add_row("refuse below", f"{found.threshold:.3f}")
    rows.add_row("verify below", f"{found.verify_below:.3f}")
    return rows
