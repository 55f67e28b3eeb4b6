r"""Read the words and phrases that a cue requires, and check them in a memory.

A phrase is compared word by word as the text index stores a text: in lower case, without
punctuation and without a possessive `'s`. A single word is compared by its stem; one that a stem
does not tell apart, such as `C` and `C#`, is compared as it is.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ecphoria.errors import InvalidInput
from ecphoria.records.recall import Match, Phrase, Required
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import stems

MOST_BETWEEN = 99
_MOST_PARTS = 50
"""Largest number of phrases and required words of a cue; each is a clause of the search."""
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
    words = [one for word in wanted for one in normalised_words(word)]
    found = [stem for word in words if not _is_exact(word) for stem in stems(word)]
    phrases += [Phrase(words=(word,)) for word in words if _is_exact(word)]
    # A stop word has no stem. One that is marked by + is required as it stands.
    marked = (normalised_words(part["word"]) for part in parts if part["word"] is not None)
    phrases += [
        Phrase(words=tuple(words)) for words in marked if words and not stems(" ".join(words))
    ]
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
    """Check whether a memory's words and stems, joined by blanks, have all that is required."""
    if not set(required.stems) <= set(terms.split()):
        return False
    return all(_stands(phrase, words) for phrase in required.phrases)


def _stands(phrase: Phrase, words: str) -> bool:
    if phrase.between == 0:
        return f" {' '.join(phrase.words)} " in f" {words} "
    return _near(phrase, words.split())


def _near(phrase: Phrase, said: Sequence[str]) -> bool:
    """Check whether all words stand in a run of their number and those between, in any order."""
    missing = Counter(phrase.words)
    left, size = len(phrase.words), len(phrase.words) + phrase.between
    for place, word in enumerate(said):
        if place >= size and (gone := said[place - size]) in missing:
            missing[gone] += 1
            left += missing[gone] > 0
        if word in missing:
            left -= missing[word] > 0
            missing[word] -= 1
        if not left:
            return True
    return False


def _is_exact(word: str) -> bool:
    """Tell whether a stem would lose the sign of a word, or a letter stands for itself."""
    if len(word) == 1:
        return word.isascii() and word.isalpha() and bool(stems(word))
    return word[0] == "." or word[-1] in "+#*-"


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
