"""Slack exports: a folder a channel with a file a day, and lists of people and channels.

The turns of a channel's day are a session, and so is each thread, however many days it lasts.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.streams import (
    Counted,
    Fields,
    Found,
    Reading,
    Tree,
    as_list,
    as_object,
    items,
)

LISTS: Final = ("users.json", "channels.json", "groups.json", "mpims.json", "dms.json")
_PEOPLE, _CHANNELS, _TALKS = LISTS[0], LISTS[1:3], LISTS[3:]
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAID: Final = frozenset({None, "thread_broadcast", "reply_broadcast", "me_message", "file_share"})
"""Subtypes of messages that a person wrote; the others tell of joins, topics and the like."""
_REFERENCE: Final = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def days_of(tree: Tree) -> list[str]:
    """List the files of messages, channel by channel, the oldest first."""
    paths = map(PurePosixPath, tree.named("*/*.json"))
    return [str(path) for path in paths if _DAY.fullmatch(path.stem)]


def read_slack(tree: Tree, reading: Reading) -> Iterator[Found]:
    """Read the messages of people; those of bots, and notices, are counted as left out."""
    people: dict[str, str] = {}
    channels: dict[str, tuple[str, str]] = {}
    for path in tree.named(_PEOPLE):
        yield from _faults(tree, reading, path, partial(_add_person, people))
    for path in tree.named(*_CHANNELS):
        yield from _faults(tree, reading, path, partial(_add_channel, channels, None))
    for path in tree.named(*_TALKS):
        yield from _faults(tree, reading, path, partial(_add_channel, channels, people))
    names = dict(channels.values())
    for path in days_of(tree):
        folder = PurePosixPath(path).parent.name
        ident, name = channels.get(folder, (folder, f"#{folder}"))
        export = _Channel(ident=ident, name=name, people=people, channels=names)
        yield from tree.read(path, reading, partial(export.read, path))


def _faults(
    tree: Tree, reading: Reading, path: str, add: Callable[[Mapping[str, Any]], None]
) -> Iterator[Found]:
    """Read a list of the export; ids stand for the names that a damaged one does not tell."""

    def reader(stream: Counted) -> Iterator[Found]:
        for one in items(stream):
            if isinstance(one, BadFile):
                yield one
            elif isinstance(as_object(one).get("id"), str):
                add(one)

    return tree.read(path, reading, reader)


def _add_person(people: dict[str, str], user: Mapping[str, Any]) -> None:
    people[user["id"]] = _name_in(as_object(user.get("profile")), user) or user["id"]


def _add_channel(
    channels: dict[str, tuple[str, str]],
    people: Mapping[str, str] | None,
    channel: Mapping[str, Any],
) -> None:
    """Keep id and name by folder; a talk without a name of its own is called by its members."""
    ident, given = channel["id"], channel.get("name")
    folder = given if isinstance(given, str) and given else ident
    name = f"#{folder}"
    if people is not None:
        members = [one for one in as_list(channel.get("members")) if isinstance(one, str)]
        name = ", ".join(people.get(one, one) for one in members)[:150] or folder
    channels[folder] = (ident, name)


def _name_in(*places: Mapping[str, Any]) -> str | None:
    names = (place.get(key) for key in ("display_name", "real_name", "name") for place in places)
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


class _Channel:
    """A channel, a group or a direct talk, and the names to write into its texts."""

    def __init__(
        self, *, ident: str, name: str, people: Mapping[str, str], channels: Mapping[str, str]
    ) -> None:
        self._ident, self._name = ident, name
        self._people, self._channels = people, channels

    def read(self, path: str, stream: Counted) -> Iterator[Found]:
        """Read a day of the channel."""
        day = PurePosixPath(path).stem
        for number, message in enumerate(items(stream), start=1):
            stream.at(f"message {number}")
            if isinstance(message, BadFile):
                yield message
            elif not isinstance(message, dict):
                yield BadFile("The message is no object; it is left out.")
            elif reason := _left_out(message):
                stream.reading.left_out[reason] += 1
            else:
                yield self._turn(message, day)

    def _turn(self, message: Mapping[str, Any], day: str) -> Found:
        sent = _instant(message.get("ts"))
        if sent is None:
            return BadFile("The message has no time `ts` that can be read; it is left out.")
        user, thread = message.get("user"), message.get("thread_ts")
        profile = as_object(message.get("user_profile"))
        known = self._people.get(user) if isinstance(user, str) else None
        fields: Fields = {
            "text": self._plain(message["text"]),
            "speaker": known or _name_in(profile, message) or user,
            "session": f"{self._name} thread {thread}" if thread else f"{self._name} {day}",
            "source": "slack",
            "metadata": {"channel": self._name},
            "occurred_at": sent,
            "idempotency_key": f"slack-{self._ident}-{message['ts']}",
        }
        return fields

    def _plain(self, text: str) -> str:
        return html.unescape(_REFERENCE.sub(self._said, text))

    def _said(self, found: re.Match[str]) -> str:
        """Write a reference as a person reads it: a name, or a link with its words."""
        sign, target, label = found[1], found[2], found[3]
        if sign == "@":
            return self._people.get(target) or label or target
        if sign == "#":
            return self._channels.get(target) or f"#{label or target}"
        if sign == "!":
            return label or f"@{target}"
        address = target.removeprefix("mailto:")
        return f"{label} ({address})" if label and label != address else address


def _left_out(message: Mapping[str, Any]) -> str | None:
    """Tell why a message is left out, if it is."""
    subtype, text = message.get("subtype"), message.get("text")
    if subtype == "bot_message" or message.get("bot_id"):
        return "messages of bots"
    if subtype is not None and (not isinstance(subtype, str) or subtype not in _SAID):
        return f"notices ({subtype})"
    return None if isinstance(text, str) and text.strip() else "messages without text"


def _instant(stamp: object) -> datetime | None:
    """Read a time as seconds and microseconds; as a floating number it would lose some."""
    seconds, _, rest = str(stamp).partition(".")
    if not re.fullmatch(r"\d{1,11}", seconds) or not re.fullmatch(r"\d{0,6}", rest):
        return None
    try:
        whole = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return whole + timedelta(microseconds=int(rest.ljust(6, "0")))
