"""Commands that look after a memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import connected, counting, stderr, stdout
from ecphoria.client import Client
from ecphoria.records.answered import to_json
from ecphoria.records.job import ConsolidationReport, JobKind, JobState, StepReport
from ecphoria.records.upkeep import DormancyMode, DormancyPolicy, IntegrityReport, Stability
from ecphoria.wire.upkeep import JobAnswer, ScheduleAnswer


@connected
def consolidate(
    client: Client,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the planned changes and write nothing.")
    ] = False,
    step: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Step to run; repeatable. Default: all."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the end, or print the job's id.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="S", help="Longest to wait, in seconds.")
    ] = 3_600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Consolidate a tenant's memory now; repeating it changes nothing."""
    job = client.start_consolidation(steps=step or (), dry_run=dry_run)
    if wait:
        job = _ended(client, job, timeout)
    _show_cycle(job, dry_run=dry_run, as_json=as_json)


@connected
def extract(
    client: Client,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count calls and tokens, and send nothing.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Read every live episode again, not only new ones.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="S", help="Longest to wait, in seconds.")
    ] = 86_400.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Read names and facts in stored episodes by a language model."""
    if again and dry_run:
        raise typer.BadParameter("--again starts anew, so it cannot be a dry run.")
    if again:
        client.reset_extraction()
    job = client.start_consolidation(steps=("extract",), dry_run=dry_run)
    _show_cycle(_ended(client, job, timeout), dry_run=dry_run, as_json=as_json)


def _ended(client: Client, job: JobAnswer, timeout_s: float) -> JobAnswer:
    """Wait for the end of a job, and draw its progress."""
    with following() as watch:
        return client.wait_for_job(job.id, timeout_s=timeout_s, watch=watch)


def _show_cycle(job: JobAnswer, *, dry_run: bool, as_json: bool) -> None:
    """Print the report of a cycle, or the job that waits."""
    if job.report is None:
        typer.echo(job.model_dump_json(indent=2) if as_json else job.id)
    elif as_json:
        typer.echo(to_json(job.report, indent=2))
    else:
        show_report(job.report, dry_run=dry_run)


@contextmanager
def following() -> Iterator[Callable[[JobAnswer], None]]:
    """Draw how far a job has come, a step at a time, with the time left."""
    with counting(stderr()) as progress:
        drawn = progress.add_task("waiting", total=None)

        def watch(job: JobAnswer) -> None:
            progress.update(
                drawn,
                description=escape(job.progress.place) or job.state.value,
                completed=job.progress.done,
                total=job.progress.total or None,
            )

        yield watch


def show_report(report: ConsolidationReport, *, dry_run: bool) -> None:
    """Print the report of each step; of a dry run, the planned changes."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_column(justify="right", style="dim")
    table.add_column()
    for step in report.steps:
        counts = ", ".join(f"{name} {count:,}" for name, count in step.counts.items())
        said = f"{step.status}: {step.reason}" if step.reason else counts
        said = "; ".join((said, *step.degraded))
        table.add_row(step.name, f"{step.seconds:.1f} s", escape(said))
    stdout().print(table)
    _show_graph(report)
    if dry_run:
        _show_changes(report.steps)
        stdout().print("[dim]a dry run: nothing was written[/dim]")
    stdout().print(f"[dim]cycle {report.cycle}, {report.seconds:.1f} s[/dim]")


def _show_graph(report: ConsolidationReport) -> None:
    """Print how the counts changed, what was missing, and which cues were refused."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    if report.before and report.after and report.after.nodes:
        changed = ", ".join((*_growth(report.before.nodes, report.after.nodes),
                             *_growth(report.before.edges, report.after.edges)))  # fmt: skip
        table.add_row("graph", f"at turn {report.after.turn:,}: {changed or 'no count changed'}")
    if report.after and report.after.faulty_edges:
        table.add_row("faulty", f"{report.after.faulty_edges:,} edges: ask ecphoria doctor")
    for edge, degrees in report.degrees.items():
        told = (
            f"half {degrees.p50}, 90 % up to {degrees.p90}, "
            f"99 % up to {degrees.p99}, at most {degrees.most}"
        )
        table.add_row("degrees", f"{edge}: {told}")
    for gap in report.gaps:
        table.add_row("gap", f"refused {gap.refused:,} times, the last as {gap.traces[0]}")
    if table.row_count:
        stdout().print(table)


def _growth(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if more := after.get(name, 0) - before.get(name, 0):
            yield f"{name} {more:+,}"


def _show_changes(steps: tuple[StepReport, ...]) -> None:
    if not any(step.changes for step in steps):
        return
    table = Table("step", "would", "what", "how", box=None, header_style="dim", pad_edge=False)
    for step in steps:
        for change in step.changes:
            table.add_row(step.name, change.kind, change.id, escape(change.detail))
    stdout().print()
    stdout().print(table)
    stdout().print()


JobName = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]

jobs = typer.Typer(no_args_is_help=True, help="Manage background jobs.")


@jobs.command("list")
@connected
def list_jobs(
    client: Client,
    *,
    state: Annotated[
        JobState | None, typer.Option(help="Only jobs in this state, such as `dead`.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="Maximum number of rows.")
    ] = 20,
) -> None:
    """List jobs, the newest first."""
    found = client.jobs(state=state, limit=limit)
    columns = ("id", "kind", "state", "asked by", "queued", "attempts", "")
    table = Table(*columns, box=None, header_style="dim", pad_edge=False)
    for job in found:
        queued = f"{job.created_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(
            job.id, job.kind, job.state, job.trigger, queued, str(job.attempts), _remark(job)
        )
    stdout().print(table)


@jobs.command("show")
@connected
def show_job(
    client: Client,
    *,
    job: JobName,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show the state of a job, and its report once it is done."""
    if wait:
        with following() as watch:
            found = client.wait_for_job(job, watch=watch)
    else:
        found = client.job(job)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _show(found)


@jobs.command("cancel")
@connected
def cancel_job(client: Client, job: JobName) -> None:
    """Cancel a job; a running one ends at its next checkpoint."""
    _show(client.cancel_job(job))


@jobs.command("retry")
@connected
def retry_job(client: Client, job: JobName) -> None:
    """Queue a job again that failed, died or was cancelled."""
    _show(client.retry_job(job))


def _show(job: JobAnswer) -> None:
    stdout().print(f"[bold]{job.kind}[/bold] {job.state}  {_remark(job)}".rstrip())
    if job.report is not None:
        show_report(job.report, dry_run=job.kind is JobKind.DRY_RUN)


def _remark(job: JobAnswer) -> str:
    if job.fault is not None:
        return escape(job.fault.message)
    if job.cancelling and job.state is JobState.RUNNING:
        return "ends at the next place"
    if job.state is JobState.RUNNING:
        return escape(f"{job.progress.done} of {job.progress.total} steps, {job.progress.place}")
    return f"{job.report.seconds:.1f} s" if job.report is not None else ""


@connected
def passages(
    client: Client,
    *,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the end, or print the job's id.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="S", help="Longest to wait, in seconds.")
    ] = 3_600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Cut old long episodes into passages; new ones need no command."""
    job = client.start_passages()
    if wait:
        job = _ended(client, job, timeout)
    if as_json:
        typer.echo(job.model_dump_json(indent=2))
    elif job.report is None:
        typer.echo(job.id)
    else:
        counts = job.report.steps[0].counts
        episodes, made = counts["episodes"], counts["passages"]
        stdout().print(f"{episodes:,} episodes cut into {made:,} passages")


schedule = typer.Typer(no_args_is_help=True, help="Manage the schedule of consolidation.")


@schedule.command("show")
@connected
def show_schedule(client: Client) -> None:
    """Show when cycles run, and when the next is due."""
    _show_schedule(client.schedule())


@schedule.command("set")
@connected
def set_schedule(
    client: Client,
    *,
    every_episodes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Run after this number of appended episodes."),
    ] = None,
    every_hours: Annotated[
        float | None,
        typer.Option(min=0.01, metavar="H", help="Run this number of hours after the last cycle."),
    ] = None,
    daily_at: Annotated[
        str | None, typer.Option(metavar="HH:MM", help="Run at this time of each day, in UTC.")
    ] = None,
    idle_minutes: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="M", help="Run after this number of idle minutes."),
    ] = None,
    light_episodes: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Run a light cycle after this number of appended episodes."
        ),
    ] = None,
) -> None:
    """Set the tenant's own schedule; without options, no cycle runs by itself."""
    _show_schedule(
        client.set_schedule(
            every_episodes=every_episodes,
            every_hours=every_hours,
            daily_at=daily_at,
            idle_minutes=idle_minutes,
            light_episodes=light_episodes,
        )
    )


@schedule.command("reset")
@connected
def reset_schedule(client: Client) -> None:
    """Go back to the service's schedule."""
    _show_schedule(client.reset_schedule())


def _show_schedule(found: ScheduleAnswer) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    table.add_row("schedule", "the tenant's own" if found.own else "the service's")
    if found.every_episodes is not None:
        since = f"{found.episodes_since:,} since the last"
        table.add_row("every", f"{found.every_episodes:,} episodes, {since}")
    if found.every_hours is not None:
        table.add_row("every", f"{found.every_hours:g} hours")
    if found.daily_at is not None:
        table.add_row("daily at", f"{found.daily_at} UTC")
    if found.idle_minutes is not None:
        table.add_row("when idle for", f"{found.idle_minutes:g} minutes")
    if found.light_episodes is not None:
        table.add_row("light, every", f"{found.light_episodes:,} episodes")
    if found.next_at is not None:
        table.add_row("next by time", f"{found.next_at:%Y-%m-%d %H:%M} UTC")
    if table.row_count == 1:
        table.add_row("runs", "only when asked")
    stdout().print(table)


dormancy = typer.Typer(
    no_args_is_help=True, help="Manage dormant memories and the dormancy policy."
)

_SHOWN = 1_000
"""Characters of a text that are listed."""

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of episodes.")]


@dormancy.command("list")
@connected
def list_dormant(
    client: Client,
    *,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of rows.")] = 20,
) -> None:
    """List dormant memories, with the reason."""
    table = Table("id", "since", "what", "why", box=None, pad_edge=False)
    for number, sleeper in enumerate(client.dormant(page_size=min(limit, 1_000))):
        if number == limit:
            break
        text = escape(" ".join(sleeper.text[:_SHOWN].split()))
        table.add_row(sleeper.id, f"{sleeper.dormant_at:%Y-%m-%d}", text, escape(sleeper.reason))
    stdout().print(table if table.row_count else "Nothing sleeps.")


@dormancy.command("sleep")
@connected
def put_to_sleep(client: Client, ids: Ids) -> None:
    """Make memories dormant, except pinned ones."""
    slept = client.put_to_sleep(ids)
    stdout().print(f"{len(slept):,} put to sleep")


@dormancy.command("wake")
@connected
def wake(client: Client, ids: Ids) -> None:
    """Make dormant memories live again, exactly as they were."""
    woken = client.wake(ids)
    stdout().print(f"{len(woken):,} woken")


@dormancy.command("pin")
@connected
def pin(
    client: Client,
    *,
    episode: Annotated[str, typer.Argument(metavar="ID", help="Id of an episode.")],
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
) -> None:
    """Pin a memory, so that it never becomes dormant."""
    client.pin(episode, pinned=not off)
    stdout().print("No longer pinned." if off else "Pinned.")


@dormancy.command("policy")
@connected
def policy(
    client: Client,
    *,
    mode: Annotated[
        DormancyMode | None,
        typer.Option(help="Rule by which consolidation makes memories dormant."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of live memories to keep.")
    ] = None,
    quiet_days: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="DAYS", help="Memories younger than this, or woken since, stay live."
        ),
    ] = None,
    archive_days: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="DAYS", help="Days a memory is dormant before it is archived."
        ),
    ] = None,
    second_look: Annotated[
        bool | None,
        typer.Option(
            "--second-look/--no-second-look",
            help="Search dormant memories when the gate refuses a cue.",
        ),
    ] = None,
    stability: Annotated[
        Stability | None, typer.Option(help="How long a memory of each kind lasts.")
    ] = None,
) -> None:
    """Show the tenant's dormancy policy; with options, change it."""
    given = {
        "mode": mode,
        "budget": budget,
        "quiet_days": quiet_days,
        "archive_days": archive_days,
        "second_look": second_look,
        "stability": stability,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    found = client.dormancy_policy()
    if changed:
        found = client.set_dormancy_policy(**(asdict(found) | changed))
    _show_dormancy(found)


def _show_dormancy(found: DormancyPolicy) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("mode", found.mode)
    table.add_row("budget", f"{found.budget:,} live memories")
    table.add_row("quiet", f"{found.quiet_days:g} days")
    archived = "never" if found.archive_days is None else f"after {found.archive_days:g} days"
    table.add_row("archive", archived)
    table.add_row("second look", "on" if found.second_look else "off")
    table.add_row("stability", found.stability)
    stdout().print(table)


@connected
def archive(
    client: Client,
    *,
    days: Annotated[
        float,
        typer.Option(
            min=0, metavar="DAYS", help="Only memories that have been dormant for this long."
        ),
    ] = 90.0,
) -> None:
    """Move long dormant memories to the files of the archive."""
    done = client.archive(days=days)
    stdout().print(f"{done.archived:,} archived")


@connected
def restore(
    client: Client,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of episodes.")],
) -> None:
    """Make archived memories dormant again, byte for byte."""
    done = client.restore(ids)
    stdout().print(f"{len(done.restored):,} restored")
    _tell_damaged(done.damaged)


@connected
def scrub(client: Client) -> None:
    """Check every record of the archive; exits with 1 if one is damaged."""
    found = client.scrub()
    loose = f", {found.unreferenced:,} unreferenced" if found.unreferenced else ""
    stdout().print(f"{found.records:,} records checked{loose}")
    _tell_damaged(found.damaged)


def _tell_damaged(ids: tuple[str, ...]) -> None:
    if ids:
        stdout().print(f"[error]{len(ids):,} damaged[/error], put their files back from a backup:")
        for episode in ids:
            stdout().print(episode)
        raise typer.Exit(1)


@connected
def doctor(
    client: Client,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Check a tenant's graph; changes nothing, and exits with 1 if anything is wrong."""
    found = client.doctor()
    if as_json:
        typer.echo(to_json(found, indent=2))
    else:
        _show_doctor(found)
    if not found.is_healthy:
        raise typer.Exit(1)


def _show_doctor(found: IntegrityReport) -> None:
    seen = f"{found.episodes:,} episodes looked at in {found.seconds:.1f} s"
    if found.is_healthy:
        stdout().print(f"Healthy. [dim]{seen}[/dim]")
        return
    table = Table("rule", "where", "what is wrong", box=None, pad_edge=False)
    for finding in found.findings:
        for place, symptom in enumerate(finding.symptoms):
            rule = "" if place else f"[bold]{finding.rule}[/bold]"
            table.add_row(rule, escape(symptom.id), escape(symptom.detail))
        if finding.found > len(finding.symptoms):
            table.add_row("", "", f"[dim]and {finding.found - len(finding.symptoms):,} more[/dim]")
    stdout().print(table)
    stdout().print(f"[dim]{seen}[/dim]")
    if not found.settled:
        stdout().print("The memory was written to meanwhile; ask again.")
