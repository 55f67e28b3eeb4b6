r"""Read the words and phrases that a cue requires, and check them in a memory.

A phrase is compared word by word as the text index stores a text: in lower case, without
punctuation and without a possessive `'s`. A single word is compared by its stem.
"""

import re
from collections.abc import Mapping, Sequence

from ecphoria.errors import InvalidInput
from ecphoria.records.recall import Match, Phrase, Required
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import stems

MOST_BETWEEN = 99
_MOST_PARTS = 50
"""Phrases and required words of one cue: each is a clause of the search."""
_PART = re.compile(r'"(?P<phrase>[^"]*)"(?:~(?P<between>\d+))?|(?<!\S)\+(?P<word>\w\S*)')


def read_match(cue: str, match: Match) -> tuple[str, Required]:
    """Separate what a cue requires from its plain words.

    Args:
        cue: The cue, perhaps with `"phrases"`, `"near words"~5` and `+words`.
        match: `any` reads no syntax; `all` requires every word; `phrase` requires what is
            marked, or the whole cue as one phrase if nothing is.

    Returns:
        The cue without the marks, and its requirements.

    Raises:
        InvalidInput: A quote is open, a phrase is empty, or nothing is left to require.
    """
    if match is Match.ANY:
        return cue, Required()
    if cue.count('"') % 2:
        raise InvalidInput('a quote is not closed; write "like this"', field="cue")
    parts = list(_PART.finditer(cue))
    plain = _PART.sub(_unmarked, cue).strip()
    phrases = [_phrase(part) for part in parts if part["phrase"] is not None]
    wanted = [part["word"] for part in parts if part["word"] is not None]
    if match is Match.ALL:
        wanted = [*wanted, *_PART.sub(" ", cue).split()]
    elif not parts:
        phrases = [_checked(normalised_words(cue), 0)]
    found = [stem for word in wanted for stem in stems(word)]
    # A stop word has no stem. One that is marked by + is required as it stands.
    marked = (normalised_words(part["word"]) for part in parts if part["word"] is not None)
    phrases += [Phrase(words=tuple(words)) for words in marked if words and not _stem(words)]
    required = Required(stems=tuple(dict.fromkeys(found)), phrases=tuple(dict.fromkeys(phrases)))
    if required == Required():
        raise InvalidInput(
            'no word of the cue can be required; put its words in quotes: "to be or not to be"',
            field="cue",
        )
    if len(required.stems) + len(required.phrases) > _MOST_PARTS:
        raise InvalidInput(
            f"the cue requires more than {_MOST_PARTS} words and phrases; ask for fewer, or send"
            " `match: any`",
            field="cue",
        )
    return plain, required


def holds(required: Required, *, words: str, terms: str) -> bool:
    """Check whether a memory has all that is required.

    Args:
        required: Stems and phrases.
        words: The memory's normalised words, joined by blanks.
        terms: Its stems, joined by blanks.
    """
    if not set(required.stems) <= set(terms.split()):
        return False
    if not required.phrases:
        return True
    said = words.split()
    places: dict[str, list[int]] = {}
    for place, word in enumerate(said):
        places.setdefault(word, []).append(place)
    return all(_stands(phrase, said, places) for phrase in required.phrases)


def _stands(phrase: Phrase, said: Sequence[str], places: Mapping[str, Sequence[int]]) -> bool:
    size = len(phrase.words)
    if phrase.between == 0:
        starts = places.get(phrase.words[0], ())
        return any(tuple(said[at : at + size]) == phrase.words for at in starts)
    return any(
        _near(phrase, said, at) for word in set(phrase.words) for at in places.get(word, ())
    )


def _near(phrase: Phrase, said: Sequence[str], start: int) -> bool:
    """Check whether all words stand in the run from `start` on, in any order."""
    left = list(phrase.words)
    for word in said[start : start + len(phrase.words) + phrase.between]:
        if word in left:
            left.remove(word)
    return not left


def _phrase(part: re.Match[str]) -> Phrase:
    between = int(part["between"] or 0)
    if between > MOST_BETWEEN:
        raise InvalidInput(
            f"at most {MOST_BETWEEN} words may stand between the words of a phrase", field="cue"
        )
    return _checked(normalised_words(part["phrase"]), between)


def _checked(words: Sequence[str], between: int) -> Phrase:
    if not words:
        raise InvalidInput("a phrase has no words; write at least one in quotes", field="cue")
    return Phrase(words=tuple(words), between=between)


def _unmarked(part: re.Match[str]) -> str:
    return f" {part['phrase'] or part['word'] or ''} "


def _stem(words: Sequence[str]) -> tuple[str, ...]:
    return stems(" ".join(words))
