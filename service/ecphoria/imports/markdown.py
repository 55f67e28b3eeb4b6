"""Files of markdown, each with front matter or without: a document a file.

The service cuts long documents into passages by itself, so no file is cut here.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Final

from ecphoria.errors import Misconfigured, install
from ecphoria.imports.streams import Reading, shown
from ecphoria.imports.values import Fields, instant, metadata
from ecphoria.records.forms import composed

PAGES: Final = ("*.md", "*.markdown")
_TIMES: Final = ("date", "created")
_HEADING: Final = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCE: Final = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"[^\s:#-][^:\n]*:(?=\s)")
FIELDS: Final = "fields of front matter that cannot be read"


def page(text: str, front: Mapping[Any, Any], name: str, reading: Reading) -> Iterator[Fields]:
    """Make a document of a text and the fields in front of it.

    Its key is the path in one form of Unicode, so a folder that was copied between systems has the
    same keys on both.
    """
    body = text.strip()
    if not body:
        reading.leave("files without text")
        return
    heading = _HEADING.search(body)
    known = heading[1] if heading else PurePosixPath(name).stem
    title = front.get("title")
    titled = isinstance(title, str | int | float | date) and bool(str(title).strip())
    reading.leave_parts(FIELDS, title not in (None, "") and not titled)
    when = next((front[key] for key in _TIMES if instant(front.get(key)) is not None), None)
    unread = sum(front.get(key) is not None and instant(front[key]) is None for key in _TIMES)
    reading.leave_parts(FIELDS, unread)
    rest = {key: value for key, value in front.items() if key not in ("title", *_TIMES)}
    path = composed(shown(name))
    yield {
        "text": body,
        "title": str(title) if titled else known,
        "source": path,
        "metadata": metadata(rest, reading.parts),
        "idempotency_key": f"markdown-{path}",
        **(reading.occurred(when) if when is not None else {}),
    }


def parted(text: str, reading: Reading) -> tuple[Mapping[Any, Any], str]:
    """Part the front matter from the text.

    Front matter that is no YAML is read field by field; one that cannot be read is counted. A text
    that begins with a ruler and has no fields keeps all its words.
    """
    found = _FENCE.match(text)
    if found is None:
        return {}, text
    front, body = found[1] or "", text[found.end() :]
    fields = _yaml(front)
    if isinstance(fields, dict):
        return fields, body
    blocks = re.split(r"\n(?![\s}\]-])", front)
    blocks = [block for block in blocks if block.strip() and not block.startswith("#")]
    if fields is not None or not all(_FIELD.match(f"{block.lstrip()}\n") for block in blocks):
        return {}, text
    kept: dict[Any, Any] = {}
    for block in blocks:
        one = _yaml(block)
        reading.leave_parts(FIELDS, not isinstance(one, dict))
        kept.update(one if isinstance(one, dict) else {})
    return kept, body


def _yaml(front: str) -> Any:
    """Read YAML; None if it is none, and an empty object for nothing."""
    try:
        from frontmatter.default_handlers import YAMLHandler  # noqa: PLC0415 (extra `import`)
        from yaml import YAMLError  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"Reading front matter needs python-frontmatter: {install('import')}."
        ) from missing
    try:
        found = YAMLHandler().load(front)
    except (YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return {} if found is None else found
