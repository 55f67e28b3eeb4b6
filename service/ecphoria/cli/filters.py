"""Filters of episodes, which several commands offer, and values that have a name."""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from rich.text import Text
from typer import Option

from ecphoria.cli.connection import instant, offering, option
from ecphoria.cli.terminal import stderr
from ecphoria.client import Client
from ecphoria.errors import InvalidInput
from ecphoria.records.episode import MetadataCondition, MetadataValue

Metadata = Annotated[
    list[str] | None,
    Option(
        metavar="KEY=VALUE",
        help="A value of the metadata; repeatable. Numbers, true and false are read as such.",
    ),
]
_CONDITIONS = Annotated[
    list[str] | None,
    Option(
        metavar="KEY=VALUE",
        help="Only episodes with this value in the metadata; repeatable. Numbers, true and false "
        "are read as such, and comparisons as JSON: 'page={\"$gte\": 3}'.",
    ),
]
_FILTERS = (
    option("session", None, Annotated[str | None, Option(help="Only episodes of this session.")]),
    option("speaker", None, Annotated[str | None, Option(help="Only episodes of this speaker.")]),
    option(
        "role",
        None,
        Annotated[
            str | None, Option(help="Only episodes of this role: user, assistant, tool or system.")
        ],
    ),
    option(
        "kind",
        None,
        Annotated[
            str | None,
            Option(help="Only memories of this kind: episodic, semantic or procedural."),
        ],
    ),
    option("metadata", None, _CONDITIONS),
    option(
        "since",
        None,
        Annotated[
            str | None,
            Option("--from", metavar="TIME", help="Only episodes of this time or later."),
        ],
    ),
    option(
        "before",
        None,
        Annotated[str | None, Option(metavar="TIME", help="Only episodes before this time.")],
    ),
)


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Offer the filters, and give them to a command as the client takes them, in `filters`."""

    def run(*arguments: Any, **options: Any) -> None:
        given = {each.name: options.pop(each.name) for each in _FILTERS}
        filters = {
            "session": given["session"],
            "speaker": given["speaker"],
            "role": given["role"],
            "kind": given["kind"],
            "metadata": conditions_of(given["metadata"]),
            "occurred_from": instant(given["since"], "from"),
            "occurred_before": instant(given["before"], "before"),
        }
        command(*arguments, filters=filters, **options)

    own = [
        each for each in inspect.signature(command).parameters.values() if each.name != "filters"
    ]
    return offering(run, command, [*own, *_FILTERS])


def say_unknown(client: Client, filters: Mapping[str, Any]) -> None:
    """After an empty list, say if the session or the speaker is not stored; a recall says it."""
    session, speaker = filters["session"], filters["speaker"]
    if session and not any(client.page(session=session, limit=1).items):
        stderr().print(Text(f"No episode is in the session `{session}`; see ecphoria sessions."))
    if speaker and not any(client.page(speaker=speaker, limit=1).items):
        stderr().print(Text(f"No episode is by the speaker `{speaker}`."))


def conditions_of(texts: Sequence[str] | None) -> dict[str, MetadataCondition] | None:
    """Read each KEY=VALUE as `named_values` does, and a JSON object as comparisons.

    Raises:
        InvalidInput: A text has no key or no `=`, a key comes twice, or a comparison is no JSON.
    """
    found: dict[str, MetadataCondition] = {}
    for name, value in _pairs(texts, "metadata"):
        parsed = json_or_text(value)
        # A shell may have removed the quotes; as a text, it would equal no stored value.
        if value.startswith("{") and "$" in value and parsed is value:
            raise InvalidInput(
                f"`{value}` is no JSON; write comparisons like '{name}={{\"$gte\": 3}}'.",
                field="metadata",
            )
        found[name] = parsed if isinstance(parsed, dict) else _plain(value)
    return found or None


def named_values(texts: Sequence[str] | None, field: str) -> dict[str, MetadataValue] | None:
    """Read each KEY=VALUE; a number, true and false are such, anything else is text.

    Raises:
        InvalidInput: A text has no key or no `=`, or a key comes twice.
    """
    return {name: _plain(value) for name, value in _pairs(texts, field)} or None


def _pairs(texts: Sequence[str] | None, field: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InvalidInput(f"`{text}` is not KEY=VALUE, such as topic=garden.", field=field)
        if name in seen:
            raise InvalidInput(f"`{name}` is given twice; it takes one value.", field=field)
        seen.add(name)
        yield name, value


def _plain(text: str) -> MetadataValue:
    parsed = json_or_text(text)
    return parsed if isinstance(parsed, int | float | bool) else text.strip('"')


def json_or_text(text: str) -> object:
    """Read a text as JSON, or leave it as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text
