"""Write the synchronous client from the asynchronous one: the same text without the waiting.

Run it after a change to `service/ecphoria/client/async_client.py`; a test compares the result.

    python scripts/generate_sync_client.py
"""

import re
import subprocess
import sys
from pathlib import Path

__all__ = ["generate"]

_CLIENT = Path(__file__).parents[1] / "service" / "ecphoria" / "client"
SOURCE = _CLIENT / "async_client.py"
TARGET = _CLIENT / "sync_client.py"

_WORDS = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "asyncio": "time",
    "asynchronous": "synchronous",
}
_KEYWORD = re.compile(r"\b(?:async (?=def |for |with )|await )")
_WORD = re.compile(r"\b(?:" + "|".join(_WORDS) + r")\b")
_HEADER = "# Generated from async_client.py by scripts/generate_sync_client.py; edit that one.\n"


def generate(source: str) -> str:
    """Turn the text of the asynchronous module into that of its synchronous twin."""
    text = _WORD.sub(lambda match: _WORDS[match[0]], _KEYWORD.sub("", source))
    # Imports change places, and a loop that yields becomes `yield from`.
    tidied = _ruff(text, "check", "--select", "I,UP028", "--fix", "--unsafe-fixes", "--quiet")
    return _HEADER + _ruff(tidied, "format")


def _ruff(text: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(  # noqa: S603 (our own arguments)
        command, input=text, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    TARGET.write_text(generate(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
