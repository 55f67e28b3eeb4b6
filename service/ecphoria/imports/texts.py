"""Texts of messages: of contents with parts, without thinking, calls of tools and images."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Final

from ecphoria.imports.streams import Reading
from ecphoria.imports.values import as_list, as_object, texts

NO_TEXT: Final = "messages without text"
SYSTEM: Final = "system messages"
THINKING: Final = "thinking"
CALLS: Final = "calls and results of tools"
PICTURES: Final = "images and sounds"
FILES: Final = "attached files without text"

Message = Mapping[str, Any]

_THINKING: Final = ("thinking", "reasoning", "redacted_thinking", "thought", "think")
_CALLS: Final = (
    "tool_use",
    "tool_result",
    "tool_call",
    "tool-call",
    "tool-result",
    "function_call",
)
_OPENS, _CLOSES, _KIND = "<details", "</details>", 'type="reasoning"'


def joined_parts(content: object, reading: Reading) -> str:
    """Read the text of a content: a string, or parts of which some are texts.

    The parts without text are counted by their kind. An empty text means that there is none.
    """
    if isinstance(content, str):
        return content if content.strip() else ""
    if isinstance(content, dict):
        content = content.get("parts", [content])
    found: list[object] = []
    for part in as_list(content):
        kind, text = _part(part)
        if kind:
            reading.leave_parts(kind)
        else:
            found.append(text)
    return texts(found)


def _part(part: object) -> tuple[str, object]:
    """Give the kind of a part without text, or an empty one and the text."""
    if isinstance(part, str):
        return "", part
    fields = as_object(part)
    kind = fields.get("type")
    if kind in _THINKING or fields.get("thought") is True:
        return THINKING, None
    if kind in _CALLS:
        return CALLS, None
    text = fields.get("text") or fields.get("refusal")
    text = text.get("value") if isinstance(text, dict) else text
    return ("", text) if isinstance(text, str) else (PICTURES, None)


def without_thinking(text: str, reading: Reading) -> str:
    """Cut out the thoughts that Open WebUI keeps inside an answer, and count them."""
    kept: list[str] = []
    at = 0
    while (begin := text.find(_OPENS, at)) >= 0:
        inside, end = text.find(">", begin), text.find(_CLOSES, begin)
        if end < 0:
            break
        stop = end + len(_CLOSES)
        thinks = _KIND in text[begin : max(inside, begin)]
        reading.leave_parts(THINKING, thinks)
        kept.append(text[at : begin if thinks else stop])
        at = stop
    return "".join([*kept, text[at:]]).strip()


class _Words(HTMLParser):
    """Collects the words of HTML, a line for each block."""

    _BLOCKS: Final = frozenset(
        {"p", "br", "div", "li", "tr", "pre", "ul", "ol", "table", "blockquote",
         "h1", "h2", "h3", "h4", "h5", "h6"}
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag in ("script", "style"):
            self._hidden += 1
        elif tag in self._BLOCKS:
            self.found.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._hidden = max(0, self._hidden - 1)
        elif tag in self._BLOCKS:
            self.found.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.found.append(data)


def words_of_html(text: str) -> str:
    """Take the words of a piece of HTML, such as an answer that an export holds as a page."""
    reader = _Words()
    reader.feed(text)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.found).split("\n"))
    return "\n".join(line for line in lines if line)
