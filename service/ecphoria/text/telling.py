"""Texts that may tell a detail, such as a name or a time, in English and German."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ecphoria.text import german
from ecphoria.text.details import Detail
from ecphoria.text.english import CONTRACTED, FUNCTION_WORDS
from ecphoria.text.languages import LANGUAGES, languages_of
from ecphoria.text.names import (
    NameKind,
    candidate_spans,
    find_names,
    is_name,
    name_kind,
    normalise,
)
from ecphoria.text.tokens import SENTENCE_ENDS, UPPER, stems_of, words

_ONE_TO_TWELVE: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER: Final = (
    rf"\d|\b(?!(?<=the )one\b)(?:{_ONE_TO_TWELVE}|\w+teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|dozens?|half"
    r"|quarter|third|couple|twice|double)\b"
)
_NUMBER_GERMAN: Final = (
    r"eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"
    r"|\w+(?:zehn|zig|ßig)|\w*hundert|\w*tausend|halb\w*|viertel|dutzend|doppelt"
)
_NAMED_TIME: Final = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thur?s?|fri|sat|sun|jan(?:uary)?"
    r"|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|springs?|summers?|autumns?|winters?|nights?|noon"
    r"|midnight|dawn|dusk|christmas|easter|whitsun|ramadan|passover|thanksgiving"
)
_TIME: Final = (
    rf"{_NUMBER}|\b(?:{_NAMED_TIME}|seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?"
    r"|years?|decades?|ages|mornings?|afternoons?|evenings?|sunrise|sunset|weekends?|fortnight"
    r"|breakfast|lunch\w*|dinner|bedtime|holidays?|vacation|terms?|semesters?|seasons?|falls?"
    r"|birthdays?|anniversary|deadline|eod|asap|dates?|today|tomorrow|tonight|yesterday|daily"
    r"|(?:bi)?weekly|fortnightly|monthly|quarterly|yearly|annual(?:ly)?|nightly|hourly|late|later"
    r"|latest|early|earlier|soon|first|last|next|now|then|once|again|after|before|until|till?"
    r"|since|during|while|when(?:ever)?|always|constant\w*|never|ever|forever|often|frequent\w*"
    r"|usually|sometimes|occasional\w*|rarely|hardly|seldom|regularly|every|each|per|times|most"
    r"|many|few|whole|permanent(?:ly)?|life(?:time)?|end|start|begin(?:ning)?|o[\u2019']clock"
    r"|[ap]\.?m)\b"
)
_NAMED_TIME_GERMAN: Final = (
    rf"(?:{'|'.join((*german.WEEKDAYS, *german.MONTHS))})s?|frühling|frühjahr|sommer|herbst|winter"
    r"|ostern|pfingsten|weihnachten|silvester|neujahr|morgens?|vormittags?|mittags?|nachmittags?"
    r"|abends?|nachts?|mitternacht|wochenende|anfang|mitte|ende"
)
_TIME_GERMAN: Final = (
    rf"\d|\b(?:{_NAMED_TIME_GERMAN}|{_NUMBER_GERMAN}|sekunden?|minuten?|stunden?|tage?n?|wochen?"
    r"|monate?n?|jahre?n?|jahrzehnt\w*|nacht|nächte?n?|uhr|früh\w*|spät\w*|bald|heute|gestern"
    r"|\w*gestern|jetzt|dann|danach|nachher|vorher|demnächst|nächste\w*|letzte\w*|erst\w*|immer"
    r"|nie|niemals|oft|öfters?|häufig|selten|manchmal|meist\w*|ständig|dauernd|regelmäßig|täglich"
    r"|stündlich|wöchentlich|monatlich|jährlich|jede\w*|pro|\w*mal|seit|bis|während|wenn|sobald"
    r"|nachdem|bevor|vor|nach|lang\w*|kurz\w*|ewig|ganz\w*|ferien|urlaub|feiertag\w*"
    r"|geburtstag\w*)\b"
)
_NO_PLACE: Final = (
    rf"(?! (?:\d|(?:{_NAMED_TIME}|(?:{_ONE_TO_TWELVE}|half)(?! of)|all|last|least|once|first|time"
    r"|case|order|fact|general|advance|pain|love|the (?:morning|afternoon|evening|end|week|first"
    r"|meantime))\b))"
)
_NO_PLACE_GERMAN: Final = (
    rf"(?! (?:\d|(?:{_NAMED_TIME_GERMAN}|{_NUMBER_GERMAN}|ersten?"
    r"|de[mnr] (?:woche|monat|jahr))\b))"
)
_SHOWN: Final = {
    Detail.MAIL: re.compile(r"@|\be-?mail", re.IGNORECASE),
    Detail.PHONE: re.compile(r"\d{3}"),
    Detail.PASSWORD: re.compile(
        r"\bpass(?:word|code|phrase)|passwort|\bpw\b|\bPIN\b", re.IGNORECASE
    ),
    Detail.COLOUR: re.compile(
        r"colou?r|farbe|(?:red|blue|green|yellow|white|black|gr[ae]y|brown|orange|pink|purple"
        r"|violet|beige|turquoise|teal|silver|gold|cream|ivory|maroon|navy|crimson|lilac|magenta"
        r"|cyan|copper|bronze|blond|dark|light|pale|bright|rot|blau|grün|gelb|wei(?:ß|ss)|schwarz"
        r"|grau|braun|rosa|lila|violett|türkis|silber|hell|dunkel|bunt)\w{0,3}\b",
        re.IGNORECASE,
    ),
    Detail.AMOUNT: re.compile(
        rf"{_NUMBER}|\b(?:free|nothing|year|small|medium|large"
        rf"|{_NUMBER_GERMAN}|nichts|umsonst|jahr\w*)\b",
        re.IGNORECASE,
    ),
}

_GERMAN: Final = LANGUAGES["de"]
_REFERS_BACK: Final = re.compile(
    r"\b(?:he|she|it|they|his|her|its|their|him|them|er|sie|es|sein\w*|ihr\w*|ihn|ihm)\b",
    re.IGNORECASE,
)
_CAPITAL: Final = re.compile(rf"(?<!\w)[{UPPER}]")
_TITLE: Final = re.compile(rf"\b(Dr|Mr|Mrs|Ms|Prof|[{UPPER}])\.")
_SAYS_NAME: Final = re.compile(
    r"\b(?:names?|named|nam(?:e|en)|hei(?:ß|ss)\w*)\b"
    r"|\bcall(?:s|ed)? (?!(?:the|an?|my|our|his|her|their|him|them|us|me|you|it|for|up|back)\b)",
    re.IGNORECASE,
)
_NOUN: Final = rf"[{UPPER}][^\W\d_]+"
_OPENS: Final = re.compile(
    rf"(?:^|[{SENTENCE_ENDS}]\s+)({_NOUN})\s+"
    r"(?:[^\W\d_]+(?:ed|[^\W\d_s]s)|ate|bit|broke|fell|found|hid|lost|ran|sat|slept|stole)\b"
)
"""A first word with a verb behind it: `Rex ate my shoe`."""
_OPENS_GERMAN: Final = re.compile(
    rf"(?:^|[{SENTENCE_ENDS}]\s+)({_NOUN})\s+(?:ist|war|[^\W\d_]{{2,}}t)\b"
)
_BEHIND_NOUN: Final = re.compile(
    rf"(?:(?<=[^\W\d_]\s){_NOUN} |[:(\"\u201e\u201c] ?)(?=({_NOUN})\b)"
)
"""Also behind a colon, a bracket or a quotation mark."""
_NAMELESS: Final = frozenset(
    stems_of(
        (
            *(*FUNCTION_WORDS, *CONTRACTED, "someone", "somebody", "something"),
            *(*german.FUNCTION_WORDS, *german.WEEKDAYS, *german.MONTHS, "jemand", "irgendwer"),
        )
    )
)


def _names(text: str) -> Sequence[str]:
    """List the stems of what may be a name."""
    spans = (one for one in candidate_spans(text) if name_kind(one) is not NameKind.TIME)
    names = [name for name in map(normalise, spans) if is_name(name)]
    return stems_of(words(" ".join([*names, *_OPENS.findall(text)])))


def _german_names(text: str) -> Sequence[str]:
    """List the same in German, which writes all nouns with a capital."""
    found = " ".join([*_BEHIND_NOUN.findall(text), *_OPENS_GERMAN.findall(text)])
    return [*chain(*find_names(text, (_GERMAN,))), *stems_of(words(found))]


_WORD: Final = r"([^\W\d_]+)"
_ARTICLE: Final = "(?:the|an?|my|our|your|his|her|their|its|this|that|some|which|whose)"
_ARTICLE_GERMAN: Final = (
    "(?:der|die|das|den|dem|des|eine?[mnrs]?|(?:[mds]ein|ihr|unser|eur?)e?[mnrs]?)"
)


@dataclass(frozen=True)
class _Forms:
    """Words of one language that tell a time, a place or a person."""

    shown: Mapping[Detail, re.Pattern[str]]
    """Words that tell the detail by themselves."""
    behind: Mapping[Detail, re.Pattern[str]]
    """Places of words in a text. Such a word tells the detail if the cue does not have it."""
    names_in: Callable[[str], Sequence[str]]


_ENGLISH_FORMS: Final = _Forms(
    {
        Detail.TIME: re.compile(
            # The past counts as a time, because the memory has a date.
            rf"{_TIME}|\b(?:was|were|had|did|went|took|got|came)\b"
            r"|(?<!\bis )(?<!\bare )(?<!\bbe )\b\w{2,}ed\b",
            re.IGNORECASE,
        ),
        Detail.DURATION: re.compile(_TIME, re.IGNORECASE),
        Detail.FREQUENCY: re.compile(_TIME, re.IGNORECASE),
        Detail.PERSON: re.compile(
            r"[:=@\u2192]|\bI\b|\b(?i:me|myself|we|us|he|him|she|they|them|you|by|everybody"
            r"|everyone|nobody|no one)\b"
            # "Paid the bill.": a speaker leaves out the subject.
            r"|^\W*(?:\w+(?:ed|ing)|Ate|Bought|Broke|Built|Came|Cut|Did|Found|Gave|Got|Had|Left"
            r"|Lost|Made|Met|Paid|Put|Ran|Read|Saw|Sent|Sold|Spoke|Told|Took|Went|Won|Wrote)\b"
        ),
        Detail.PLACE: re.compile(
            r"[\d:=/@\u2192]|\b(?:nearby|here|there|home|away|abroad|overseas|downtown|upstairs"
            r"|downstairs|indoors|outdoors|outside|inside|around|opposite|behind|above|below"
            r"|online|remote(?:ly)?|virtual(?:ly)?|everywhere|nowhere|somewhere|left|right|corner"
            r"|door|street|road|avenue|square|address|floor|room|city|town|village|country|north"
            r"|south|east|west|went|gone|going|visit\w*|\w+(?:shop|store|house|hall|land))\b",
            re.IGNORECASE,
        ),
    },
    {
        Detail.PERSON: re.compile(
            rf"\b(?:(?:{_ARTICLE}|two|three) "
            r"|(?=mum|mom|dad|granny|grand|aunt|uncle|police|people|friends|kids|children"
            rf"|parents)){_WORD}",
            re.IGNORECASE,
        ),
        Detail.PLACE: re.compile(
            rf"\b(?:(?:in|at|on){_NO_PLACE}|to|from|into|onto|near|by|beside|behind"
            r"|under(?:neath)?|below|above|between|among|across|opposite|along|around|through"
            r"|inside|outside|within|off|past|towards?|against|over|next to|with)"
            rf"(?: {_ARTICLE})? {_WORD}",
            re.IGNORECASE,
        ),
    },
    _names,
)
_GERMAN_FORMS: Final = _Forms(
    {
        Detail.TIME: re.compile(
            rf"{_TIME_GERMAN}|\b(?:war|waren|wurden?|hatten?|kam|kamen|ging|gingen|fuhr|fuhren"
            r"|fand|worden|\w{0,9}ge\w{2,19}(?:t|en))\b",
            re.IGNORECASE,
        ),
        Detail.DURATION: re.compile(_TIME_GERMAN, re.IGNORECASE),
        Detail.FREQUENCY: re.compile(_TIME_GERMAN, re.IGNORECASE),
        Detail.PERSON: re.compile(
            r"[:=@\u2192]|\b(?:ich|mich|mir|wir|uns|er|ihn|ihm|sie|ihnen|du|dich|dir|man|von|vom"
            r"|durch|alle|keiner|niemand)\b",
            re.IGNORECASE,
        ),
        Detail.PLACE: re.compile(
            r"[\d:=/@\u2192]|\b(?:hier|da|dort\w*|daheim|zuhause|hause|oben|unten|draußen|drinnen"
            r"|drüben|nebenan|überall|nirgends|nirgendwo|unterwegs|links|rechts|online|straße"
            r"|platz|adresse|stadt|dorf|land|norden|süden|osten|westen)\b",
            re.IGNORECASE,
        ),
    },
    {
        Detail.PERSON: re.compile(
            rf"\b(?:(?:{_ARTICLE_GERMAN}|diese[mnrs]?|zwei|drei) "
            r"|(?=mama|papa|mutti|vati|oma|opa|tante|onkel|leute|kinder|eltern|freunde|polizei))"
            rf"{_WORD}",
            re.IGNORECASE,
        ),
        Detail.PLACE: re.compile(
            rf"\b(?:(?:in|im|ins|an|am|ans|um|nach|vor|zu|ab){_NO_PLACE_GERMAN}|auf|aufs|bei"
            r"|beim|zum|zur|aus|neben|hinter|vorm|über|unter|unterm|zwischen|gegenüber|durch"
            r"|von|vom|entlang)"
            rf"(?: {_ARTICLE_GERMAN})? {_WORD}",
            re.IGNORECASE,
        ),
    },
    _german_names,
)


def any_tells(detail: Detail, cue: str, *, about: Iterable[str], behind: Iterable[str]) -> bool:
    """Tell whether a text may tell a detail.

    A name, a person or a place must be none of the words of the cue. An empty text stands for one
    that was not read, and may tell all. So may a text without any capital tell these: its author
    writes no name with one.

    Args:
        detail: The kind.
        cue: What asks for it.
        about: Texts of the topic.
        behind: Texts that follow these; one counts if it refers back: "she", "its".

    >>> any_tells(Detail.NAME, "my vet's name?", about=["The vet is open in May."], behind=())
    False
    >>> any_tells(Detail.NAME, "my vet's name?", about=["Our vet is Dr. Lee."], behind=())
    True
    """
    texts = chain(about, filter(_REFERS_BACK.search, behind))
    known = _NAMELESS.union(stems_of(words(cue)))
    spoken = languages_of(cue)
    forms = _GERMAN_FORMS if _GERMAN in spoken else _ENGLISH_FORMS
    return any(
        not text
        or _tells(detail, text, known, forms)
        # Nothing is known of words of another language.
        or (detail in forms.shown and not {*languages_of(text)}.issubset(spoken))
        for text in texts
    )


def _tells(detail: Detail, text: str, known: frozenset[str], forms: _Forms) -> bool:
    """Tell whether a text may tell a detail in other words than the known ones."""
    if (detail is Detail.NAME or detail in forms.behind) and not _CAPITAL.search(text):
        return True
    if detail is Detail.NAME:
        names = forms.names_in(_TITLE.sub(r"\1", text))
        return bool(_SAYS_NAME.search(text)) or not known.issuperset(names)
    if (_SHOWN.get(detail) or forms.shown[detail]).search(text):
        return True
    if detail not in forms.behind:
        return False
    found = words(" ".join(forms.behind[detail].findall(text)))
    return not known.issuperset([*forms.names_in(text), *stems_of(found)])
