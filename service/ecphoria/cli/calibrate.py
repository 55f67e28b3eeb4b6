"""Commands of the gate: fit one, show it, use it, leave it."""

import json
import secrets
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.cli.measuring import Where, on_service, refusing
from ecphoria.errors import BadFile
from ecphoria.model.gate import EVIDENCE, QUESTION_TYPE
from ecphoria.wire.gate import GateAnswer, GateRequest
from ecphoria.wire.reading import field_problems

if TYPE_CHECKING:
    from ecphoria.evaluation.calibrate import Asked
    from ecphoria.evaluation.calibration import Calibration
    from ecphoria.evaluation.datasets.dataset import Dataset
    from ecphoria.evaluation.run import Connect, Watch

__all__ = ["calibrate", "gate"]

_MINI, _LABELLED = "mini", ".jsonl"

gate = typer.Typer(no_args_is_help=True, help="What tells whether an answer is there.")


def calibrate(
    *,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Labelled questions about the tenant's own memories (.jsonl), a LoCoMo file, or"
            " `mini` for the shipped sample; else questions are made of the tenant's memories.",
        ),
    ] = None,
    questions: Annotated[
        int,
        typer.Option(
            min=10, max=2_000, metavar="N", help="Without --data: memories to make questions of."
        ),
    ] = 200,
    seed: Annotated[int, typer.Option(help="Without --data: of the questions made.")] = 1,
    false_refusals: Annotated[
        float,
        typer.Option(
            min=0, max=0.99, metavar="RATE", help="Share of answerable questions it may refuse."
        ),
    ] = 0.021,
    question_type: Annotated[
        bool,
        typer.Option(
            "--question-type",
            help="Also weigh of what kind a question is, not only what it finds.",
        ),
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="From now on, judge the tenant's recalls by it.")
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
            metavar="FILE", help="Write how each question was judged unseen, a line each."
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
) -> None:
    """Fit the gate that says whether an answer is there, and tell what it is worth."""
    with refusing():
        _check_targets(out, judged)
        own_memories = data is None or data.endswith(_LABELLED)
        near = server or (DEFAULT_URL if apply or own_memories else None)
        where = Where(server=near, key=key, home=home)
        if data is None:
            asked, digest = _ask_own(where, tenant, questions, seed)
        else:
            asked, digest = _ask(data, where, tenant)
        found = _fit(asked, digest, false_refusals, question_type=question_type)
    _show_fit(found, asked)
    if dry_run:
        return
    request = GateRequest.model_validate(asdict(found.gate))
    if out is not None:
        out.write_text(request.model_dump_json(indent=2) + "\n", encoding="utf-8")
        stdout().print(f"[dim]Gate: {out}[/dim]")
    if judged is not None:
        lines = (json.dumps(asdict(one)) + "\n" for one in found.judged)
        judged.write_text("".join(lines), encoding="utf-8")
    if apply:
        with connect(server or DEFAULT_URL, key, tenant, home) as client:
            client.set_gate(request)
        stdout().print("Recalls are judged by it from now on; `ecphoria gate reset` undoes it.")


@gate.command("show")
def show_gate(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Show by which gate a tenant's recalls are judged."""
    with connect(server, key, tenant, home) as client:
        found = client.gate()
    console = stdout()
    console.print("The tenant's own gate" if found.own else "The shipped gate")
    console.print(_weights(found))
    if found.fit is not None:
        console.print(
            f"Fitted {found.fit.fitted_at:%Y-%m-%d} on {found.fit.questions:,} questions,"
            f" {found.fit.unanswerable:,} of them without an answer.\n"
            f"On questions it had not seen: AUROC {found.fit.auroc:.3f};"
            f" refuses {found.fit.refused:.1%} of those without an answer"
            f" and {found.fit.false_refusals:.1%} of the others."
        )


@gate.command("apply")
def apply_gate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A gate that `ecphoria calibrate` wrote.")
    ],
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Judge a tenant's recalls by the gate in a file."""
    with refusing():
        request = _read_gate(file)
    with connect(server, key, tenant, home) as client:
        client.set_gate(request)
    stdout().print("Recalls are judged by it from now on.")


@gate.command("reset")
def reset_gate(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Go back to the shipped gate."""
    with connect(server, key, tenant, home) as client:
        client.reset_gate()
    stdout().print("Recalls are judged by the shipped gate again.")


def _ask(data: str, where: Where, tenant: str | None) -> "tuple[Asked, str]":
    from ecphoria.evaluation import calibrate as asking  # noqa: PLC0415 (costly)
    from ecphoria.evaluation.datasets.labelled import load_labelled  # noqa: PLC0415

    found: list[Asked] = []
    if data.endswith(_LABELLED):
        file = load_labelled(Path(data))
        named = tenant or (None if where.key else "default")

        async def work(connect: "Connect", watch: "Watch") -> None:
            found.append(await asking.ask_labelled(file, connect, watch, named))

        on_service(work, where)
        return found[0], file.sha256
    dataset = _conversations(data)
    name = f"calibrate-{secrets.token_hex(4)}"

    async def append_and_ask(connect: "Connect", watch: "Watch") -> None:
        clock = time.perf_counter
        found.append(
            await asking.ask_memories(dataset, connect, watch, name=name, monotonic=clock)
        )

    on_service(append_and_ask, where)
    return found[0], dataset.sha256


def _ask_own(where: Where, tenant: str | None, count: int, seed: int) -> "tuple[Asked, str]":
    from ecphoria.evaluation.calibrate import ask_own  # noqa: PLC0415 (costly)

    found: list[tuple[Asked, str]] = []
    named = tenant or (None if where.key else "default")

    async def work(connect: "Connect", watch: "Watch") -> None:
        found.append(await ask_own(connect, watch, named, count=count, seed=seed))

    on_service(work, where)
    return found[0]


def _conversations(data: str) -> "Dataset":
    from ecphoria.evaluation.datasets.locomo import load_locomo  # noqa: PLC0415 (costly)
    from ecphoria.evaluation.datasets.mini import load_mini  # noqa: PLC0415

    return load_mini()[0] if data == _MINI else load_locomo(Path(data))


def _fit(asked: "Asked", digest: str, rate: float, *, question_type: bool) -> "Calibration":
    from ecphoria.evaluation.calibration import calibrate as fit  # noqa: PLC0415 (costly)

    return fit(
        asked.samples,
        names=(*EVIDENCE, *QUESTION_TYPE) if question_type else EVIDENCE,
        false_refusals=rate,
        data_sha256=digest,
        fitted_at=datetime.now(UTC),
    )


def _show_fit(found: "Calibration", asked: "Asked") -> None:
    from ecphoria.evaluation.tables import reliability_table  # noqa: PLC0415 (costly)

    console, fit = stdout(), found.gate.fit
    assert fit is not None, "a fitted gate knows its fit"
    console.print(
        f"{fit.questions:,} questions, {fit.unanswerable:,} without an answer; judged by fits"
        f" without {'their group' if found.by_group else 'every fifth question'}:"
    )
    table = Table("false refusals", "refused", box=None, header_style="dim", pad_edge=False)
    for rate, refused in found.refused.items():
        table.add_row(f"{rate:.1%}", f"{refused:.1%}")
    console.print(
        f"AUROC {found.auroc:.3f}; the shipped gate has {found.shipped_auroc:.3f} on them"
    )
    if found.by_group:
        each = ", ".join(f"{escape(name)} {one:.3f}" for name, one in found.group_auroc.items())
        console.print(f"[dim]{each}[/dim]")
    console.print(table)
    console.print(reliability_table(found.reliability))
    console.print(f"Expected calibration error {found.ece:.3f}, both kinds of equal weight")
    console.print(_weights(GateAnswer.model_validate({**asdict(found.gate), "own": True})))
    for finding, count in asked.findings.items():
        console.print(f"[dim]{count:,} {escape(finding)}[/dim]")


def _weights(found: GateAnswer) -> Table:
    table = Table("evidence", "weight", box=None, header_style="dim", pad_edge=False)
    for name, weight in {**found.weights, "bias": found.bias}.items():
        table.add_row(name, f"{weight:+.3f}")
    table.add_row("refuse below", f"{found.threshold:.3f}")
    table.add_row("verify below", f"{found.verify_below:.3f}")
    return table


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


def _check_targets(*targets: Path | None) -> None:
    for target in targets:
        if target is not None and not target.resolve().parent.is_dir():
            raise BadFile(f"There is no folder {target.resolve().parent} to write into.")
