"""The terms by which the text index and the ranking find a memory, and those of a cue.

The stems of a text are Porter's, whatever its language, so that a cue and a memory always have the
same. Beside them stand terms that only add matches (decision 0051): the stems of the text's own
language, and names of code as they are written. They do not count in the length of a memory. A
term of a cue may stand for others: forms of one word, and words of one meaning.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final

from ecphoria.text.english import STOP_WORDS
from ecphoria.text.languages import LANGUAGES, Language, languages_of
from ecphoria.text.tables import read_table, split_phrases
from ecphoria.text.tokens import LONGEST_WORD, porter, stems_of, words

_OWN: Final = "@"
"""In front of a stem that is not Porter's, so that it meets no English word."""

# The words of a text are its letters and digits, so a name of code is several words. As one word
# it is rarer, and finds the memory that has exactly this name.
_JOINED: Final = re.compile(r"[A-Za-z0-9_]++(?:(?:[./-]|::)[A-Za-z0-9_]++)*+")
_IS_NAME: Final = re.compile(
    r"[a-z0-9]_+[a-z0-9]|::|[a-z0-9]{3}\.|\.[a-z0-9]{3}|\d[./-]|[./-]\d|/.*[/._]|[._].*/"
)
"""Not `and/or`, `e.g.` or `well-known`."""
_HUMPED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{2,}[0-9]*[A-Z][A-Za-z0-9]*|(?:[A-Z][a-z]{2,}){2,}[A-Za-z0-9]*"
    r"|[A-Z]{2,}[a-z]{3,}[A-Za-z0-9]*)"
)
_HUMP: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

Related = Mapping[str, tuple[str, ...]]
"""For a stem the others that stand for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a memory.

    Attributes:
        stems: With repeats; their number is the memory's length.
        further: With repeats.
    """

    stems: tuple[str, ...]
    further: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All terms, with repeats."""
        return (*self.stems, *self.further)

    @property
    def joined(self) -> str:
        """All terms, joined by blanks, as they are stored."""
        return " ".join(self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class CueTerms:
    """The terms of a cue.

    Attributes:
        stems: With repeats, without question words.
        also: Further terms that stand for a stem: the stem of the same word in its own language,
            and those of related words.
        silent: The stems among them that say nothing about the topic.
    """

    stems: tuple[str, ...]
    also: Related = field(default_factory=dict)
    silent: frozenset[str] = frozenset()


def terms(text: str) -> Terms:
    """Collect the terms of a memory's text.

    >>> terms("Wir kaufen die Lampen").further
    ('@kauf', '@lamp')
    """
    found = words(text)
    own = [
        f"{_OWN}{_own(word, language)}"
        for language in languages_of(text, found)
        for word in _topical(found, language)
    ]
    return Terms(stems=stems_of(found), further=(*own, *humps(text), *joined_names(text)))


def cue_terms(
    text: str, without: Collection[str] = frozenset(), languages: Sequence[Language] | None = None
) -> CueTerms:
    """Collect the terms of a cue, without some words, as `words` writes them."""
    if languages is None:
        languages = languages_of(text)
    found = [word for word in _unasked(text, languages) if word not in without]
    silent = frozenset(word for language in languages for word in language.silent)
    said = stems_of(found)
    names = (*humps(text), *joined_names(text))
    return CueTerms(
        stems=(*said, *(name for name in dict.fromkeys(names) if name not in {*said, *without})),
        also=merged(*(_own_terms(text, found, one) for one in languages), related(text, found)),
        silent=frozenset(stems_of([word for word in found if word in silent])),
    )


def _own_terms(text: str, found: Sequence[str], language: Language) -> Related:
    """Map the stems of words to those of their own language, and of related words in it."""
    own = {word: _own(word, language) for word in _topical(found, language)}
    more = related_in_german(text, own) if language.code == "de" else {}
    every = {word: (own[word], *more.get(word, ())) for word in own}
    return merged(
        *(
            {stem: tuple(f"{_OWN}{one}" for one in every[word])}
            for word in own
            for stem in stems_of([word])
        )
    )


def _topical(found: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the words that have a stem of their own in a language."""
    if language.stemmer is not None:
        for word in found:
            if word.isalpha() and word not in STOP_WORDS and word not in language.silent:
                yield word


def _own(word: str, language: Language) -> str:
    return str(language.stemmer.stemWord(word)) if language.stemmer else word


def _unasked(text: str, languages: Iterable[Language]) -> list[str]:
    """Split a cue into words, without question words of other languages than English."""
    rest = text
    for language in languages:
        rest = language.asks.sub(" ", rest)
    found = words(rest)
    if all(language.spaced for language in languages):
        return found
    # Beside a question word that was cut out, one character may be left of a pair.
    said = set(words(text))
    return [word for word in found if word in said] or found


def joined_names(text: str) -> tuple[str, ...]:
    """List the names with signs inside, in lower case and once each, and the parts of paths.

    >>> joined_names("see conf/app.yml and read_all")
    ('conf/app.yml', 'app.yml', 'read_all')
    """
    found: dict[str, None] = {}
    for match in _JOINED.findall(text):
        for name in (match, *(match.split("/") if "/" in match else ())):
            whole = name.removeprefix("www.").strip("_").lower()[:LONGEST_WORD]
            if _IS_NAME.search(whole):
                found[whole] = None
    return tuple(found)


def humps(text: str) -> tuple[str, ...]:
    """List the stems of the words in camel case, repeats kept, without stop words.

    >>> humps("call getUserById here")
    ('user', 'id')
    """
    found: list[str] = []
    for name in _HUMPED.findall(text):
        parts = [part.lower() for part in _HUMP.findall(name[:LONGEST_WORD]) if len(part) > 1]
        if len(parts) > 1:
            found += (porter(part) for part in parts if part not in STOP_WORDS)
    return tuple(found)


# Only words of one meaning and forms of one word are related: "mother" and "mum", "drove" and
# "driven". A word that is merely near in meaning is the encoder's matter.


def merged(*found: Related) -> dict[str, tuple[str, ...]]:
    """Join what several rules found for each stem, each term once.

    >>> merged({"kid": ("child",)}, {"kid": ("children", "child")})
    {'kid': ('child', 'children')}
    """
    stems = dict.fromkeys(chain.from_iterable(found))
    return {
        stem: tuple(dict.fromkeys(chain.from_iterable(one.get(stem, ()) for one in found)))
        for stem in stems
    }


_TABLE: Final = read_table("related_words")
_german_stem: Final = partial(_own, language=LANGUAGES["de"])


def _groups(name: str, stem: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """Map each stem of a group of words to the others; a word may be in several groups."""
    found = defaultdict[str, dict[str, None]](dict)
    for group in split_phrases(_TABLE[name]):
        stems = dict.fromkeys(map(stem, words(group)))
        for one in stems:
            found[one] |= {other: None for other in stems if other != one}
    return {one: tuple(others) for one, others in found.items()}


_ENGLISH: Final = merged(_groups("forms", porter), _groups("same", porter))
_STRONG: Final = _groups("german_forms", _german_stem)
_SAME_IN_GERMAN: Final = _groups("german_same", _german_stem)
_VERB: Final = re.compile(
    r"(?P<prefix>zusammen|zuruck|weg|vor|um|nach|mit|los|hin|her|fest|ein|aus|auf|an|ab|zu)?"
    r"(?P<bare>(?:ge)?(?P<root>\w{3,}?)t?)$"
)
"""A stem of a German verb; a prefix is in front of "ge": "abgeholt"."""
_NOUN_IN_Y: Final = re.compile(r"(?:g|ph|om|rch|th)(?:y|ies)$")
_ADJECTIVE_IN_IC: Final = re.compile(r"(?:g|ph|om|rch|th)ic(?:al)?$")
"""Porter's stems of "allergy" and "allergic" differ."""
_IN_ISE: Final = re.compile(r"(?<=\w{3})i(?P<sign>[sz])(?=(?:e[drs]?|ing|ations?)$)")
"""British and American spellings: "organise", "organize"."""


def _both(asks: str, told: str) -> re.Pattern[str]:
    """Match a line with a word of each alternation, in this order; linear in its length."""
    # Behind the first word that asks, no later one has to be tried.
    return re.compile(rf"^(?>.*?\b(?:{asks})\b).*\b(?:{told})\b", re.IGNORECASE | re.MULTILINE)


_OTHER_WORDS: Final = (
    (_both("where", "live|lives|living"), "live", "move"),
    (re.compile(r"\bfor a living\b", re.IGNORECASE), "live", "work"),
    (re.compile(r"\bjob\b", re.IGNORECASE), "job", "work"),
    (re.compile(r"\bbirthday\b", re.IGNORECASE), "birthdai", "born"),
    (_both("who", "boss"), "boss", "manag"),
    (_both("who", "author"), "author", "wrote"),
    (_both("who", "owner"), "owner", "own"),
    (_both("which|what", "version"), "version", "upgrad"),
    (_both("welche", "version"), "version", "@aktualisiert"),
    (_both("wer", "chef"), "chef", "@leit"),
    (_both("wer", "chefin"), "chefin", "@leit"),
    (re.compile(r"\bvon beruf\b", re.IGNORECASE), "beruf", "@arbeit"),
    (re.compile(r"\bberuflich\b", re.IGNORECASE), "beruflich", "@arbeit"),
)
"""Questions with a stem of theirs, and one by which people tell the answer."""


def related(text: str, found: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Find for the stems of a cue those of other words by which a memory says the same.

    >>> related("Where do I live?", ["live"]), related("my allergies", ["allergies"])
    ({'live': ('move',)}, {'allergi': ('allerg',)})
    >>> related("What did she write?", ["write"])
    {'write': ('wrote', 'written')}
    """
    asked = ({stem: (other,)} for asks, stem, other in _OTHER_WORDS if asks.search(text))
    others = ((porter(word), _of_word(word)) for word in found)
    return merged(*({stem: more} for stem, more in others if more), *asked)


def _of_word(word: str) -> tuple[str, ...]:
    stem = porter(word)
    others = list(_ENGLISH.get(stem, ()))
    if _NOUN_IN_Y.search(word):
        others.append(stem.removesuffix("i"))
    elif _ADJECTIVE_IN_IC.search(word):
        others.append(f"{stem}i")
    elif spelt := _IN_ISE.search(word):
        sign = "z" if spelt["sign"] == "s" else "s"
        others.append(porter(f"{word[: spelt.start('sign')]}{sign}{word[spelt.end('sign') :]}"))
    return tuple(others)


_IN_LOWER_CASE: Final = re.compile(r"\b[a-zäöüß][\wäöüß]+")


def related_in_german(text: str, stems: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Find other German words of the same meaning, and other forms of the verbs of a cue.

    Args:
        text: The cue; German writes verbs in lower case.
        stems: The German stem of each of its words.

    Returns:
        For a word the German stems that stand for it.

    >>> related_in_german("Was habe ich gekauft?", {"gekauft": "gekauft"})
    {'gekauft': ('kauf', 'kauft')}
    """
    verbs = set(words(" ".join(_IN_LOWER_CASE.findall(text))))
    return {
        word: _SAME_IN_GERMAN.get(stem, ()) + (_forms_of(stem) if word in verbs else ())
        for word, stem in stems.items()
    }


def _forms_of(stem: str) -> tuple[str, ...]:
    """List other stems of a German verb: "kauf" for "gekauft", "abgefahr" for "abfahr"."""
    match = _VERB.match(stem)
    if match is None:
        return ()
    prefix, root = match["prefix"] or "", match["root"]
    regular: tuple[str, ...] = (root, f"{root}t", f"ge{root}t")
    if root.endswith(("i", "ier")):  # "reparieren", "repariert"
        regular = (root.removesuffix("er"), f"{root.removesuffix('er')}ert")
    forms = _STRONG.get(match["bare"], regular)
    return tuple(form for one in forms if (form := f"{prefix}{one}") != stem)
