"""Make a question of what one memory states, as the user would ask for it.

1. The statement is the sentence with the most content words that is no question; it needs five.
   What a tool or the system said is left out.
2. Half of its content words are dropped, numbers first, then by chance; three to six stay, each
   with the two function words before it. So the question is short as people ask, it is no echo,
   and what would answer it is partly missing from it.
3. It is asked from the user's side: `What did I` for what the user said, `What did you` for what
   the assistant said (then `I` and `you` change places), `What did NAME` for what another person
   said. For what nobody said it is `What did I` if it speaks in the first person, else `What is`.

The same seed makes the same questions of the same memories.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import takewhile
from random import Random
from typing import Final

from ecphoria.records.episode import Episode
from ecphoria.text.cue import without_caption
from ecphoria.text.cue_words import FIRST_PERSON
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.tokens import words

LEAST_WORDS: Final = 5
"""Distinct content words that a statement needs."""

_LEAST_KEPT, _MOST_KEPT, _BEFORE = 3, 6, 2
_LONGEST, _READ = 40, 20_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\r\n]+")
_EDGE = ".,;:!?()[]{}<>\"'`*_#|\u2018\u2019\u201c\u201d"
_SWAPPED: Final[Mapping[str, str]] = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself",
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestion:
    """A question, and the memory that answers it."""

    episode: str
    words: str
    text: str


def question_of(episode: Episode, seed: int) -> OwnQuestion | None:
    """Make a question of a memory, without the words that the `seed` chooses.

    None if it says too little.
    """
    role = (episode.role or episode.speaker or "").strip().lower()
    statement = _statement(without_caption(episode.text[:_READ]))
    if role in {"tool", "system"} or not statement:
        return None
    opener, turned = _asker(role, (episode.speaker or "").strip(), statement)
    random = Random(f"{seed}:{episode.id}")  # noqa: S311 (a sample, no secret)
    kept = _without_some(statement, random)
    told = [word for word in (turned.get(_bare(word), word) for word in kept) if word]
    if told[0] == "I":
        opener = "What did I"
    spoken = _trimmed(told, opener)
    return OwnQuestion(
        episode=episode.id, words=episode.text, text=f"{opener} {' '.join(spoken)}?"
    )


def _asker(role: str, speaker: str, statement: list[str]) -> tuple[str, Mapping[str, str]]:
    """Say how the question begins, and which words change."""
    if role == "user":
        return "What did I", {}
    if role == "assistant":
        return "What did you", _SWAPPED
    if not speaker:
        own = FIRST_PERSON.search(" ".join(statement)) is not None
        return "What did I" if own else "What is", {}
    theirs = {"my": f"{speaker}'s", "mine": f"{speaker}'s", "your": "", "yours": "", "you": ""}
    return f"What did {speaker}", {**dict.fromkeys(("i", "me", "myself"), speaker), **theirs}


def _statement(text: str) -> list[str]:
    """Find the sentence that says most, as words without punctuation; empty if none does."""
    best: list[str] = []
    most = LEAST_WORDS - 1
    for sentence in _SENTENCE.split(text):
        if sentence.rstrip().endswith("?"):
            continue
        spoken = [bare for word in sentence.split()[:_LONGEST] if (bare := word.strip(_EDGE))]
        content = len({word.lower() for word in spoken if _is_content(word)})
        if content > most:
            best, most = spoken, content
    return best


def _without_some(statement: list[str], random: Random) -> list[str]:
    places = [place for place, word in enumerate(statement) if _is_content(word)]
    keep = min(max(_LEAST_KEPT, len(places) // 2), _MOST_KEPT)
    random.shuffle(places)
    places.sort(key=lambda place: any(map(str.isdigit, statement[place])))
    kept = set(places[:keep])
    for place in sorted(kept):
        before = range(place - 1, max(place - 1 - _BEFORE, -1), -1)
        kept |= set(takewhile(lambda one: not _is_content(statement[one]), before))
    return [word for place, word in enumerate(statement) if place in kept]


def _trimmed(spoken: list[str], opener: str) -> list[str]:
    """Remove words that the opener repeats, and trailing function words."""
    subject = opener.rpartition(" ")[2].lower()
    start = 1 if spoken and _bare(spoken[0]) == subject else 0
    end = len(spoken)
    while end > start and not _is_content(spoken[end - 1]):
        end -= 1
    return spoken[start:end]


def _is_content(word: str) -> bool:
    return any(one not in STOP_WORDS and (len(one) > 1 or one.isdigit()) for one in words(word))


def _bare(word: str) -> str:
    """Cut a contraction at its apostrophe: `I'm` is `i`."""
    return re.split("['\u2019]", word, maxsplit=1)[0].lower()


LEAST_OVERLAP: Final = 0.9
"""Share of the words of two texts that both must have for one to be a near copy."""


def distinct_words(text: str) -> frozenset[str]:
    """Normalise a text to its distinct lower-case words."""
    return frozenset(words(text))


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Share of the distinct words of two texts that both have; 0 without any words.

    >>> jaccard({"red", "kiln"}, {"red", "wheel"}) == 1 / 3
    True
    """
    either = len(one | other)
    return len(one & other) / either if either else 0.0
