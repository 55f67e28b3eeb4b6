"""Find names in text by their capitals, and normalise them."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from ecphoria.records.forms import lowered, plain
from ecphoria.text.english import (
    CONNECTORS,
    CONTRACTED,
    FUNCTION_WORDS,
    HONORIFICS,
    MONTHS,
    NAMELESS_WORDS,
    NUMBER_UNITS,
    ORGANISATION_WORDS,
    PLACE_WORDS,
    WEEKDAYS,
)
from ecphoria.text.languages import LANGUAGES, Language, languages_of
from ecphoria.text.tables import any_of
from ecphoria.text.tokens import (
    APOSTROPHES,
    MARKS,
    SENTENCE_ENDS,
    UNSPACED_ENDS,
    UPPER,
    stems_of,
    word_set,
    words,
)

_LONGEST_NAME = 1_500
"""Characters; a text in capitals throughout is no name, and an index key has its bounds."""

_CUT = re.compile(rf"(?<=[{SENTENCE_ENDS}])\s+|(?<=[{UNSPACED_ENDS}])|[\r\n]+")
_LETTERS = rf"\w{MARKS}"
_SIGN = rf"(?:\+{{2,4}}(?!\+)|[+#](?![{_LETTERS}+#]))"
"""Behind a word it makes another name: `C++`, `C#`, `Disney+`; not in `a+b` or `page#part`."""
_DOT = rf"(?:(?<![{_LETTERS}.])\.(?=[^\W\d_]))"
"""In front of a word it does too: `.NET`."""
# Scripts without capitals have no candidates by rule; their titles still become concepts
# (docs/explanation/extraction.md).
_CAPITALISED = rf"{_DOT}?[{UPPER}\d][\w{APOSTROPHES}.&{MARKS}-]*+{_SIGN}?"
_CAPITAL_WORD = re.compile(rf"(?<!\w){_CAPITALISED}")
_CONNECTOR = any_of(map(re.escape, CONNECTORS))
_SPAN = re.compile(rf"{_CAPITALISED}(?:\s+(?:(?:{_CONNECTOR})\s+){{0,2}}{_CAPITALISED})*")
_EDGE = f" .{APOSTROPHES}-"
_POSSESSIVE = re.compile(rf"[{APOSTROPHES}]s\b")
_WORD = re.compile(
    rf"{_DOT}?(?:(?<![{_LETTERS}*])(?:ab|[^\W\d_])[*-](?![{_LETTERS}*-])"
    rf"|(?=\d*[^\W\d_])[{_LETTERS}]++{_SIGN}|[{_LETTERS}]+)"
)
"""A word of lower-case text with the signs that belong to it; those of marks and blood groups
(`A-`, `AB-`, `A*`) stand behind few letters only. A number has none, so `18+` is a number."""
_CONTRACTION = re.compile(
    r"(?:i|you|he|she|it|we|they|that|this|there|here|what|who|where|when|why|how|let|y)"
    r"[\'\u2019](?:m|re|ve|ll|d|s|all)|\w+n[\'\u2019]t",
    re.IGNORECASE,
)
"""Two function words written as one, such as `I'm`, `we've` or `don't`."""
_SUBJECT_VERB = re.compile(
    r"\s+(?:is|was|has|had|will|would|can|could|did|does|said|says|told|went|came|got|made|took|gave"
    r"|died|wrote|became|began|won|left|lives|lived|works|worked|moved|married|played|served)\b"
)
"""Behind the first word of a sentence, it makes that word the subject: `Ana was` but `Sow the`."""
_ADDRESSED = re.compile(r"[@#](?=[^\W\d_])")
_LOWER = re.compile(rf"(?:[^\W\d_][{MARKS}]*)+")
_INITIAL = re.compile(rf"[{UPPER}]\.")
_NUMBER = re.compile(rf"\d+(?:{'|'.join(NUMBER_UNITS)})?")
_NAMELESS = FUNCTION_WORDS | NAMELESS_WORDS | CONTRACTED | CONNECTORS
_LETTER = re.compile(r"[^\W\d_]")
_CALENDAR = frozenset(MONTHS) | frozenset(WEEKDAYS)


class NameKind(StrEnum):
    """The likely kind of a name; TOPIC when the text does not tell."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    TIME = "time"
    TITLE = "title"
    TOPIC = "topic"


def encoded_name(
    name: str, kind: str, cognitive: str | None = None, description: str | None = None
) -> str:
    """Give the text of a concept's vector: the name, its type and its description, if known.

    Source: EcphoryRAG 3.1, `NAME [TYPE] [DESC]`.
    """
    known = cognitive if kind == NameKind.TOPIC else kind
    return " ".join([name, *(f"[{part}]" for part in (known, description) if part)])


def normalise(name: str) -> str:
    """Normalise a name, so that all its spellings are equal.

    A closing bracket and `'s` go, case goes, all but letters and digits of any script becomes
    one space; accents stay, and so do signs that tell names apart (`C++`, `C#`, `A+`, `.NET`,
    `@ana`). The result may be empty.
    """
    name = plain(name).strip()
    bracket = name.rfind("(") if name.endswith(")") else -1
    words = " ".join(normalised_words(name[:bracket] if bracket > 0 else name))
    sign = _ADDRESSED.match(name)
    return f"{sign[0]}{words}" if sign else words


def normalised_words(text: str) -> list[str]:
    """Split running text as `normalise` does, so that names can be looked up in it.

    The `@` and `#` in front of a word are left out here: a text that addresses `@Ana` speaks of
    Ana.
    """
    text = _POSSESSIVE.sub("", lowered(text)).replace("_", " ")
    return _WORD.findall(text if text.isascii() else text.replace("\u2212", "-"))


def capitalised_words(text: str) -> frozenset[str]:
    """Collect, normalised, the words written with a capital."""
    return frozenset(
        word for match in _CAPITAL_WORD.findall(plain(text)) for word in normalised_words(match)
    )


def candidate_spans(body: str) -> Iterator[str]:
    r"""Yield, as written and in order, runs of capitalised words that may be names.

    The text is cut after `. ! ?` and at line breaks. A run is `T(\s+(C\s+){0,2}T)*` with T a
    word that starts with a capital or a digit and C a connector; function words and contractions
    at its ends go. A word at the start of a sentence owes its capital to its place: it is no
    candidate by itself, nor together with a number or date that a connector joins to it, unless a
    verb behind it makes it the subject.
    """
    silent = frozenset(word for one in languages_of(body) for word in one.function)
    for sentence in _CUT.split(plain(body)):
        letter = _LETTER.search(sentence)
        # Only marks and numbers are before it, as in `- Sow` or `2) Sow`.
        opening = letter.start() if letter else len(sentence)
        for match in _SPAN.finditer(sentence):
            parts = match[0].rstrip(_EDGE).split()
            inner = _trim(parts, silent)
            span = " ".join(inner).rstrip(_EDGE)
            opens = (
                inner[:1] == parts[:1]
                and match.start() <= opening
                and not _SUBJECT_VERB.match(sentence, match.end())
            )
            if span and not (opens and _is_capitalised_by_place(inner)):
                yield span


def _trim(parts: list[str], silent: frozenset[str]) -> list[str]:
    """Remove function words, those of the text's language too, and contractions at both ends."""
    start, stop = 0, len(parts)
    while start < stop and _is_function_word(parts[start], silent):
        start += 1
    while stop > start and _is_function_word(parts[stop - 1], silent):
        stop -= 1
    return parts[start:stop]


def _is_function_word(part: str, silent: frozenset[str]) -> bool:
    word = part.strip(_EDGE)
    lower = word.lower()
    if lower in silent or lower in FUNCTION_WORDS or _CONTRACTION.fullmatch(word):
        return True
    return lower in NAMELESS_WORDS and not (len(word) > 1 and word.isupper())


def _is_capitalised_by_place(parts: list[str]) -> bool:
    """Tell whether a run at the start of a sentence has no other sign of a name.

    Such signs are a capital inside the word, as in `NASA` or `McRoe`, and a further word:
    `Apollo 11` stays, `Open at 8` and `Harvest in June` do not.
    """
    first, *rest = (part.strip(_EDGE) for part in parts)
    if not first.isalpha() or any(map(str.isupper, first[1:])):
        return False
    joined = [word.lower() for word in rest]
    return not joined or (
        joined[0] in CONNECTORS
        and all(
            word in CONNECTORS or word in _CALENDAR or _NUMBER.fullmatch(word) for word in joined
        )
    )


def is_indexable(name: str) -> bool:
    """Tell whether a normalised name is neither empty nor longer than a name can be."""
    return 0 < len(name) <= _LONGEST_NAME


def is_name(name: str) -> bool:
    """Tell whether a normalised candidate can name a concept.

    Dates, numbers, stubs, and names made of function words and contractions alone cannot; a bare
    year can.
    """
    if len(name) < 3 or not is_indexable(name):
        return False
    words = name.split()
    if _is_year(name):
        return True
    if all(word in _NAMELESS or _NUMBER.fullmatch(word) for word in words):
        return False
    return words[0] not in _CALENDAR or not all(
        word in _CALENDAR or word.isdigit() for word in words[1:]
    )


def lower_words(body: str) -> frozenset[str]:
    """Collect the whole words of letters that occur in lower case, if a name can be as long."""
    return frozenset(
        word
        for word in _LOWER.findall(plain(body))
        if word.islower() and len(word) <= _LONGEST_NAME
    )


def name_kind(surface: str) -> NameKind:
    """Guess the kind from the words of a name alone, by few rules that are rarely wrong."""
    parts = [part.strip(_EDGE).lower() for part in surface.split()]
    if not parts:
        return NameKind.TOPIC
    if any(part in _CALENDAR for part in parts) or (len(parts) == 1 and _is_year(parts[0])):
        return NameKind.TIME
    if not ORGANISATION_WORDS.isdisjoint((parts[0], parts[-1])):
        return NameKind.ORGANISATION
    if not PLACE_WORDS.isdisjoint((parts[0], parts[-1])):
        return NameKind.PLACE
    if parts[0] in HONORIFICS or (len(parts) == 3 and _INITIAL.fullmatch(surface.split()[1])):
        return NameKind.PERSON
    return NameKind.TOPIC


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit()


_WRITTEN: Final = rf"(?:[{UPPER}](?:[^\W\d_](?<![{UPPER}])){{2,}})"
_NAMED: Final = re.compile(rf"(?<=\s){_WRITTEN}(?!\w)|^{_WRITTEN}(?=[{APOSTROPHES}]s\b)")
_TITLES: Final = ("Frau", "Herr", "Herrn", "Doktor", "Professor", "Dr.", "Prof.")
_TITLED: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, _TITLES))})\s+({_WRITTEN})")
_BEFORE_NOUN: Final = re.compile(
    rf"(?<![\w.])(?P<before>[\w.]++)\s+(?=(?P<noun>{_WRITTEN})(?!\w))"
)
_ARTICLES: Final = re.compile(
    r"(?:d(?:er|ie|as|en|em|es)|(?:ein|kein|mein|dein|sein|ihr|unser|eur|euer)\w{0,2}"
    r"|(?:dies|jed|welch|all|viel|wenig|einig|manch)\w*|mehr|etwas|[iav]m|zu[mr]|beim|vom|[ia]ns"
    r"|\d+\.?)",
    re.IGNORECASE,
)
_ADJECTIVE: Final = re.compile(r"[^\W\d_]{2,}e[nrsm]?")
"""In front of a German noun they show that it is no name."""
_BARE_BEHIND: Final = word_set(
    "wer wen wem wo wann wie warum was und oder in mit von für bei zu aus nach auf gegen um"
    " über ohne an hat haben hatte hatten habe war waren wurde wurden werden konnte konnten"
    " ich wir sie er es"
)
_GERMAN: Final = LANGUAGES["de"]


def find_names(text: str, languages: Sequence[Language]) -> tuple[frozenset[str], frozenset[str]]:
    """Find stems of the names in a text by their capitals, and of those that may be names.

    A name is a capitalised word behind the first one, or a first one with `'s`. German writes all
    nouns so: there a name stands behind *Frau* or *Herr*, and a noun without an article may be
    one, as may any in a language that has other capitals than English. Chinese and Japanese have
    no capitals: there a few characters in front of a particle, such as the Chinese *de*, may be
    one.

    >>> find_names("When is Leo's birthday?", ())[0]
    frozenset({'leo'})
    >>> sorted(find_names("Wann hat Leo Geburtstag?", [LANGUAGES["de"]])[1])
    ['geburtstag', 'leo']
    """
    text = text.strip()
    if any(not one.spaced for one in languages):
        owners = _OWNER.findall(_ASKER.sub(" ", text))
        return frozenset(), frozenset(stems_of(words(" ".join(owners))))
    if _GERMAN in languages:
        bare = [match["noun"] for match in _BEFORE_NOUN.finditer(text) if _is_bare(match)]
        return _stems_of_names(_TITLED.findall(text)), _stems_of_names(bare)
    named = _stems_of_names(_NAMED.findall(text))
    return (frozenset(), named) if languages else (named, frozenset())


_OWNER: Final = re.compile(
    r"(?<![\u3400-\u9fff\u3040-\u30ff])([\u3400-\u9fff\u3040-\u30ff]{2,4}?)"
    r"(?:\u3055\u3093|\u541b)?(?=[\u7684\u306e\u306f])"
)
"""An owner or topic, without a title, in front of the Chinese *de*, the Japanese *no* or *wa*."""
_ASKER: Final = re.compile(
    f"(?:{'|'.join(LANGUAGES[code].calendar['me'] for code in ('zh', 'ja', 'ko'))})"
)
_FIRST: Final = 20
"""Characters that have the first word of a question, and a second one if another is behind it."""


def _is_bare(found: re.Match[str]) -> bool:
    """Tell whether a German noun has no article or adjective in front."""
    if found["noun"] in _TITLES:
        return False
    before, first = words(found["before"]), words(found.string[: min(found.start(), _FIRST)])
    if _ARTICLES.fullmatch(found["before"]):
        return False
    # The verb is the second word: "Wo wohnte Henrik?"
    is_verb = len(first) == 1 and first[0] in _BARE_BEHIND
    return (
        is_verb or not _BARE_BEHIND.isdisjoint(before) or not _ADJECTIVE.fullmatch(found["before"])
    )


def _stems_of_names(found: Sequence[str]) -> frozenset[str]:
    return frozenset(stems_of(words(" ".join(found)))) - _DAYS_AND_MONTHS


_DAYS_AND_MONTHS: Final = frozenset(
    stems_of(
        words(" ".join((*_CALENDAR, *_GERMAN.calendar["months"], *_GERMAN.calendar["weekdays"])))
    )
)
