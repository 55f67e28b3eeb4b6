"""Chats of messengers: Telegram's JSON, WhatsApp's text.

The turns of a chat's day are a session, as in Slack.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.records import LongLine, RecordKeys, too_long
from ecphoria.imports.streams import LARGEST_LINE, Counted, Found, Reading
from ecphoria.imports.texts import NO_TEXT
from ecphoria.imports.values import as_list, as_object, instant, word

TELEGRAM_CHATS: Final = "chats.list"
_NOTICES: Final = "notices"


def read_telegram(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a message of Telegram's `result.json`, of one chat or of all."""
    message = item.value
    if not isinstance(message, dict):
        yield BadFile("The message is no object; it is left out.")
        return
    prefix = f"{TELEGRAM_CHATS}." if f"{TELEGRAM_CHATS}.id" in item.header else ""
    chat, ident = (word(item.header.get(f"{prefix}{name}")) for name in ("name", "id"))
    text = _telegram_text(message.get("text"))
    if message.get("type", "message") != "message":
        reading.leave(_NOTICES)
    elif not text:
        reading.leave(NO_TEXT)
    else:
        number = word(message.get("id")) or item.number
        when = message.get("date_unixtime") or message.get("date")
        at = instant(when)
        day = f"{at:%Y-%m-%d}" if at else ""
        media = any(message.get(name) for name in ("photo", "file", "media_type"))
        reading.leave_parts("images and sounds", media)
        yield {
            "text": text,
            "speaker": word(message.get("from")) or word(message.get("from_id")) or None,
            "session": f"{(chat or 'Saved Messages')[:200]} {day}".strip(),
            "source": "telegram",
            "metadata": {"chat": chat[:200]} if chat else {},
            "idempotency_key": f"telegram-{ident or chat}-{number}",
            **reading.occurred(when),
        }


def _telegram_text(given: object) -> str:
    """Join a text that Telegram parts by its links and styles."""
    parts = [given] if isinstance(given, str) else as_list(given)
    found = [part if isinstance(part, str) else as_object(part).get("text") for part in parts]
    text = "".join(part for part in found if isinstance(part, str))
    return text if text.strip() else ""


_MARKS: Final = str.maketrans("\u202f\u00a0", "  ", "\u200e\u200f\u202a\u202c\u2068\u2069")
"""Marks of direction, and narrow spaces, which WhatsApp strews between times and names."""
_HALF: Final = (
    r"[AaPp]\.? ?[Mm]\.?|vorm\.|nachm\.|\u4e0a\u5348|\u4e0b\u5348|\uc624\uc804|\uc624\ud6c4"
)
_AFTERNOON: Final = re.compile("[Pp]|nachm|\u4e0b\u5348|\uc624\ud6c4")
_HEAD: Final = re.compile(
    r"\[?(\d{1,4})[./-] ?(\d{1,2})[./-] ?(\d{1,4})\.?,? (?:klo |kl\. |om )?"
    rf"(?:({_HALF}) ?)?(\d{{1,2}})[:.](\d{{2}})(?:[:.](\d{{2}}))?(?: ?({_HALF}))?"
    r"(?:\] ?| ?[-\u2013] |, )"
)
_OMITTED: Final = re.compile(
    r"<[^<>\n]{3,80}>|.{0,60}\b(omitted|weggelassen|omitid[oa]|omis|omesso|weggelaten)"
    r"|[^\n/]{1,120}\.\w{2,5} \([^()\n]{3,60}\)"
)
_ATTACHED: Final = re.compile("\u200e<[^<>\n]{3,80}>")
"""The name of a file behind its caption, or a remark that the message was edited."""
_DAY_FIRST, _MONTH_FIRST = "day first", "month first"
_TITLE: Final = re.compile(
    r"(?:WhatsApp|Chat)[\w \u2011-]*? (?:with|mit|con|avec|com|met|-) +(.+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """The beginning of a message: its numbers as written, and the line after them."""

    numbers: tuple[int, int, int]
    clock: tuple[int, int, int]
    half: str
    rest: str
    marked: bool

    def at(self, order: str) -> datetime | None:
        """Give its time; the export has no offset, so it is taken as UTC."""
        first, second, third = self.numbers
        if first > 31:
            year, month, day = first, second, third
        elif order == _MONTH_FIRST:
            month, day, year = first, second, third
        else:
            day, month, year = first, second, third
        hour, minute, second_ = self.clock
        if self.half:
            hour = hour % 12 + (12 if _AFTERNOON.search(self.half) else 0)
        try:
            full = year + 2000 if year < 100 else year
            return datetime(full, month, day, hour, minute, second_, tzinfo=UTC)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chat:
    """A chat of WhatsApp: its name, the order of day and month, the keys given so far."""

    name: str
    order: str
    keys: RecordKeys


def whatsapp_head(line: str) -> _Head | None:
    """Read the beginning of a message; None for a line that goes on with the one before."""
    found = _HEAD.match(line.translate(_MARKS))
    if found is None:
        return None
    first, second, third, before, hour, minute, seconds, after = found.groups()
    rest = line.translate(_MARKS)[found.end() :]
    return _Head(
        numbers=(int(first), int(second), int(third)),
        clock=(int(hour), int(minute), int(seconds or 0)),
        half=before or after or "",
        rest=rest,
        marked=line.partition(": ")[2].startswith("\u200e"),
    )


def read_whatsapp(stream: Counted, name: str) -> Iterator[Found]:
    """Read a chat that WhatsApp exported as text."""
    title = _TITLE.match(name)
    chat = word(title[1] if title else name) or "WhatsApp"
    file = _Chat(name=chat, order=_order(stream), keys=RecordKeys())
    head: _Head | None = None
    lines: list[str] = []
    size = 0
    for number, raw in enumerate(stream.lines(), start=1):
        if isinstance(raw, LongLine):
            yield too_long(raw)
            continue
        line = _line(raw)
        begun = whatsapp_head(line)
        if begun is None and head is None:
            stream.reading.leave("lines before the first message", bool(line.strip()))
        elif begun is None:
            size += len(line)
            lines += [line] if size <= LARGEST_LINE else []
        else:
            if head:
                yield from _whatsapp_turn(head, lines, file, stream.reading)
            stream.at(f"line {number}")  # where the next message begins
            head, lines, size = begun, [], 0
    if head:
        yield from _whatsapp_turn(head, lines, file, stream.reading)


def _whatsapp_turn(
    head: _Head, lines: list[str], chat: _Chat, reading: Reading
) -> Iterator[Found]:
    speaker, colon, said = head.rest.partition(":")
    text = "\n".join([said.strip(), *lines]).strip()
    if not colon or (said and not said.startswith(" ")) or (head.marked and not _omits(text)):
        reading.leave(_NOTICES)
    elif not text or _omits(text):
        reading.leave(NO_TEXT)
    elif (at := head.at(chat.order)) is None:
        yield BadFile("The message has a date that does not exist; it is left out.")
    else:
        speaker = word(speaker.removeprefix("~"))[:256]
        key = chat.keys.of(
            f"{chat.name} {at.isoformat()} {speaker} {text}".encode(errors="replace")
        )
        yield {
            "text": text,
            "speaker": speaker or None,
            "session": f"{chat.name[:200]} {at:%Y-%m-%d}",
            "source": "whatsapp",
            "metadata": {"chat": chat.name[:200]},
            "idempotency_key": f"whatsapp-{key}",
            "occurred_at": at,
        }


def _omits(text: str) -> bool:
    return _OMITTED.fullmatch(text) is not None


def _order(stream: Counted) -> str:
    """Tell from the numbers of the dates whether the day or the month stands first.

    A number above 12 tells. Without one, the order counts in which the dates go back less often;
    times with AM and PM decide between equals.
    """
    heads = [head for line in stream.ahead() if (head := whatsapp_head(_line(line)))]
    numbers = [head.numbers for head in heads if head.numbers[0] <= 31]
    if max((second for _, second, _ in numbers), default=0) > 12:
        return _MONTH_FIRST
    if max((first for first, _, _ in numbers), default=0) > 12:
        return _DAY_FIRST
    back = {order: _steps_back(heads, order) for order in (_DAY_FIRST, _MONTH_FIRST)}
    if back[_DAY_FIRST] != back[_MONTH_FIRST]:
        return min(back, key=lambda order: back[order])
    return _MONTH_FIRST if any(head.half for head in heads) else _DAY_FIRST


def _steps_back(heads: list[_Head], order: str) -> int:
    times = [at for head in heads if (at := head.at(order))]
    return sum(later < earlier for earlier, later in pairwise(times))


def _line(raw: bytes) -> str:
    line = raw.decode("utf-8", errors="replace").lstrip("\ufeff").rstrip("\r\n")
    return _ATTACHED.sub("", line)
