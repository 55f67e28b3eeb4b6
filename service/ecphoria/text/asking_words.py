"""The words by which English and German sentences ask, or say that their speaker does not know.

`asking_words.toml` has the lists of words. Patterns are matched at the start of a sentence or
clause, unless they are said to stand anywhere in it.
"""

import re
from typing import Final

from ecphoria.text import german
from ecphoria.text.english import CONTRACTED, INTERJECTIONS, LIGHT_WORDS, NAMELESS_WORDS
from ecphoria.text.languages import LANGUAGES
from ecphoria.text.tables import any_of, read_table, split_phrases
from ecphoria.text.tokens import APOSTROPHES, stems, stems_of

_TABLE: Final = read_table("asking_words")


def _any(words: str) -> str:
    return "|".join(words.split())


_WH: Final = _any("what which who whom whose when where why how")
_AUXILIARY: Final = _any(
    """
    is are was were am do does did have has had can could will would should shall may might isn
    aren wasn weren don doesn didn haven hasn hadn couldn won wouldn shouldn
    """
)
_SUBJECT: Final = _any(
    """
    i you he she it we they my your his her its our their this that these those there the a an
    anyone anybody someone somebody any
    """
)
_W: Final = _any(
    """
    was wer wen wem wessen wann wo woher wohin warum wieso weshalb wie welche welcher welches
    welchen welchem womit wofür worüber wovon woran worauf wozu
    """
)
_SUBJEKT: Final = _any(
    """
    ich du er sie es wir ihr man mein meine meinen meinem meiner dein deine deinen deinem deiner
    sein seine unser unsere ihre der die das den dem ein eine einen einem
    """
)
_PREPOSITION: Final = _any(
    "in at on for to from with by of since until about under near into over after before during"
    " around between within among"
    " an auf aus bei mit nach seit von zu für über um bis"
)
_Q: Final = rf"[{APOSTROPHES}]"
_PARTS: Final = {"WHAT": _WH, "WAS": _W} | {
    name: "".join(split_phrases(listed)) for name, listed in _TABLE["parts"].items()
}


def _phrases(name: str) -> tuple[str, ...]:
    return tuple(split_phrases(_TABLE[name].replace("'", _Q)))


def _alternation(name: str) -> str:
    """Write the alternation of phrases of the table, in which capitals stand for some words."""
    phrases = "|".join(split_phrases(_TABLE[name]))
    return re.sub("[A-Z]{3,}", lambda part: _PARTS[part[0]], phrases).replace("'", _Q)


FILLER_PHRASES: Final = (*sorted(INTERJECTIONS), *_phrases("fillers"))
AGREEING: Final = _phrases("agreeing")
FILLER: Final = re.compile(rf"(?:[^\w]|\b(?:{any_of(FILLER_PHRASES)})\b)+", re.IGNORECASE)
"""Words before a sentence, or alone, that state nothing."""

_INDIRECT: Final = _alternation("requests")
REQUESTS: Final = re.compile(_INDIRECT, re.IGNORECASE)

LABEL: Final = re.compile(
    r"\s*(?:user|human|customer|assistant|agent|ai|bot|system|q|a|me|you|question|answer|nutzer"
    r"|nutzerin|frage|antwort|ich|du)\s*[:>\uff1a]\s*",
    re.IGNORECASE,
)
"""The speaker in front of a line, in a piece of a transcript."""

OPENS: Final = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:{_WH}|{_W})\b"
    rf"|(?:{_AUXILIARY})(?:{_Q}?t)?\b"
    rf"|{_INDIRECT}"
    rf"|\w+(?:e|st|t|en|n)\s+(?:ich|du|er|sie|es|wir|ihr|man|mein\w{{0,2}}|dein\w{{0,2}})\b",
    re.IGNORECASE,
)
"""Begins a sentence that asks, where a question mark ends it."""

ASKS: Final = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:{_WH}){_Q}?s?\s+"
    rf"(?!(?:{_SUBJECT})\b)(?:[^\s,]+\s+){{0,3}}?(?:{_AUXILIARY}|go|goes)\b"
    rf"|(?:what|who|where|when|how){_Q}s\b"
    rf"|(?:{_AUXILIARY})(?:{_Q}?t)?\s+(?:i|you|he|she|it|we|they|my|your|his|her|our|their|there"
    r"|anyone|anybody)\b"
    rf"|{_INDIRECT}"
    rf"|(?:(?:{_PREPOSITION})\s+)?(?:wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso"
    rf"|weshalb|wie|welche\w?|womit|wofür|worüber)\s+(?!(?:{_SUBJEKT})\b)\w"
    rf"|was\s+(?:ist|sind|war|waren|hat|habe|mache|macht|esse|isst|trinke|trinkt|mag|kostet)\b"
    r"|(?:weißt|weisst|kennst|erinnerst|hast|habe|hab|bin|bist|ist|sind|war|kannst|könntest"
    r"|würdest|kann|darf|soll|magst|gibt|heißt|heisst)\s+(?:du|ich|wir|er|es|mein\w{0,2}|dein\w{0,2})\b",
    re.IGNORECASE,
)
"""Begins a sentence that asks, whatever ends it: `What I like is chess.` does not."""

STATED: Final = re.compile(
    rf"(?:and|but|because|since|as|so|weil|denn|da|und|aber)?\s*(?:{_SUBJECT}|{_SUBJEKT}"
    rf"|i{_Q}(?:m|ve|d|ll)|we{_Q}(?:re|ve)|it{_Q}s|(?:he|she){_Q}s)\s",
    re.IGNORECASE,
)
"""Begins a clause that states something beside a question."""

VERB: Final = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|can|could|will|would|should|may|might"
    r"|ist|sind|war|waren|bin|hat|habe|hatte|haben|heißt|heisst|wohnt|wohne|mag|kann)\b|\wed\b"
    rf"|\w{_Q}(?:m|ve|re|ll|d)\b",
    re.IGNORECASE,
)

PERSON: Final = re.compile(
    rf"(?:i|you|he|she|we|they|ich|du|er|wir)(?:\s|{_Q})|(?:{_SUBJECT})\s+\w+(?:es|ied)\b",
    re.IGNORECASE,
)

REASON: Final = re.compile(
    r"\b(?:because|weil)\s|\bsince\s+(?:i|we|my|he|she)\b|\bgiven that\b", re.IGNORECASE
)

ASKED_LAST: Final = re.compile(
    rf"\b(?:{_WH}|{_any('wer was wo wann wie welche')})(?:\s+again)?\s*$", re.IGNORECASE
)

LOST: Final = re.compile(
    r"i (?:have )?(?:(?:just |completely |totally |always )?(?:forgot|forgotten|forget)"
    rf"|can(?:{_Q}?t| ?not) (?:recall|remember|think of)"
    rf"|do(?:n{_Q}?t| not) (?:recall|remember|know))\b"
    r"|ich (?:habe|hab|weiß|weiss|erinnere) (?:\w+ ){0,5}?(?:vergessen|nicht(?: mehr)?)\b",
    re.IGNORECASE,
)
"""Says, beside a question, that the asker does not know."""

AND: Final = re.compile(r"(?:and|or|but|und|oder|aber)\s+", re.IGNORECASE)

CONDITION: Final = re.compile(r"(?:if|when|wenn|falls|als)\b", re.IGNORECASE)


EXCUSES: Final = re.compile(
    rf"(?:(?:well|that|this|it)\W+)?(?:{_alternation('excuses')})", re.IGNORECASE
)

EXCUSES_WITHIN: Final = re.compile(_alternation("excuses_within"), re.IGNORECASE)

REPORTS: Final = re.compile(rf"\b(?:{_alternation('reports')})\b", re.IGNORECASE)

OPEN_CUE: Final = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:what|which|when|where|why|how|{_W}){_Q}?s?\b"
    r"|(?:can|could|would|do|did|will|have) (?:you|i) (?:\w+ )?(?:know|remember|recall|tell|told"
    r"|say|said|mention|mentioned|remind) (?:(?:me|you|us) )?(?:again )?"
    rf"(?:(?:of|about) )?(?:{_WH}|my|our)\b"
    r"|(?:can|could|would|do) you (?:please )?(?:tell|remind|give|show) (?:me|us) "
    rf"|i (?:have )?forg[eo]t(?:ten)? (?:{_WH}|my|our|the)\b"
    r"|(?:habe|hab) ich (?:\w+ ){1,3}(?:erzählt|gesagt)\b"
    r"|(?:kannst|könntest|weißt|weisst|erinnerst|kennst) du\b"
    rf"(?:\W+\w+){{0,4}}?\W+(?:{_W}|mein\w*)\b"
    rf"|{_INDIRECT}",
    re.IGNORECASE,
)

CHOICE_OR_WHO: Final = re.compile(
    r"\b(?:or|oder)\b|\bwho (?!(?:is|are|was|were|am|my|our|the)\b)"
    r"|\bwer (?!(?:ist|sind|war|waren|mein\w*|unser\w*|der|die|das)\b)",
    re.IGNORECASE,
)

BUT: Final = re.compile(
    r"[,;:\u2014\u2013-]\s*(?:but|however|though|aber|doch|jedoch)\b|\bbut\s+(?:i|you|we|your"
    r"|my)\b",
    re.IGNORECASE,
)
"""Continues an excuse with something that is known."""

OFFERS: Final = re.compile(rf"(?:{_alternation('offers')})\b", re.IGNORECASE)

UNDECIDED: Final = re.compile(rf"\b(?:{_alternation('undecided')})\b", re.IGNORECASE)


_QUIET: Final = " ".join((*german.FUNCTION_WORDS, *german.ASKING_WORDS, *CONTRACTED))
ASKING_STEMS: Final = frozenset(
    stems(" ".join((*LIGHT_WORDS, *NAMELESS_WORDS, _QUIET, _TABLE["asking"])))
)
"""Stems of words that belong to questions and say nothing about the topic."""
REPORTING_STEMS: Final = frozenset(
    stems(" ".join((*(LIGHT_WORDS - {*_TABLE["times"].split()}), _QUIET, _TABLE["reporting"])))
)
"""Stems of words that speak of asking or knowing, without those of when and how often."""
OF_ANY_ACT: Final = ASKING_STEMS.union(
    REPORTING_STEMS, stems_of(word for one in LANGUAGES.values() for word in one.silent)
)
