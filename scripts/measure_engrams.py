"""Measure what engrams add to a recall: the evidence that their summaries lead to.

    python -m scripts.measure_engrams CONVERSATIONS.json --home DIR
    python -m scripts.measure_engrams CHATS.json --chats --home DIR

Each row lists the share of a question's evidence that is found (R), and how many memories are
shown for it: the first ten hits; these and the evidence of the first engrams; and, with the same
number of memories, more hits without engrams. The home keeps the memories for the next run.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ecphoria import Memory
from ecphoria_eval.datasets.dataset import Collection, Question
from ecphoria_eval.datasets.locomo import load_chats, load_locomo
from ecphoria_eval.measures import recall_at
from ecphoria_eval.run import batches

HITS, DEPTH = 10, 200
ENGRAMS = (1, 3, 10)

Shown = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Hits of a question, best first, and the evidence of each engram, as the data names them."""


def main() -> None:
    """Store, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--chats", action="store_true", help="chats with an assistant")
    parser.add_argument("--home", type=Path, required=True, help="where the store is kept")
    parser.add_argument("--prefix", default="engrams", help="prefix of the tenants' names")
    given = parser.parse_args()
    dataset = (load_chats if given.chats else load_locomo)(given.data)
    found: list[tuple[Question, Shown]] = []
    for number, part in enumerate(track(dataset.collections, "conversations"), start=1):
        with Memory(f"{given.prefix}-{number}", home=given.home, timeout=600.0) as memory:
            found += ask(memory, part)
    Console().print(table_of(found))


def ask(memory: Memory, part: Collection) -> list[tuple[Question, Shown]]:
    """Store one conversation with its engrams, and ask all questions that have evidence."""
    known: dict[str, str] = {}
    for batch in batches(part.memories.items()):
        answer = memory.append_batch([request for _, request in batch])
        for (ident, _), result in zip(batch, answer.results, strict=True):
            if result.id is not None:  # else it was refused
                known[result.id] = ident
    memory.consolidate(steps=["engrams", "clusters"])
    asked = []
    for question in (question for question in part.questions if question.scored):
        result = memory.recall(question.text, k=DEPTH, engrams=max(ENGRAMS), record=False)
        hits = [known[hit.episode.id] for hit in result.hits]
        evidence = [[known[one.id] for one in engram.evidence] for engram in result.engrams]
        asked.append((question, (hits, evidence)))
    return asked


def table_of(found: Sequence[tuple[Question, Shown]]) -> Table:
    """Set hits with engrams beside as many hits without."""
    table = Table("shown", "memories", "R", "R of as many hits", title=f"{len(found)} questions")
    for count in (0, *ENGRAMS):
        sizes, with_engrams, alone = [], [], []
        for question, (hits, evidence) in found:
            more = [one for engram in evidence[:count] for one in engram]
            shown = dict.fromkeys([*hits[:HITS], *more])
            sizes.append(len(shown))
            with_engrams.append(recall_at(list(shown), question.gold, len(shown)))
            alone.append(recall_at(hits, question.gold, len(shown)))
        row = (fmean(sizes), 100 * fmean(with_engrams), 100 * fmean(alone))
        table.add_row(f"{HITS} hits, {count} engrams", *(f"{figure:.1f}" for figure in row))
    return table


if __name__ == "__main__":
    main()
