"""Commands about the gate and about strategies in the shadow of the live one."""

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table

from ecphoria.calibration.labelled import LabelledFile, load_labelled
from ecphoria.cli.added import CONVERSATIONS, added
from ecphoria.cli.connection import Home, Key, TenantName, answering, connect, connected
from ecphoria.cli.filters import named_values
from ecphoria.cli.progress import following, goes_on, watching
from ecphoria.cli.render import reliability_table
from ecphoria.cli.terminal import (
    AsJson,
    check_targets,
    counted,
    if_interrupted,
    pairs,
    print_json,
    stderr,
    stdout,
    table,
)
from ecphoria.client import Client
from ecphoria.client.defaults import default_url
from ecphoria.errors import BadFile, InvalidInput, TooLarge
from ecphoria.records.calibration import Calibration, FitOptions, Sample
from ecphoria.records.recall import Choice, ShadowReport
from ecphoria.wire.admin import GateAnswer, GateRequest, ShadowAnswer
from ecphoria.wire.base import field_problems

commands = typer.Typer(add_completion=False)
shadow = typer.Typer(no_args_is_help=True, help="Compare another strategy with the live one.")
gate = typer.Typer(
    no_args_is_help=True, help="Manage the gate, which decides whether the hits hold an answer."
)
commands.add_typer(shadow, name="shadow")
commands.add_typer(gate, name="gate")


def _draw_shadow(found: ShadowAnswer) -> None:
    source = "promoted" if found.promoted else "the service's default"
    stdout().print(f"live    {_named(found.live)}  [dim]{source}[/dim]")
    if found.shadow is None:
        stdout().print("shadow  [dim]nothing[/dim]")
    else:
        stdout().print(f"shadow  {_named(found.shadow)}  [dim]on {found.share:.1%} of cues[/dim]")


def _draw_comparison(found: ShadowAnswer) -> None:
    _draw_shadow(found)
    if found.shadow is not None:
        stdout().print(_report(found.report))


@shadow.command("show")
@answering(_draw_comparison)
def show_shadow(client: Client) -> ShadowAnswer:
    """Show the live strategy, the shadow, and how they compare."""
    return client.shadow()


@shadow.command("set")
@answering(_draw_shadow)
def set_shadow(
    client: Client,
    *,
    strategy: Annotated[str, typer.Argument(metavar="STRATEGY", help="The strategy to try.")],
    share: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="SHARE", help="Share of the cues to compare, 0 to 1."),
    ] = 0.1,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of the strategy; repeatable."),
    ] = None,
) -> ShadowAnswer:
    """Run a strategy in the shadow of the live one."""
    return client.set_shadow(strategy, options=named_values(option, "option") or {}, share=share)


@shadow.command("end")
@connected
def end_shadow(client: Client) -> None:
    """Stop the shadow strategy."""
    client.end_shadow()
    stdout().print("Nothing runs in the shadow.")


@shadow.command("reset")
@connected
def reset_report(client: Client) -> None:
    """Reset the report of the comparison."""
    client.reset_shadow_report()
    stdout().print("The report begins anew.")


@shadow.command("promote")
@answering(_draw_shadow)
def promote(client: Client) -> ShadowAnswer:
    """Make the shadow's strategy the tenant's default."""
    return client.promote_shadow()


@shadow.command("undo")
@answering(_draw_shadow)
def undo(client: Client) -> ShadowAnswer:
    """Undo the latest promotion."""
    return client.undo_promotion()


def _named(choice: Choice) -> str:
    options = "".join(f" {name}={value}" for name, value in choice.options.items())
    return escape(choice.strategy + options)


def _report(found: ShadowReport) -> Table:
    figures = {
        "compared": f"{found.compared:,}",
        "dropped": f"{found.dropped:,}",
        "failed": f"{found.failed:,}",
        "hits in both": _told(found.overlap, "{:.1%}"),
        "rank-biased overlap": _told(found.rank_overlap, "{:.3f}"),
        "same first hit": _told(found.same_first, "{:.1%}"),
        "same verdict": _told(found.same_verdict, "{:.1%}"),
        "places apart": _told(found.rank_difference, "{:.2f}"),
        "live p50, p95": _pair(found.live_p50_ms, found.live_p95_ms),
        "shadow p50, p95": _pair(found.shadow_p50_ms, found.shadow_p95_ms),
        "live context": _told(found.live_tokens, "{:,.0f} tokens"),
        "shadow context": _told(found.shadow_tokens, "{:,.0f} tokens"),
    }
    return pairs(figures.items())


def _told(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _pair(median: float | None, high: float | None) -> str:
    return f"{_told(median, '{:.1f}')}, {_told(high, '{:.1f}')} ms"


_LABELLED = ".jsonl"
_HOUR_S = 3_600.0


@commands.command()
def calibrate(
    *,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Labelled questions about the tenant's own memories (.jsonl), or, with"
            " ecphoria-eval, a LoCoMo file or `mini` for the shipped sample; else questions are"
            " made of the tenant's memories.",
        ),
    ] = None,
    questions: Annotated[
        int,
        typer.Option(
            min=10,
            max=2_000,
            metavar="N",
            help="Without --data: number of memories to make questions from.",
        ),
    ] = 200,
    seed: Annotated[
        int, typer.Option(min=0, help="Without --data: seed of the generated questions.")
    ] = 1,
    false_refusals: Annotated[
        float,
        typer.Option(
            min=0, max=0.99, metavar="RATE", help="Share of answerable questions it may refuse."
        ),
    ] = 0.021,
    question_type: Annotated[
        bool,
        typer.Option(
            "--question-type", help="Also weigh the type of the question, not only its hits."
        ),
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Use the gate for the tenant's recalls from now on.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print; apply and write nothing.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the gate here, as JSON.")
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the held-out judgement of each question here, one a line."
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
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
        stderr().print(f"[dim]Gate: {out}[/dim]")
    if judged is not None:
        lines = (json.dumps(asdict(question)) + "\n" for question in found.judged)
        judged.write_text("".join(lines), encoding="utf-8")
    if apply:
        with connect(where, key, tenant, home) as client:
            client.set_gate(request)
        stderr().print("Recalls are judged by it from now on; `ecphoria gate reset` undoes it.")


def _draw_gate(found: GateAnswer) -> None:
    console = stdout()
    console.print("The tenant's own gate" if found.own else "The shipped gate")
    console.print(_weights(found))
    if found.fit is not None:
        console.print(
            f"Fitted {found.fit.fitted_at:%Y-%m-%d} on {counted(found.fit.questions, 'question')},"
            f" {found.fit.unanswerable:,} of them without an answer.\n"
            f"On questions it had not seen: AUROC {found.fit.auroc:.3f};"
            f" refuses {found.fit.refused:.1%} of those without an answer"
            f" and {found.fit.false_refusals:.1%} of the others."
        )


@gate.command("show")
@answering(_draw_gate)
def show_gate(client: Client) -> GateAnswer:
    """Show the gate of a tenant's recalls."""
    return client.gate()


def _tell_applied(_: GateAnswer) -> None:
    stdout().print("Recalls are judged by it from now on.")


@gate.command("apply")
@answering(_tell_applied)
def apply_gate(
    client: Client,
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A gate that `ecphoria calibrate` wrote.")
    ],
) -> GateAnswer:
    """Set the gate of a tenant's recalls from a file."""
    return client.set_gate(_read_gate(file))


@gate.command("reset")
@connected
def reset_gate(client: Client) -> None:
    """Go back to the shipped gate."""
    client.reset_gate()
    stdout().print("Recalls are judged by the shipped gate again.")


def _calibrated(client: Client, memories: int, seed: int, fit: FitOptions) -> Calibration:
    """Have the service ask questions made of the tenant's memories."""
    job = client.start_calibration(memories=memories, seed=seed, **asdict(fit))
    with goes_on(job.id), following() as watch:
        done = client.wait_for_job(job.id, timeout_s=_HOUR_S, watch=watch)
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
        found = client.fit_gate(samples, data_sha256=file.sha256, **asdict(fit))
    return replace(found, findings=dict(sorted(findings.items())))


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
    console.print(_weights(GateAnswer.model_validate({**asdict(found.gate), "own": True})))
    for finding, count in found.findings.items():
        console.print(f"[dim]{count:,} {escape(finding)}[/dim]")


def _weights(found: GateAnswer) -> Table:
    rows = table("evidence", "weight")
    for name, weight in {**found.weights, "bias": found.bias}.items():
        rows.add_row(name, f"{weight:+.3f}")
    rows.add_row("refuse below", f"{found.threshold:.3f}")
    rows.add_row("verify below", f"{found.verify_below:.3f}")
    return rows


def _read_gate(file: Path) -> GateRequest:
    try:
        return GateRequest.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadFile(f"{file} cannot be read: {error.strerror}.", path=str(file)) from error
    except ValidationError as error:
        (first, *_) = field_problems(error.errors(), "#")
        raise BadFile(
            f"{file.name} is no gate: {first.pointer[2:]} {first.detail}", path=str(file)
        ) from error
