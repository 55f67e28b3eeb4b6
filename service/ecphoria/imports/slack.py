"""Slack exports: a folder a channel with a file a day, and lists of people and channels; dumps.

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
from ecphoria.imports.items import FileItem, Take, read_items
from ecphoria.imports.shapes import Layout, shape_of
from ecphoria.imports.streams import Counted, Found, Reading, Tree
from ecphoria.imports.texts import FILES, NO_TEXT
from ecphoria.imports.values import Fields, as_list, as_object, word

# A thread is one conversation, also across days; the rest of a channel has no better border than
# the day (decision 0038).
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

    def take(item: FileItem, _: Reading) -> Iterator[Found]:
        if isinstance(as_object(item.value).get("id"), str):
            add(item.value)
        yield from ()

    return tree.read(path, reading, partial(_listed, take=take, unit="entry"))


def _listed(stream: Counted, take: Take, unit: str) -> Iterator[Found]:
    if shape_of(stream.start()).layout is not Layout.LIST:
        return iter([BadFile("The file is no list in JSON, as those of this export are.")])
    return read_items(stream, "", take, unit=unit)


def read_dump(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a message of a channel that slackdump dumped, and the replies of its thread."""
    ident, name = word(item.header.get("channel_id")), word(item.header.get("name"))
    channel = _Channel(ident=ident, name=f"#{name or ident or item.name}", people={}, channels={})
    replies = as_list(as_object(item.value).get("slackdump_thread_replies"))
    for message in (item.value, *replies):
        yield from channel.turn(message, "", reading)


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

        def take(item: FileItem, reading: Reading) -> Iterator[Found]:
            return self.turn(item.value, day, reading)

        return _listed(stream, take, "message")

    def turn(self, message: object, day: str, reading: Reading) -> Iterator[Found]:
        """Make a turn of a message; without a day it has that of its time."""
        if not isinstance(message, dict):
            yield BadFile("The message is no object; it is left out.")
        elif reason := _left_out(message):
            reading.leave(reason)
        elif (sent := _instant(message.get("ts"))) is None:
            yield BadFile("The message has no time `ts` that can be read; it is left out.")
        else:
            reading.leave_parts(FILES, len(as_list(message.get("files"))))
            yield self._turn(message, sent, day or f"{sent:%Y-%m-%d}")

    def _turn(self, message: Mapping[str, Any], sent: datetime, day: str) -> Fields:
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
    return None if isinstance(text, str) and text.strip() else NO_TEXT


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
