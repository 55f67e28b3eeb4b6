"""Write the synchronous client: the text of the asynchronous one without `async` and `await`.

The generated modules are not committed. Make, the tests and the build of a wheel (build_hook.py)
run this script; it needs nothing but Python.

    python scripts/generate_sync_client.py
"""

import re
from pathlib import Path

__all__ = ["refresh"]

_CLIENT = Path(__file__).parents[1] / "service" / "ecphoria" / "client"
_HEADER = "# Generated from {} by scripts/generate_sync_client.py; edit that one.\n"
_REWRITES = (
    (r"\b(?:async (?=def |for |with )|await )", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basync_(?=\w+ import )", "sync_"),
    (r"\b__a(?=enter__|exit__)", "__"),
    (r"\baclose\b", "close"),
    (r"\ba(?=read\b|iter_sse\b)", ""),
    (r"\basyncio\b", "time"),
    (r"\basynchronous\b", "synchronous"),
)


def refresh(client: Path = _CLIENT) -> None:
    """Write the synchronous twin of every asynchronous module whose twin is absent or differs."""
    sources = sorted(client.glob("async_*.py"))
    twins = {client / source.name.removeprefix("a"): _twin_of(source) for source in sources}
    for left_over in set(client.glob("sync_*.py")) - set(twins):
        left_over.unlink()
    for path, text in twins.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _twin_of(source: Path) -> str:
    text = source.read_text(encoding="utf-8")
    for pattern, replacement in _REWRITES:
        text = re.sub(pattern, replacement, text)
    return _HEADER.format(source.name) + text


if __name__ == "__main__":
    refresh()
