"""Tell a question for a list: "which books", "what do both like", "welche Bücher"."""

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD: Final = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*['\u2019]?")
_ASKS: Final = frozenset({"what", "which"})
_AUXILIARY: Final = _words(
    "is was do does did has have had can could will would should might may am are were"
)
_MANY_ARE: Final = frozenset({"are", "were"})
_SINGULAR: Final = _words("""
    always as business campus canvas this bias bus chaos christmas class diagnosis does focus gas
    genius glass has his its jeans lens less mess news ours paris process series status
    sometimes tennis thus us virus was yours texas physics mathematics politics economics
    """)
"""Words that end in s and are not the plural of a noun."""
_PLURAL: Final = _words("children feet men mice people teeth women media data")
_KINDS: Final = frozenset({"kinds", "types", "sorts"})
_NEAR: Final = 4
"""Words between the question word and its noun, at most, the noun included."""
_OPENING: Final = 3
"""The question word is among the first words: "in which cities"."""

_ASKS_GERMAN: Final = frozenset({"welche", "welchen"})
_ONE_GERMAN: Final = _words("""
    butter feder feier hammer jahreszahl kammer kamera leber leiter mauer mutter nummer oper
    person schulter schwester steuer tochter trauer nation region religion version
    garten kuchen laden morgen namen regen wagen reifen
    """)
"""Nouns that end like a plural; of some the plural is the same."""
_PLURAL_GERMAN: Final = _words("""
    berufe berge dinge ereignisse erlebnisse fehler feste filme freunde gerichte geräte geschenke
    gründe hunde instrumente kurse länder monate orte pläne preise projekte ratschläge romane
    rezepte schritte spiele städte stücke tage termine tiere tipps vorschläge vorteile nachteile
    werke wettkämpfe wünsche ziele zutaten
    """)
_BOTH: Final = frozenset({"both", "beide", "beiden", "beides"})
_OPENERS: Final = _ASKS | _ASKS_GERMAN | _words("who where when why how was wer wo wann")


def asks_for_list(cue: str) -> bool:
    """Tell whether a question asks for several things, in English or German.

    The rule knows "what" and "which" with a plural noun, "welche" with one, and "both", "beide"
    in a question. A German noun in -e counts if it is in a table, because the singular of many
    feminine nouns ends so too.

    >>> asks_for_list("Which books has Ana read?")
    True
    >>> asks_for_list("Which book has Ana read?")
    False
    """
    said = _WORD.findall(cue)
    low = [word.lower().replace("\u2019", "'") for word in said]
    if _BOTH.intersection(low) and (cue.rstrip().endswith("?") or low[0] in _OPENERS):
        return True
    for place, word in enumerate(low[:_OPENING]):
        if word in _ASKS:
            return _names_several(low[place + 1 :])
        if word in _ASKS_GERMAN:
            return _names_several_in_german(said[place + 1 :], word)
    return False


def _names_several(rest: list[str]) -> bool:
    """Tell whether the noun of "what" or "which" is a plural; of "what are" the noun behind."""
    noun = next((at for at, word in enumerate(rest) if word in _AUXILIARY), 0)
    if noun == 0 and rest[:1] and rest[0] in _MANY_ARE:
        return any(map(_is_plural, rest[1 : 1 + _NEAR]))
    named = rest[:noun]
    if _KINDS.intersection(named):
        return noun <= _NEAR
    return 0 < noun <= _NEAR and _is_plural(named[-1])


def _is_plural(word: str) -> bool:
    if word in _PLURAL:
        return True
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return ends and len(word) > len("has") and word not in _SINGULAR


def _names_several_in_german(rest: list[str], asks: str) -> bool:
    """Tell whether the first noun is a plural; between are only adjectives of one."""
    at = next((at for at, word in enumerate(rest[:_NEAR]) if word[:1].isupper()), None)
    if at is None:
        return False
    noun, before = rest[at].lower(), rest[:at]
    if noun in _ONE_GERMAN or not all(word.endswith("en") for word in before):
        return False
    if asks == "welchen" and not noun.endswith(("n", "s")):
        return False  # "welchen Film": one
    known = _PLURAL_GERMAN.intersection((noun, noun.removesuffix("n")))
    return bool(known) or noun.endswith(("en", "ern", "eln", "s", "er"))
