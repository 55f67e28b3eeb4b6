"""Which concepts a cue names: every run of its words is looked up, then the longest ones stay."""

from collections.abc import Mapping, Sequence

from ecphoria.recall.ports import FoundConcept
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import STOP_WORDS

_LONGEST = 16
"""Words of the longest name looked up."""


def runs(cue: str) -> tuple[str, ...]:
    """List every run of up to sixteen words of a cue that could be a name."""
    words = normalised_words(cue)
    found = {
        " ".join(words[start : start + size])
        for size in range(1, _LONGEST + 1)
        for start in range(len(words) - size + 1)
    }
    return tuple(sorted(name for name in found if name not in STOP_WORDS))


def named(cue: str, found: Sequence[FoundConcept]) -> tuple[FoundConcept, ...]:
    """Choose from the concepts found: leftmost, then longest, not overlapping.

    A one-word name that is also an ordinary word of the store counts only if the cue writes it
    with a capital.
    """
    words = normalised_words(cue)
    capitals = {
        word for part in cue.split() if part[:1].isupper() for word in normalised_words(part)
    }
    by_name: Mapping[str, FoundConcept] = {
        concept.normalised: concept
        for concept in found
        if not concept.lower or " " in concept.normalised or concept.normalised in capitals
    }
    chosen: dict[str, FoundConcept] = {}
    start = 0
    while start < len(words):
        for size in range(min(_LONGEST, len(words) - start), 0, -1):
            name = " ".join(words[start : start + size])
            if name in by_name:
                chosen[name] = by_name[name]
                start += size
                break
        else:
            start += 1
    return tuple(chosen.values())
