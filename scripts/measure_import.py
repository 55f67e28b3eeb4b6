"""Measure the reading of a large export: one like ChatGPT's, made up of invented words.

    python -m scripts.measure_import --mb 1000
    python -m scripts.measure_import --mb 10 --import-it

The file is written first, and is not part of the figures. The peak is the most memory that the
process had resident while it read, less what it had before. `--import-it` sends the episodes to
the service that the environment names, as `ecphoria import` does.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ecphoria import Client
from ecphoria.errors import BadFile
from ecphoria.imports.exports import opened
from ecphoria.imports.formats import Format
from ecphoria.imports.records import batches

_SYLLABLES = ["ka", "lo", "mi", "ra", "te", "su", "no", "vi", "pe", "du", "ar", "en"]
_TURNS, _WORDS, _TEXTS = 40, (5, 400), 1_000
_BATCH, _BATCH_BYTES = 200, 4_000_000


def main() -> None:
    """Write an export, read it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1_000, help="size of the export")
    parser.add_argument("--import-it", action="store_true", help="also store the episodes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversations.json"
        talks = write_export(file, size=given.mb * 1_000_000)
        before, begun = _peak_mb(), time.perf_counter()
        turns = _send(file) if given.import_it else _read(file)
        seconds = time.perf_counter() - begun
        size = file.stat().st_size / 1e6
    print(
        f"{size:,.0f} MB, {talks:,} conversations, {turns:,} turns: {seconds:,.1f} s, "
        f"{size / seconds:.1f} MB/s, {turns / seconds:,.0f} turns/s, "
        f"peak {_peak_mb():.0f} MB ({_peak_mb() - before:.0f} MB more than before)"
    )


def write_export(file: Path, *, size: int) -> int:
    """Write conversations until the file has the size; return their number."""
    words = random.Random(0)  # noqa: S311 (nothing is kept secret)
    talks = written = 0
    with file.open("w", encoding="utf-8") as stream:
        stream.write("[")
        for talks, talk in enumerate(_talks(words), start=1):
            text = json.dumps(talk)
            stream.write(("," if talks > 1 else "") + text)
            written += len(text) + 1
            if written >= size:
                break
        stream.write("]")
    return talks


def _talks(words: random.Random) -> Iterator[dict[str, object]]:
    texts = [_text(words) for _ in range(_TEXTS)]
    number = 0
    while True:
        number += 1
        ident = f"{words.getrandbits(128):032x}"
        nodes: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None}}
        parent, begun = "root", 1_700_000_000 + number * 3_600
        for turn in range(_TURNS):
            name = f"{ident}-{turn}"
            nodes[name] = {
                "id": name,
                "parent": parent,
                "children": [f"{ident}-{turn + 1}"],
                "message": {
                    "id": name,
                    "author": {"role": "assistant" if turn % 2 else "user", "metadata": {}},
                    "create_time": begun + turn,
                    "content": {
                        "content_type": "text",
                        "parts": [f"{words.choice(texts)} {name}"],
                    },
                    "status": "finished_successfully",
                    "metadata": {"model_slug": "a-model", "timestamp_": "absolute"},
                },
            }
            parent = name
        yield {
            "title": f"Talk {number}", "create_time": begun, "conversation_id": ident,
            "current_node": parent, "mapping": nodes,
        }  # fmt: skip


def _text(words: random.Random) -> str:
    length = words.randint(*_WORDS)
    return " ".join("".join(words.choices(_SYLLABLES, k=3)) for _ in range(length))


def _read(file: Path) -> int:
    turns = 0
    with opened(file, Format.CHATGPT) as export:
        for part in batches(export.records, items=_BATCH, size=_BATCH_BYTES):
            _check(part.bad)
            turns += len(part.good)
    return turns


def _send(file: Path) -> int:
    turns = 0
    with opened(file, Format.CHATGPT) as export, Client() as client:
        for part in batches(export.records, items=_BATCH, size=_BATCH_BYTES):
            _check(part.bad)
            turns += client.append_batch([request for _, request in part.good]).created
    return turns


def _check(bad: tuple[tuple[object, BadFile], ...]) -> None:
    for _, fault in bad:
        raise fault


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


if __name__ == "__main__":
    main()
