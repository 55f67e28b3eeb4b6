"""Write the synchronous client from the asynchronous one: the same text without the waiting.

Run it after a change to a module `async_*.py` in `service/ecphoria/client`; a test compares the
result.

    python scripts/generate_sync_client.py
"""

import re
import subprocess
import sys
from pathlib import Path

__all__ = ["TWINS", "generate"]

_CLIENT = Path(__file__).parents[1] / "service" / "ecphoria" / "client"
TWINS = {
    _CLIENT / "async_client.py": _CLIENT / "sync_client.py",
    _CLIENT / "async_jobs.py": _CLIENT / "sync_jobs.py",
    _CLIENT / "async_facts.py": _CLIENT / "sync_facts.py",
    _CLIENT / "async_learning.py": _CLIENT / "sync_learning.py",
    _CLIENT / "async_merges.py": _CLIENT / "sync_merges.py",
    _CLIENT / "async_sending.py": _CLIENT / "sync_sending.py",
    _CLIENT / "async_shadow.py": _CLIENT / "sync_shadow.py",
    _CLIENT / "async_upkeep.py": _CLIENT / "sync_upkeep.py",
}

_WORDS = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncFacts": "Facts",
    "AsyncIterator": "Iterator",
    "AsyncJobs": "Jobs",
    "AsyncLearner": "Learner",
    "AsyncMerger": "Merger",
    "AsyncSender": "Sender",
    "AsyncShadowing": "Shadowing",
    "AsyncUpkeep": "Upkeep",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "asyncio": "time",
    "async_jobs": "sync_jobs",
    "async_facts": "sync_facts",
    "async_learning": "sync_learning",
    "async_merges": "sync_merges",
    "async_sending": "sync_sending",
    "async_shadow": "sync_shadow",
    "async_upkeep": "sync_upkeep",
    "asynchronous": "synchronous",
}
_KEYWORD = re.compile(r"\b(?:async (?=def |for |with )|await )")
_WORD = re.compile(r"\b(?:" + "|".join(_WORDS) + r")\b")
_HEADER = "# Generated from {} by scripts/generate_sync_client.py; edit that one.\n"


def generate(source: Path) -> str:
    """Turn the text of an asynchronous module into that of its synchronous twin."""
    text = _KEYWORD.sub("", source.read_text(encoding="utf-8"))
    text = _WORD.sub(lambda match: _WORDS[match[0]], text)
    # Imports change places, and a loop that yields becomes `yield from`.
    tidied = _ruff(text, "check", "--select", "I,UP028", "--fix", "--unsafe-fixes", "--quiet")
    return _HEADER.format(source.name) + _ruff(tidied, "format")


def _ruff(text: str, *arguments: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        *arguments,
        "--stdin-filename",
        str(_CLIENT / "twin.py"),
        "-",
    ]
    return subprocess.run(  # noqa: S603 (our own arguments)
        command, input=text, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    for one, twin in TWINS.items():
        twin.write_text(generate(one), encoding="utf-8")
