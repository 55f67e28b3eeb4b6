"""Count tokens as a language model does; the table comes with a package, not from a network."""

from collections.abc import Sequence

import toktok

TOKEN_COUNTER = "o200k_base"  # noqa: S105 (the name of a table)
"""The table that counts: the one of GPT-4o and later models of OpenAI."""

_THREADS = 1  # the texts are short: a pool of threads costs more than it saves


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Count the tokens of each text. The first call loads the table, about 50 MB."""
    counts: list[int] = toktok.batch_count(texts, TOKEN_COUNTER, threads=_THREADS)
    return counts


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the longest start of a text with at most `limit` tokens, in whole characters."""
    kept: str
    kept, _ = toktok.truncate(text, limit, TOKEN_COUNTER)
    return kept
