"""Commands for the settings of a tenant, and for the strategy on trial."""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

import typer
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from typer import Argument, Option
from typer.core import TyperCommand

from ecphoria.cli.connection import Shown, answering, showing
from ecphoria.cli.filters import json_or_text, named_values
from ecphoria.cli.terminal import pairs, print_json, stdout, table
from ecphoria.client import Client
from ecphoria.errors import BadFile, InvalidInput
from ecphoria.records.answered import to_json
from ecphoria.records.settings import WHOLE, Choice, Trial
from ecphoria.records.strategy import ShadowReport, StrategyInfo
from ecphoria.wire.base import field_problems
from ecphoria.wire.settings import GateRequest, SettingsAnswer, SettingsRequest, TrialAnswer

if TYPE_CHECKING:
    from typer._click import Context

commands = typer.Typer(add_completion=False)
config = typer.Typer(no_args_is_help=True, help="Show and change the settings of a tenant.")
strategy = typer.Typer(
    no_args_is_help=True, help="List recall strategies, try another one, and promote it."
)
commands.add_typer(config, name="config")
commands.add_typer(strategy, name="strategy")

_WHOLE: Final = WHOLE.intersection(SettingsRequest.model_fields)

_KEY: Final = Argument(
    metavar="KEY", help="A setting, such as `dormancy.budget`, or a section, such as `gate`."
)
Setting = Annotated[str, _KEY]
SettingOrAll = Annotated[str | None, _KEY]


def _keys() -> list[str]:
    """List the keys of all settings; a section that is set as a whole is one key."""
    keys: list[str] = []
    for section, field in SettingsRequest.model_fields.items():
        fields = get_args(field.annotation)[0].model_fields
        keys += [section] if section in _WHOLE else [f"{section}.{name}" for name in fields]
    return keys


def _known(key: str) -> tuple[str, str]:
    """Split a key into its section and its field, which may be empty.

    Raises:
        InvalidInput: There is no such setting.
    """
    known = _keys()
    sections = {each.partition(".")[0] for each in known}
    section, _, name = key.partition(".")
    if key in known or key in sections or section in _WHOLE:
        return section, name
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    meant = f"did you mean `{near[0]}`? " if near else ""
    raise InvalidInput(
        f"There is no setting `{key}`: {meant}`ecphoria config get` lists all.", field="key"
    )


def _shown(found: SettingsAnswer) -> dict[str, object]:
    """Give the values by key, as JSON has them."""
    values: dict[str, Any] = json.loads(to_json(found))
    shown: dict[str, object] = {}
    for key in _keys():
        section, _, name = key.partition(".")
        shown[key] = values[section][name] if name else values.get(section)
    return shown


def _draw_settings(found: SettingsAnswer) -> None:
    rows = table("setting", "value", "")
    for key, value in _shown(found).items():
        is_own = any(own == key or key.startswith(f"{own}.") for own in found.own)
        rows.add_row(key, escape(_brief(key, value)), "" if is_own else "[dim]default[/dim]")
    stdout().print(rows)
    if found.next_cycle_at is not None:
        stdout().print(f"[dim]next cycle {found.next_cycle_at:%Y-%m-%d %H:%M} UTC[/dim]")


def _brief(key: str, value: object) -> str:
    """Show a value in one line."""
    if value is None:
        return "-"
    if key == "gate" and isinstance(value, Mapping):
        return f"refuse below {value['threshold']:.3f}, verify below {value['verify_below']:.3f}"
    if key == "trial" and isinstance(value, Mapping):
        return f"{value['strategy']} on {value['share']:.1%} of cues"
    return value if isinstance(value, str) else json.dumps(value)


@config.command("get")
@showing()
def get_setting(client: Client, *, setting: SettingOrAll = None) -> Shown:
    """Print a setting, or a section as JSON; without KEY list all, and mark defaults."""
    if setting is None:
        return client.settings.get(), _draw_settings
    section, name = _known(setting)
    values: dict[str, Any] = json.loads(to_json(client.settings.get()))
    value = values.get(section)
    if name:
        if not isinstance(value, Mapping) or name not in value:
            raise InvalidInput(
                f"`{section}` has no `{name}`; `ecphoria config get {section}` shows what it has.",
                field="key",
            )
        value = value[name]
    return value, _draw_value


def _draw_value(value: object) -> None:
    if isinstance(value, str):
        stdout().print(escape(value))
    else:
        print_json(value)


class _WithNumbers(TyperCommand):
    """Takes a negative number as a value, not as an option."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the words of the call."""
        ctx.ignore_unknown_options = any(_NEGATIVE.fullmatch(word) for word in args)
        return super().parse_args(ctx, args)


_NEGATIVE: Final = re.compile(r"-\.?\d\S*")


@config.command("set", cls=_WithNumbers)
@answering(_draw_settings)
def set_setting(
    client: Client,
    *,
    setting: Setting,
    value: Annotated[
        str,
        Argument(
            metavar="VALUE",
            help="The value; of `gate` the file that `ecphoria calibrate --out` wrote, of a"
            " section JSON.",
        ),
    ],
) -> SettingsAnswer:
    """Set one setting of the tenant."""
    section, name = _known(setting)
    if section == "gate":
        if name:
            raise InvalidInput(
                "A gate is set as a whole: `ecphoria config set gate FILE`.", field="key"
            )
        return client.settings.change(gate=read_gate(Path(value)))
    return client.settings.change(**_patch(section, name, json_or_text(value)))


@config.command("unset")
@answering(_draw_settings)
def unset_setting(client: Client, *, setting: Setting) -> SettingsAnswer:
    """Go back to the default of a setting, or of a whole section."""
    section, name = _known(setting)
    if name and section in _WHOLE:
        raise InvalidInput(f"Unset it as a whole: `ecphoria config unset {section}`.", field="key")
    return client.settings.change(**_patch(section, name, None))


def _patch(section: str, name: str, value: object) -> Any:
    return {section: {name: value} if name else value}


def read_gate(file: Path) -> GateRequest:
    """Read a gate that `ecphoria calibrate` wrote.

    Raises:
        BadFile: The file cannot be read, or is no gate.
    """
    try:
        return GateRequest.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadFile(
            f"{file} cannot be read ({error.strerror}); name one of `ecphoria calibrate --out`.",
            path=str(file),
        ) from error
    except ValidationError as error:
        (first, *_) = field_problems(error.errors(), "#")
        raise BadFile(
            f"{file.name} is no gate: {first.pointer[2:]} {first.detail}", path=str(file)
        ) from error


def _draw_strategies(found: TrialAnswer) -> None:
    source = "promoted" if found.promoted else "the service's default"
    stdout().print(f"live   {_named(found.live)}  [dim]{source}[/dim]")
    if found.trial is None:
        stdout().print("trial  [dim]none[/dim]")
    else:
        share = f"on {found.trial.share:.1%} of cues"
        stdout().print(f"trial  {_named(found.trial)}  [dim]{share}[/dim]")


def _draw_listed(found: Sequence[StrategyInfo]) -> None:
    rows = table("strategy", "description", "presets", "options")
    for each in found:
        rows.add_row(
            each.name,
            Text(each.doc.split("\n")[0]),
            ", ".join(each.presets),
            f"{len(each.parameters):,}",
        )
    stdout().print(rows)
    stdout().print("[dim]--json describes the options[/dim]")


@strategy.command("list")
@answering(_draw_listed)
def list_strategies(client: Client) -> Sequence[StrategyInfo]:
    """List the recall strategies and their presets; with --json the options too."""
    return list(client.strategies())


def _draw_comparison(found: TrialAnswer) -> None:
    _draw_strategies(found)
    if found.trial is not None:
        stdout().print(_report(found.report))


@strategy.command("report")
@answering(_draw_comparison)
def report(client: Client) -> TrialAnswer:
    """Show the live strategy, the one on trial, and how they compare."""
    return client.settings.trial()


@strategy.command("try")
@answering(_draw_strategies)
def try_strategy(
    client: Client,
    *,
    strategy: Annotated[str, Argument(metavar="STRATEGY", help="The strategy to try.")],
    share: Annotated[
        float, Option(min=0, max=1, metavar="SHARE", help="Share of the cues to compare, 0 to 1.")
    ] = 0.1,
    option: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="A parameter of the strategy; repeatable."),
    ] = None,
) -> TrialAnswer:
    """Try a strategy in the shadow of the live one; `config unset trial` ends it."""
    options = named_values(option, "option") or {}
    client.settings.try_strategy(strategy, options=options, share=share)
    return client.settings.trial()


@strategy.command("promote")
@answering(_draw_strategies)
def promote(client: Client) -> TrialAnswer:
    """Make the strategy on trial the tenant's default."""
    return client.settings.promote()


@strategy.command("rollback")
@answering(_draw_strategies)
def roll_back(client: Client) -> TrialAnswer:
    """Go back to the default before the latest promotion."""
    return client.settings.roll_back()


def _named(choice: Choice | Trial) -> str:
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
        "trial p50, p95": _pair(found.shadow_p50_ms, found.shadow_p95_ms),
        "live context": _told(found.live_tokens, "{:,.0f} tokens"),
        "trial context": _told(found.shadow_tokens, "{:,.0f} tokens"),
    }
    return pairs(figures.items())


def _told(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _pair(median: float | None, high: float | None) -> str:
    return f"{_told(median, '{:.1f}')}, {_told(high, '{:.1f}')} ms"
