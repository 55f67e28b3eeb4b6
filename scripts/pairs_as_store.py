"""Turn pairs of question and passage into data of `ecphoria eval passages`.

    python -m scripts.pairs_as_store fairy.jsonl.gz tales.json
    ecphoria eval passages --data tales.json --strategy ecphoria --strategy fusion

Such pairs train the reader (`scripts/train_reader.py`), and nothing that ranks was tuned on them.
Each line has `q`, `qid`, `p` (a passage) and `y` (1 if it holds the answer). The store are all
passages, or a sample; the questions are a sample of those with an answer in it.
"""

import argparse
import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any


def main() -> None:
    """Write the questions, each with its passages and a part of the others."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pairs", type=Path, help="JSON lines, gzipped")
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--questions", type=int, default=250, help="how many")
    parser.add_argument("--passages", type=int, default=3_000, help="at most so many are stored")
    parser.add_argument("--seed", type=int, default=7, help="of the samples")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  # a sample needs no secret
    with gzip.open(given.pairs, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    passages = sorted({row["p"] for row in rows})
    chance.shuffle(passages)
    kept = passages[: given.passages]
    questions = chosen(rows, set(kept), given.questions, chance)
    # Each question brings its share of the passages; the store is the union of all.
    shares = [kept[place :: len(questions)] for place in range(len(questions))]
    found = [question(asked, share) for asked, share in zip(questions, shares, strict=True)]
    given.out.write_text(json.dumps(found), encoding="utf-8")
    print(f"{len(found)} questions, {len(kept)} passages: {given.out}")


def chosen(
    rows: list[dict[str, Any]], kept: set[str], count: int, chance: random.Random
) -> list[list[dict[str, Any]]]:
    """Sample questions whose passages with the answer are all kept."""
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["y"]:
            asked[row["qid"]].append(row)
    whole = [gold for gold in asked.values() if all(row["p"] in kept for row in gold)]
    return chance.sample(whole, min(count, len(whole)))


def question(gold: list[dict[str, Any]], share: list[str]) -> dict[str, Any]:
    """Build a record of MuSiQue: a question with passages."""
    holding = {row["p"] for row in gold}
    every = [*sorted(holding), *(passage for passage in share if passage not in holding)]
    return {
        "id": gold[0]["qid"],
        "question": gold[0]["q"],
        "answer": gold[0]["a"],
        "paragraphs": [
            {"title": "", "paragraph_text": passage, "is_supporting": passage in holding}
            for passage in every
        ],
    }


if __name__ == "__main__":
    main()
