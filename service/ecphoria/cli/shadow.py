"""Commands of the shadow: try a strategy beside the live one, compare, promote, undo."""

import json
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.model.recall import OptionValue
from ecphoria.wire.shadow import ChoiceAnswer, ShadowAnswer, ShadowReportAnswer

__all__ = ["shadow"]

shadow = typer.Typer(no_args_is_help=True, help="Another strategy tried beside the live one.")


@shadow.command("show")
def show_shadow(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Show what is live, what is in the shadow, and how they compare."""
    with connect(server, key, tenant, home) as client:
        found = client.shadow()
    _show(found)
    if found.shadow is not None:
        stdout().print(_report(found.report))


@shadow.command("set")
def set_shadow(
    *,
    strategy: Annotated[str, typer.Argument(metavar="STRATEGY", help="The strategy to try.")],
    share: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Share of the cues.")
    ] = 0.1,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of the strategy; repeatable."),
    ] = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Run a strategy in the shadow of the live one."""
    options = dict(_parameter(text) for text in option or ())
    with connect(server, key, tenant, home) as client:
        found = client.set_shadow(strategy, options=options, share=share)
    _show(found)


@shadow.command("end")
def end_shadow(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Run nothing in the shadow."""
    with connect(server, key, tenant, home) as client:
        client.end_shadow()
    stdout().print("Nothing runs in the shadow.")


@shadow.command("reset")
def reset_report(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Begin to count and compare anew."""
    with connect(server, key, tenant, home) as client:
        client.reset_shadow_report()
    stdout().print("The report begins anew.")


@shadow.command("promote")
def promote(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Make the shadow's strategy the tenant's default."""
    with connect(server, key, tenant, home) as client:
        found = client.promote_shadow()
    _show(found)


@shadow.command("undo")
def undo(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Go back to the default before the latest promotion."""
    with connect(server, key, tenant, home) as client:
        found = client.undo_promotion()
    _show(found)


def _parameter(text: str) -> tuple[str, OptionValue]:
    """Read NAME=VALUE; a number, true and false are such, anything else is text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"`{text}` is not NAME=VALUE", param_hint="--option")
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    return name, parsed if isinstance(parsed, str | int | float | bool) else value


def _show(found: ShadowAnswer) -> None:
    source = "promoted" if found.promoted else "the service's default"
    stdout().print(f"live    {_named(found.live)}  [dim]{source}[/dim]")
    if found.shadow is None:
        stdout().print("shadow  [dim]nothing[/dim]")
    else:
        stdout().print(f"shadow  {_named(found.shadow)}  [dim]on {found.share:.1%} of cues[/dim]")


def _named(choice: ChoiceAnswer) -> str:
    options = "".join(f" {name}={value}" for name, value in choice.options.items())
    return escape(choice.strategy + options)


def _report(found: ShadowReportAnswer) -> Table:
    table = Table("", "", box=None, show_header=False, pad_edge=False)
    table.add_row("compared", f"{found.compared:,}")
    table.add_row("dropped", f"{found.dropped:,}")
    table.add_row("failed", f"{found.failed:,}")
    figures = {
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
    for name, value in figures.items():
        table.add_row(name, value)
    return table


def _told(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _pair(median: float | None, high: float | None) -> str:
    return f"{_told(median, '{:.1f}')}, {_told(high, '{:.1f}')} ms"
