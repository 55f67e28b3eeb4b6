"""Tell the language of a text, and give the words of that language that the rules need.

A script of its own tells a language; function words tell one in Latin letters. The words stand in
`languages.toml`. English has none there: its lists are in `ecphoria.text.tokens`.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.text.english import FUNCTION_WORDS, INTERJECTIONS, MONTHS, STOP_WORDS, WEEKDAYS
from ecphoria.text.tables import any_of, read_table
from ecphoria.text.tokens import word_set, words

# None of 2,200 English questions and .15 % of 20,000 English texts seem foreign (decision 0051).
_LEAST: Final = 0.5
"""Score that tells a language: each function word adds 1/n if n languages have it."""

QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f", "\u037e", "\u055e")
"""Also full-width, Arabic, Greek and Armenian."""

_READ: Final = 4_000
"""Characters of a text that tell its language."""

_UNITS: Final = ("day", "days", "week", "weeks", "month", "months", "year", "years")

_UNSPACED: Final = frozenset({"zh", "ja", "ko"})
"""Languages whose words `words` writes as pairs of characters."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """A language other than English.

    Attributes:
        code: As in ISO 639-1.
        name: In English.
        letters: Any of its own script's letters; None for Latin.
        stemmer: Snowball's; None where the script alone tells the stemmer of a word.
        function: Function words, in lower case as they are written.
        silent: Words that say nothing about a topic, as `words` writes them.
        between: Words that say nothing about a topic, where no blanks part words.
        asks: Its question words, at whose places a cue is cut.
        question: Begins a question.
        ends: Ends a question that has no question mark; None if nothing does.
        when: Begins a question for a time.
        me: The speaker's pronouns.
        you: The listener's pronouns.
        calendar: Its months, weekdays and further words of dates.
    """

    code: str
    name: str
    letters: re.Pattern[str] | None
    stemmer: Stemmer.Stemmer | None
    function: frozenset[str]
    silent: frozenset[str]
    between: re.Pattern[str] | None
    asks: re.Pattern[str]
    question: re.Pattern[str]
    ends: re.Pattern[str] | None
    when: re.Pattern[str]
    me: re.Pattern[str]
    you: re.Pattern[str]
    calendar: Mapping[str, Any]

    @property
    def spaced(self) -> bool:
        """Tell whether blanks part its words."""
        return self.code not in _UNSPACED


def _language(code: str, table: Mapping[str, Any]) -> Language:
    letters, ends, function = table.get("letters"), table.get("ends"), _function_words(table)
    edge = "(?:{})" if code in _UNSPACED else r"(?<!\w)(?:{})(?!\w)"
    asks = any_of(map(re.escape, table["asks"].split()))
    silent = f"{function} {table['asking']}"
    return Language(
        code=code,
        name=table["name"],
        letters=re.compile(f"[{letters}]") if letters else None,
        stemmer=Stemmer.Stemmer(table["stemmer"]) if "stemmer" in table else None,
        function=frozenset(function.split()),
        silent=word_set(silent),
        between=re.compile(any_of(map(re.escape, silent.split()))) if code in _UNSPACED else None,
        asks=re.compile(edge.format(asks), re.IGNORECASE),
        question=re.compile(rf"[\s\u00bf\u00a1]*{edge.format(asks)}", re.IGNORECASE),
        ends=re.compile(rf"{ends}[\u3002.]?\s*$") if ends else None,
        when=re.compile(rf"[\s\u00bf\u00a1]*(?:{table['when']})", re.IGNORECASE),
        me=re.compile(edge.format(table["me"]), re.IGNORECASE),
        you=re.compile(edge.format(table["you"]), re.IGNORECASE),
        calendar=table,
    )


def _function_words(table: Mapping[str, Any]) -> str:
    return f"{table['function']} {table.get('tells', '')}"


TABLES: Final = read_table("languages")
PHRASEBOOK: Final = read_table("phrasebook")
LANGUAGES: Final = {code: _language(code, table) for code, table in TABLES.items()}
"""These three are by the code of the language."""

_SCRIPTS: Final = tuple(language for language in LANGUAGES.values() if language.letters)
_CHINESE, _JAPANESE = LANGUAGES["zh"], LANGUAGES["ja"]
_NAMES: Final = words("Ben Dan Dina Don Ella Hans Lei Mia Mina Sam Tom")
"""Given names that are function words of some language."""

_ENGLISH: Final = frozenset(
    (*FUNCTION_WORDS, *STOP_WORDS, *INTERJECTIONS, *MONTHS, *WEEKDAYS, *_UNITS, *_NAMES)
)
_ALSO_ENGLISH: Final = word_set(
    "ad ale ate bare dig dog door due end fa font go ham hay hit inn kim met mine pour sea sedan"
    " sit son sue tan ten till ton van want"
)
"""English words that are function words of another language: they alone tell no language."""
ENGLISH: Final = "English"
_GUESSED: Final = 1_000
"""Characters of a text that tell its main language."""
_LAST_LATIN: Final = "\u036f"
_OWN_SHARE: Final = 1 / 3
"""Share of the letters from which on a script tells the main language; a Chinese character is
about half a word."""
_ENDINGS: Final = re.compile(r"(?P<word>\w+)\[(?P<letters>\w+)\]")
_PLAIN: Final = re.compile(r"\w+")
_OPTIONAL: Final = re.compile(r"\(\?:[^()]*(?:\([^()]*\)[^()]*)*\)\?|\w\?")


def _tells() -> Mapping[str, tuple[str, ...]]:
    """List the languages in Latin letters of each function word, sign, month, weekday and day."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for code, table in TABLES.items():
        if "letters" not in table:
            told = f"{_function_words(table)} {table.get('signs', '')}"
            for word in {*words(told), *_calendar_words(table), *_phrase_words(code)}:
                found[word].append(code)
    return {word: tuple(codes) for word, codes in found.items()}


def _calendar_words(table: Mapping[str, Any]) -> Iterable[str]:
    return _long_words((*table["months"], *table["weekdays"], *table["phrases"], *table["units"]))


def _phrase_words(code: str) -> Iterable[str]:
    """List the words of everyday phrases that are no English words of the phrasebook."""
    listed = PHRASEBOOK.get(code, {}).get("words", {})
    return set(_long_words(listed.values())).difference(words(" ".join(listed)))


def _long_words(spellings: Iterable[str]) -> Iterable[str]:
    required = _OPTIONAL.sub("", "|".join(spellings)).split("|")
    written = [one for each in required for one in _endings(each)]
    # A short unit, such as German "Tag", is a word of other languages too.
    return words(" ".join(one for one in written if _PLAIN.fullmatch(one) and len(one) > 3))


def _endings(spelling: str) -> Iterator[str]:
    """Write out the letters of a last bracket: `giorn[oi]`."""
    found = _ENDINGS.fullmatch(spelling)
    if found is None:
        yield spelling
    else:
        yield from (found["word"] + letter for letter in found["letters"])


_TELLS: Final = _tells()
_MARKS: Final = {
    code: re.compile(f"[{table['marks']}]", re.IGNORECASE)
    for code, table in TABLES.items()
    if "marks" in table
}


def languages_of(text: str, found: Sequence[str] | None = None) -> tuple[Language, ...]:
    """Tell the languages of a text other than English; none if it seems English.

    Its first 4,000 characters count. A text in a script of its own may have several languages, one
    in Latin letters has at most one. `found` are its `words`, if the caller has them.

    >>> [language.code for language in languages_of("Wann ziehen wir nach Leipzig um?")]
    ['de']
    >>> languages_of("When do we move to Leipzig?")
    ()
    """
    start = text[:_READ]
    if not start.isascii():
        own = tuple(one for one in _SCRIPTS if one.letters and one.letters.search(start))
        if own:
            # Japanese is written with Chinese characters too.
            return tuple(one for one in own if one is not _CHINESE or _JAPANESE not in own)
    one = _latin(words(start) if found is None else found[:_READ], start)
    return () if one is None else (one,)


def _latin(found: Sequence[str], text: str) -> Language | None:
    score: defaultdict[str, float] = defaultdict(float)
    english = 0.0
    for word in sorted(set(found)):
        codes = _TELLS.get(word, ())
        for code in codes:
            score[code] += 1 / len(codes)
        if word in _ENGLISH:
            english += 1.0
    if not text.isascii():
        for code, marks in _MARKS.items():
            score[code] += _LEAST * (marks.search(text) is not None)
    # Most texts are English.
    if max(score.values(), default=0.0) <= english:
        return None
    # Every process must choose alike, for a memory and for a cue: of two the first in the table.
    best = max(LANGUAGES, key=lambda code: round(score[code], 6))
    if score[best] <= english or score[best] < _LEAST:
        return None
    telling = {word for word in found if best in _TELLS.get(word, ())}
    return None if telling and telling <= _ALSO_ENGLISH else LANGUAGES[best]


def content_words(text: str, languages: Iterable[Language]) -> list[str]:
    """Split a text into words without those that say nothing about a topic, in its languages.

    >>> content_words("你还记得我邻居的名字吗", [LANGUAGES["zh"]])
    ['邻居', '名字']
    """
    languages = tuple(languages)
    for language in languages:
        text = language.between.sub(" ", text) if language.between else text
    silent = frozenset(word for language in languages for word in language.silent)
    return [word for word in words(text) if word not in silent]


def main_language(text: str) -> str | None:
    """Tell the main language of a text by its English name; None if nothing tells it.

    A script without a table gives its own name, such as `Greek`.

    >>> main_language("Where are the keys?"), main_language("Wo sind die Schl\u00fcssel?")
    ('English', 'German')
    >>> main_language("HTTP 404") is None
    True
    """
    start = text[:_GUESSED]
    letters = [sign for sign in start if sign.isalpha()]
    own = "".join(sign for sign in letters if sign > _LAST_LATIN)
    if own and len(own) >= _OWN_SHARE * len(letters):
        return _of_script(own)
    found = words(start)
    told = _latin(found, start)
    if told is not None:
        return told.name
    return ENGLISH if any(one in _ENGLISH and one not in _TELLS for one in found) else None


def _of_script(letters: str) -> str | None:
    found = languages_of(letters)
    if found:
        return found[0].name
    return unicodedata.name(letters[0], "").partition(" ")[0].capitalize() or None
