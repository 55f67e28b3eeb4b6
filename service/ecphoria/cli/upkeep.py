"""Commands that look after a memory: cycles, jobs, integrity, dormant and archived memories."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from ecphoria.cli.connection import Caller, Shown, answering, connected, first, showing
from ecphoria.cli.progress import counting, following, goes_on
from ecphoria.cli.terminal import (
    FAILED,
    AsJson,
    Limit,
    counted,
    id_column,
    if_interrupted,
    print_entries,
    print_json,
    print_rows,
    stderr,
    stdout,
    table,
    whole_id,
)
from ecphoria.client import Client
from ecphoria.records.embedding import Provider, Reembedding, ReembeddingState
from ecphoria.records.episode import Episode
from ecphoria.records.job import ConsolidationReport, Job, JobKind, JobState, StepReport
from ecphoria.records.upkeep import (
    ArchivedMemory,
    DormancyPreview,
    IntegrityReport,
    Restored,
    Sleeper,
)
from ecphoria.wire.base import LARGEST_PAGE
from ecphoria.wire.upkeep import ArchiveAnswer

commands = typer.Typer(add_completion=False)
jobs = typer.Typer(no_args_is_help=True, help="Manage background jobs.")
dormancy = typer.Typer(no_args_is_help=True, help="Manage dormant memories.")
archive = typer.Typer(no_args_is_help=True, help="Manage archived memories.")
commands.add_typer(jobs, name="jobs")
commands.add_typer(dormancy, name="dormancy")
commands.add_typer(archive, name="archive")

Wait = Annotated[bool, Option("--wait/--no-wait", help="Wait for the end, or print the job's id.")]
Longest = Annotated[float, Option(min=1, metavar="S", help="Longest to wait, in seconds.")]
_DAY_S = 86_400.0


@commands.command()
@showing()
def consolidate(
    client: Client,
    *,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show the planned changes and write nothing.")
    ] = False,
    step: Annotated[
        list[str] | None, Option(metavar="NAME", help="Step to run; repeatable. Default: all.")
    ] = None,
    again: Annotated[
        bool,
        Option(
            "--again",
            help="With --step extract: read every live episode again, not only new ones.",
        ),
    ] = False,
    wait: Wait = True,
    timeout: Longest = _DAY_S,
) -> Shown:
    """Consolidate a tenant's memory now; repeating it changes nothing."""
    if again and dry_run:
        raise typer.BadParameter("--again starts anew, so it cannot be a dry run.")
    if again and "extract" not in (step or ()):
        raise typer.BadParameter("--again needs --step extract.")
    if again:
        client.admin.reset_extraction()
    with if_interrupted(lambda: "The cycle may be queued: `ecphoria jobs list` shows it."):
        job = client.jobs.start_consolidation(steps=step or (), dry_run=dry_run)
    if wait:
        with goes_on(job.id), following() as watch:
            job = client.jobs.wait(job.id, timeout_s=timeout, watch=watch)
    if job.report is None:
        return job, lambda queued: typer.echo(queued.id)
    return job.report, partial(_show_report, dry_run=dry_run)


def _show_report(report: ConsolidationReport, *, dry_run: bool) -> None:
    """Print the report of each step; of a dry run, the planned changes."""
    rows = Table.grid(padding=(0, 3, 0, 0))
    rows.add_column(style="bold")
    rows.add_column(justify="right", style="dim")
    rows.add_column()
    for step in report.steps:
        counts = ", ".join(f"{name} {count:,}" for name, count in step.counts.items())
        said = f"{step.status}: {step.reason}" if step.reason else counts
        said = "; ".join((said, *step.degraded))
        rows.add_row(step.name, f"{step.seconds:.1f} s", escape(said))
    stdout().print(rows)
    _show_graph(report)
    if dry_run:
        _show_changes(report.steps)
        stdout().print("[dim]a dry run: nothing was written[/dim]")
    stdout().print(f"[dim]cycle {report.cycle}, {report.seconds:.1f} s[/dim]")


def _show_graph(report: ConsolidationReport) -> None:
    """Print how the counts changed, what was missing, and which cues were refused."""
    rows = Table.grid(padding=(0, 3, 0, 0))
    rows.add_column(style="bold")
    rows.add_column()
    if report.before and report.after and report.after.nodes:
        changed = ", ".join((*_growth(report.before.nodes, report.after.nodes),
                             *_growth(report.before.edges, report.after.edges)))  # fmt: skip
        rows.add_row("graph", f"at turn {report.after.turn:,}: {changed or 'no count changed'}")
    if report.after and report.after.faulty_edges:
        rows.add_row(
            "faulty", f"{counted(report.after.faulty_edges, 'edge')}: ask ecphoria doctor"
        )
    for edge, degrees in report.degrees.items():
        told = (
            f"half {degrees.p50}, 90 % up to {degrees.p90}, "
            f"99 % up to {degrees.p99}, at most {degrees.most}"
        )
        rows.add_row("degrees", f"{edge}: {told}")
    for gap in report.gaps:
        rows.add_row("gap", f"refused {counted(gap.refused, 'time')}, the last as {gap.traces[0]}")
    if rows.row_count:
        stdout().print(rows)


def _growth(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if more := after.get(name, 0) - before.get(name, 0):
            yield f"{name} {more:+,}"


def _show_changes(steps: tuple[StepReport, ...]) -> None:
    if not any(step.changes for step in steps):
        return
    rows = table("step", "would", "what", "how")
    for step in steps:
        for change in step.changes:
            rows.add_row(step.name, change.kind, escape(change.id), escape(change.detail))
    stdout().print()
    stdout().print(rows)
    stdout().print()


JobName = Annotated[
    str, Argument(metavar="JOB", help="Id of the job, or the beginning of a listed one.")
]


def _named(client: Client, job: str) -> str:
    """Complete the beginning of a job's id."""

    def known() -> Iterator[str]:
        return (each.id for each in client.jobs.list(limit=LARGEST_PAGE))

    return whole_id(job, known, "jobs")


def _draw_jobs(found: Sequence[Job]) -> None:
    print_entries(
        ("id", "kind", "state", "queued"),
        (
            (
                (job.id, job.kind, job.state, f"{job.created_at:%Y-%m-%d %H:%M}"),
                {"asked by": job.trigger, "attempts": str(job.attempts), "": _remark(job)},
            )
            for job in found
        ),
        empty="There are no jobs.",
    )


@jobs.command("list")
@answering(_draw_jobs)
def list_jobs(
    client: Client,
    *,
    state: Annotated[
        JobState | None, Option(help="Only jobs in this state, such as `dead`.")
    ] = None,
    limit: Annotated[
        int,
        Option(
            "--limit", "-n", min=1, max=LARGEST_PAGE, metavar="N", help="Maximum number of rows."
        ),
    ] = 20,
) -> Sequence[Job]:
    """List jobs, the newest first."""
    return list(client.jobs.list(state=state, limit=limit))


def _draw_job(job: Job) -> None:
    stdout().print(f"[bold]{job.kind}[/bold] {job.state}  {escape(_remark(job))}".rstrip())
    if job.report is not None:
        _show_report(job.report, dry_run=job.kind is JobKind.DRY_RUN)


@jobs.command("show")
@answering(_draw_job)
def show_job(
    client: Client,
    *,
    job: JobName,
    wait: Annotated[bool, Option("--wait", help="Wait for its end.")] = False,
) -> Job:
    """Show the state of a job, and its report once it is done."""
    ident = _named(client, job)
    if not wait:
        return client.jobs.get(ident)
    with goes_on(ident), following() as watch:
        return client.jobs.wait(ident, watch=watch)


@jobs.command("cancel")
@answering(_draw_job)
def cancel_job(client: Client, *, job: JobName) -> Job:
    """Cancel a job; a running one ends at its next checkpoint."""
    return client.jobs.cancel(_named(client, job))


@jobs.command("retry")
@answering(_draw_job)
def retry_job(client: Client, *, job: JobName) -> Job:
    """Queue a job again that failed, died or was cancelled."""
    return client.jobs.retry(_named(client, job))


def _remark(job: Job) -> str:
    if job.fault is not None:
        return job.fault.message
    if job.cancelling and job.state is JobState.RUNNING:
        return "ends at the next place"
    if job.state is JobState.RUNNING:
        steps = counted(job.progress.total, "step")
        return f"{job.progress.done} of {steps}, {job.progress.place}"
    return f"{job.report.seconds:.1f} s" if job.report is not None else ""


def _draw_doctor(found: IntegrityReport) -> None:
    for warning in found.warnings:
        stdout().print(f"[bold]Warning:[/bold] {escape(warning)}")
    seen = f"{counted(found.episodes, 'episode')} looked at in {found.seconds:.1f} s"
    if found.is_healthy:
        stdout().print(f"Healthy. [dim]{seen}[/dim]")
        return
    rows = table("rule", "where", "what is wrong")
    for finding in found.findings:
        for place, symptom in enumerate(finding.symptoms):
            rule = "" if place else f"[bold]{finding.rule}[/bold]"
            rows.add_row(rule, escape(symptom.id), escape(symptom.detail))
        if finding.found > len(finding.symptoms):
            rows.add_row("", "", f"[dim]and {finding.found - len(finding.symptoms):,} more[/dim]")
    stdout().print(rows)
    stdout().print(f"[dim]{seen}[/dim]")
    if not found.settled:
        stdout().print("The memory was written to meanwhile; ask again.")


@commands.command()
@answering(_draw_doctor, fails=lambda found: not found.is_healthy)
def doctor(client: Client) -> IntegrityReport:
    """Check a tenant's graph and archive; changes nothing, and exits with 1 on any fault."""
    return client.admin.doctor()


def _draw_change(found: Reembedding) -> None:
    name = f"[bold]{escape(found.model)}[/bold] ({found.dimension} dimensions)"
    lines = [f"{name}: {found.state}, {found.done:,} of {found.total:,} vectors"]
    if found.eta_s is not None:
        lines.append(f"about {found.eta_s:,.0f} s until the switch")
    if found.message:
        lines.append(escape(found.message))
    if found.switched_at is not None:
        settings = {
            "PROVIDER": found.provider,
            "MODEL": found.model,
            "DIMENSION": found.dimension,
            "REQUEST_DIMENSION": "true" if found.request_dimension else None,
            "BASE_URL": found.base_url,
        }
        lines.append("The store uses it. Set this before the next start of a service:")
        lines += [
            escape(f"ECPHORIA_EMBEDDER__{name}={value}")
            for name, value in settings.items()
            if value is not None
        ]
    stdout().print("\n".join(lines), soft_wrap=True)


@commands.command()
@answering(
    _draw_change,
    fails=lambda found: found.state is ReembeddingState.FAILED,
    caller=Caller.OPERATOR,
)
def reembed(
    client: Client,
    *,
    model: Annotated[
        str | None, Option(metavar="NAME", help="Name of the model to change to.")
    ] = None,
    provider: Annotated[
        Provider, Option(help="Maker of the vectors; `openai` is any endpoint with its API.")
    ] = "openai",
    dimension: Annotated[
        int | None, Option(min=1, metavar="N", help="Length of the vectors; needed for `openai`.")
    ] = None,
    request_dimension: Annotated[
        bool, Option("--request-dimension", help="Ask the endpoint for this dimension.")
    ] = False,
    base_url: Annotated[
        str | None,
        Option(metavar="URL", help="Address of the endpoint. Default: as the service is set."),
    ] = None,
    status: Annotated[bool, Option("--status", help="Show how far the change is.")] = False,
    cancel: Annotated[
        bool, Option("--cancel", help="Cancel the change before the switch.")
    ] = False,
    wait: Annotated[
        bool, Option("--wait/--no-wait", help="Follow the change until it has ended.")
    ] = True,
) -> Reembedding:
    """Change the embedding model of the whole store while it is in use."""
    if sum((model is not None, status, cancel)) != 1:
        raise typer.BadParameter("give one of --model, --status and --cancel.")
    if status:
        return client.admin.embedding_change()
    if cancel:
        found = client.admin.cancel_embedding_change()
    else:
        assert model is not None, "one of the three is given"
        found = client.admin.change_embedding(
            model,
            provider=provider,
            dimension=dimension,
            request_dimension=request_dimension,
            base_url=base_url,
        )
    return _followed_change(client) if wait else found


def _followed_change(client: Client) -> Reembedding:
    """Wait for the end, and draw the progress; the change goes on if this is interrupted."""
    said = "The change goes on; --status shows it, --cancel ends it."
    with if_interrupted(lambda: said), counting(stderr()) as progress:
        drawn = progress.add_task("starting", total=None)

        def watch(found: Reembedding) -> None:
            progress.update(
                drawn,
                description=escape(found.message or found.state.value),
                completed=found.done,
                total=found.total or None,
            )

        return client.admin.wait_for_embedding(timeout_s=inf, watch=watch)


_SHOWN = 1_000
"""Characters of a text that are listed."""

Ids = Annotated[list[str], Argument(metavar="ID", help="Ids of episodes.")]


@dormancy.command("list")
@showing()
def list_dormant(
    client: Client,
    *,
    following: Annotated[
        bool, Option("--next", help="List the memories that the policy would make dormant now.")
    ] = False,
    expiring: Annotated[
        bool, Option("--expiring", help="List the memories that expire, the soonest first.")
    ] = False,
    limit: Limit = 20,
) -> Shown:
    """List dormant memories, with the reason."""
    if expiring:
        return first(limit, client.archive.expiring), _draw_expiring
    if following:
        return client.archive.preview(limit=min(limit, LARGEST_PAGE)), _draw_preview
    return first(limit, client.archive.dormant), partial(_draw_dormant, client)


def _draw_dormant(client: Client, found: Iterator[Sleeper]) -> None:
    rows = ((one.id, f"{one.dormant_at:%Y-%m-%d}", _line(one.text), one.reason) for one in found)
    print_rows((id_column(), "since", "what", "why"), rows, empty="Nothing is dormant.")
    if archived := client.stats().archived:
        said = f"{counted(archived, 'more memory is', 'more memories are')} archived"
        stderr().print(f"[dim]{said}: ecphoria archive list[/dim]")


def _draw_expiring(found: Iterator[Episode]) -> None:
    rows = ((one.id, f"{one.expires_at:%Y-%m-%d %H:%M}", _line(one.text)) for one in found)
    print_rows((id_column(), "expires", "what"), rows, empty="No memory expires.")


def _line(text: str) -> str:
    """Write the beginning of a text on one line."""
    return " ".join(text[:_SHOWN].split())


def _draw_preview(found: DormancyPreview) -> None:
    rows = ((memory.id, memory.label, memory.reason) for memory in found.items)
    print_rows((id_column(), "what", "why"), rows, empty="Nothing would become dormant.")
    stderr().print(f"[dim]{found.dormant:,} of {found.live:,} live memories[/dim]")


@dormancy.command("sleep")
@connected
def put_to_sleep(client: Client, *, ids: Ids, as_json: AsJson = False) -> None:
    """Make memories dormant, except pinned ones; exits with 1 if one did not become dormant."""
    _tell_changed(ids, client.archive.sleep(ids), _ASLEEP, as_json=as_json)


@dormancy.command("wake")
@connected
def wake(client: Client, *, ids: Ids, as_json: AsJson = False) -> None:
    """Make dormant memories live again, exactly as they were; exits with 1 if one was not."""
    _tell_changed(ids, client.archive.wake(ids), _AWAKE, as_json=as_json)


_ASLEEP = "made dormant", "unknown, pinned or not live"
_AWAKE = "live again", "unknown or live already"


def _tell_changed(
    ids: Sequence[str], changed: Sequence[str], said: tuple[str, str], *, as_json: bool
) -> None:
    verb, why_not = said
    if as_json:
        print_json(changed)
    else:
        stdout().print(f"{counted(len(changed), 'memory', 'memories')} {verb}")
    left = [ident for ident in ids if ident not in {*changed}]
    if left:
        stderr().print(Text(f"Not changed, because {why_not}: {' '.join(left)}"))
        raise typer.Exit(FAILED)


@dormancy.command("pin")
@connected
def pin(
    client: Client,
    *,
    episode: Annotated[str, Argument(metavar="ID", help="Id of an episode.")],
    off: Annotated[bool, Option("--off", help="Unpin it.")] = False,
) -> None:
    """Pin a memory, so that it never becomes dormant."""
    client.pin(episode, pinned=not off)
    stdout().print("No longer pinned." if off else "Pinned.")


def _draw_added(done: ArchiveAnswer) -> None:
    stdout().print(f"{done.archived:,} archived")
    if done.archived:
        stderr().print(
            "[dim]ecphoria archive list shows them, ecphoria archive restore ID undoes it[/dim]"
        )


@archive.command("add")
@answering(_draw_added)
def archive_dormant(
    client: Client,
    *,
    days: Annotated[
        float,
        Option(min=0, metavar="DAYS", help="Only memories that have been dormant for this long."),
    ] = 90.0,
) -> ArchiveAnswer:
    """Move long dormant memories to the files of the archive."""
    return client.archive.add(days=days)


def _draw_archived(empty: str, found: Iterator[ArchivedMemory]) -> None:
    rows = (
        (
            memory.id,
            f"{memory.archived_at:%Y-%m-%d}",
            f"{memory.terms:,}",
            memory.speaker or memory.title or "",
            memory.summary,
        )
        for memory in found
    )
    columns = (id_column(), "archived", "words", "who", "what")
    print_rows(columns, rows, empty=empty)


@archive.command("list")
@showing()
def list_archived(
    client: Client,
    *,
    session: Annotated[str | None, Option(help="Only memories of this session.")] = None,
    speaker: Annotated[str | None, Option(help="Only memories of this speaker.")] = None,
    limit: Limit = 20,
) -> Shown:
    """List archived memories in the order of their append."""
    empty = "No such memory is archived." if session or speaker else "Nothing is archived."
    found = first(limit, client.archive.list, session=session, speaker=speaker)
    return found, partial(_draw_archived, empty)


def _draw_restored(done: Restored) -> None:
    stdout().print(f"{len(done.restored):,} restored")
    if done.damaged:
        stdout().print(
            f"[error]{len(done.damaged):,} damaged[/error], put their files back from a backup:"
        )
        for episode in done.damaged:
            stdout().print(episode)


@archive.command("restore")
@connected
def restore(client: Client, *, ids: Ids, as_json: AsJson = False) -> None:
    """Make archived memories dormant again, byte for byte; exits with 1 if one was not."""
    done = client.archive.restore(ids)
    (print_json if as_json else _draw_restored)(done)
    left = [ident for ident in ids if ident not in {*done.restored, *done.damaged}]
    if left:
        stderr().print(Text(f"Not in the archive: {' '.join(left)}"))
    if left or done.damaged:
        raise typer.Exit(FAILED)
