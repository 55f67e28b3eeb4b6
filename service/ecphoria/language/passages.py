"""Strip from a passage the marks that a collection put there."""

import re

__all__ = ["clean_chunk"]

_SENTENCE_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


def clean_chunk(title: str, chunk: str) -> str:
    """Return a chunk's body: no leading `Title: T` line or `T:`, no sentence numbers, one line.

    Left in, the title counts twice and the numbers become words; numbered sentences are often cut
    in the middle, so that their lines are joined again.
    """
    body = chunk
    for head in (f"Title: {title}\n", f"{title}:"):
        if body.startswith(head):
            body = body[len(head) :]
            break
    return " ".join(_SENTENCE_NUMBER.sub("", body).split("\n")).strip()
