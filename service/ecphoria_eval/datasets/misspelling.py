"""Misspell one word of each question, as a person who types fast does."""

import random
import re
from dataclasses import replace
from string import ascii_lowercase

from ecphoria.text.english import STOP_WORDS
from ecphoria_eval.datasets.dataset import Dataset

_WORD = re.compile(r"[A-Za-z]{5,}")


def misspelt(dataset: Dataset) -> Dataset:
    """Misspell one word of each question; the same word in the same way every time.

    It has at least five letters and is no function word. Its first and last letter stay, as people
    rarely miss these.
    """
    parts = [
        replace(
            part,
            questions=tuple(
                replace(question, text=_misspelt(question.text, f"{part.name} {question.id}"))
                for question in part.questions
            ),
        )
        for part in dataset.collections
    ]
    changed = replace(dataset, collections=tuple(parts))
    pairs = zip(dataset.questions, changed.questions, strict=True)
    number = sum(one.text != other.text for one, other in pairs)
    findings = {**dataset.findings, "questions with a misspelt word": number}
    return replace(changed, findings=findings)


def _misspelt(text: str, seed: str) -> str:
    chance = random.Random(seed)  # noqa: S311 (no secret)
    words = [one for one in _WORD.finditer(text) if one[0].lower() not in STOP_WORDS]
    if not words:
        return text
    word = chance.choice(words)
    return f"{text[: word.start()]}{_slip(word[0], chance)}{text[word.end() :]}"


def _slip(word: str, chance: random.Random) -> str:
    """Leave out, double, replace or swap letters of a word; its first and last stay.

    >>> {_slip("abcde", random.Random(seed)) for seed in range(200)} >= {"acde", "abbcde", "acbde"}
    True
    """
    at = chance.randrange(1, len(word) - 1)
    before, letter, behind = word[:at], word[at], word[at + 1 :]
    slips = [before + behind, before + 2 * letter + behind]
    slips.append(before + chance.choice(ascii_lowercase.replace(letter.lower(), "")) + behind)
    if len(behind) > 1 and behind[0] != letter:
        slips.append(before + behind[0] + letter + behind[1:])
    return chance.choice(slips)
