"""Words, stems and characters of text; the lists of words are English.

Each constant is the inside of a regular expression's character class.

The lists are those the recall recipe was measured with; changing one changes the figures.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.records.forms import composed, lowered


def _ranges(holds: Callable[[str], bool | None], start: int, stop: int) -> str:
    """Write the characters for which `holds` as ranges."""
    parts: list[str] = []
    first: int | None = None
    for code in range(start, stop + 1):
        inside = code < stop and holds(chr(code))
        if inside and first is None:
            first = code
        elif not inside and first is not None:
            parts.append(f"\\u{first:04x}-\\u{code - 1:04x}")
            first = None
    return "".join(parts)


APOSTROPHES: Final = "'\u2019"
"""The typewriter's and the printer's."""

UPPER: Final = _ranges(str.isupper, 0x41, 0x590) + _ranges(str.isupper, 0x1E00, 0x2000)
"""Capitals of the Latin, Greek, Cyrillic and Armenian scripts."""

MARKS: Final = _ranges(lambda char: unicodedata.category(char) in {"Mn", "Mc"}, 0x300, 0x1E00)
"""Accents, vowel signs and points: part of a word, though `\\w` leaves them out (Hindi, Thai)."""

LATIN: Final = (
    r"\u0000-\u036f\u1d00-\u1dbf\u1e00-\u1eff\u2000-\u2bff\u2c60-\u2c7f\ua720-\ua7ff"
    r"\uab30-\uab6f\ufb00-\ufb06\uff00-\uff65\U0001d400-\U0001d7ff"
)
"""Blocks whose letters are Latin or stand for Latin ones, with the common signs between them."""

OTHER_LATIN: Final = "".join(
    _ranges(str.islower, start, stop)
    for start, stop in ((0xDF, 0x250), (0x250, 0x2B0), (0x1E00, 0x1F00), (0x2C60, 0x2C80))
)
"""Letters of those blocks beside `a-z`, in lower case."""

UNREADABLE: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff"
"""Control characters and halves of surrogate pairs: nothing that text consists of."""

UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts whose words spaces do not reliably part: Thai, Lao, Burmese, Khmer and CJK."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STOP_WORDS = frozenset(
    _words(
        """
        a about after again all also am an and any are as at awesome be because been before being
        but by can cool could d did didn do does doesn don down during each for from get glad
        good got great had has have he her here hey hi him his how i if in into is isn it its
        just ll lot lots m many may me might more most much my nice no not of oh ok okay on or
        our out over own re really s same she should so some such t than thank thanks that the
        their them then there these they this to too up us ve very was wasn we were what when
        where which while who whom whose why will with would wow yeah yes you your
        """
    )
)
"""Filler of chats; lexical signals do not count these words."""

CONNECTORS = _words(
    "of the de del della di da la le van von der den and for in on at to a no bin al y e &"
)
"""Lower-case words that may join two capitalised ones into one name."""

FUNCTION_WORDS = frozenset(
    _words(
        """
        the a an in on at it he she they we i this that these those his her their its and but or
        as of for to by with from after before during when while where who what which how why is
        was are were be did do does has have had there here also however if then so not no yes
        although since both may mr mrs ms dr
        """
    )
)
"""Words that are capitalised by their place in the sentence and never bound a name."""

INTERJECTIONS = frozenset(
    _words("ah aha eh er haha hello hey hi hmm huh lol oh ok okay uh um well wow yeah yep")
)
"""Words in front of a sentence that do not change what it says."""

INTENSIFIERS = frozenset(
    _words("really very truly totally absolutely definitely honestly literally simply")
)
"""Words that stress a statement without changing it, unless it is denied (`not really`)."""

DENIALS = frozenset(_words("not no never t hardly"))
"""Words that deny what follows; `t` is the end of `don't`."""

NEGATIONS: Final = (
    r"no|not|nor|never|neither|none|nobody|nothing|nowhere|without|cannot"
    rf"|\w+n[{APOSTROPHES}]t|longer|anymore"
    r"|nicht|nichts|nie|niemals|niemand|kein\w*|weder|ohne"
    r"|non|ne|pas|jamais|nunca|jamás|não|niet|geen|inte|ikke|не|нет"
)
"""Pattern of such words in several languages, in any case."""
_NEGATION: Final = re.compile(rf"\b(?:{NEGATIONS})\b", re.IGNORECASE)

NAMELESS_WORDS = INTERJECTIONS | frozenset(
    _words(
        """
        you me them him my your our mine yours ours theirs am been being would could should must
        shall cannot let lets thanks thank thx please sorry dear congrats congratulations cheers
        bye goodbye yay sure
        """
    )
)
"""Further words that never bound a name, unless they are written in capitals (`OK`)."""

CONTRACTION = re.compile(
    r"(?:i|you|he|she|it|we|they|that|this|there|here|what|who|where|when|why|how|let|y)"
    r"[\'\u2019](?:m|re|ve|ll|d|s|all)|\w+n[\'\u2019]t",
    re.IGNORECASE,
)
"""Two function words written as one, such as `I'm`, `we've` or `don't`."""

CONTRACTED = frozenset(
    _words(
        """
        i m re ve ll d s t ain aren can couldn didn doesn don hadn hasn haven isn mustn shan
        shouldn wasn weren won wouldn
        """
    )
)
"""The parts of a contraction once it is normalised."""

SUBJECT_VERB = re.compile(
    r"\s+(?:is|was|has|had|will|would|can|could|did|does|said|says|told|went|came|got|made|took|gave"
    r"|died|wrote|became|began|won|left|lives|lived|works|worked|moved|married|played|served)\b"
)
"""Behind the first word of a sentence, it makes that word the subject: `Ana was` but `Sow the`."""

NUMBER_UNITS = _words(
    """
    st nd rd th s x k am pm h hrs min sec km cm mm mi ft kg mg lb lbs oz ml kb mb gb tb hz khz mhz
    ghz px fps
    """
)
"""Written behind a number, they leave it a number: `20th`, `10am`, `3GB`."""

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""In the order of `datetime.date.weekday`."""

TIME_EXPRESSION = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago"
    r"|this (?:week|month|year|morning|weekend)|week|weekend|month|year|since|recently|just"
    rf"|\d+(?:st|nd|rd|th)|{'|'.join(WEEKDAYS)}|{'|'.join(MONTHS)})\b"
)
"""Places something in time; for text in lower case, where it is found three times as fast."""

IS_WHEN = re.compile(
    r"(?:when|how long|what (?:year|month|date|day|time)|which (?:year|month|day))", re.IGNORECASE
)
"""A question for a time; to be matched at the start of the cue."""

FIRST_PERSON = re.compile(r"\b(?:(?i:i|my|me|mine|we|our|myself)|[Uu]s)\b")
"""The speaker's own pronouns, also in `I'm` or `we've`. `US` in capitals is a country."""

SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)
"""The listener's pronouns, also in `you're` or `you'd`."""

POLITE_REQUEST = re.compile(r"\b(?:can|could|would|will|please)\s+you\b", re.IGNORECASE)
"""Asks for an answer, and says nothing of the listener."""

REQUEST = re.compile(
    r"\W*(?:(?:please|bitte|(?:can|could|would|will)\s+you)\b\W*)*"
    r"(?:(?:list|show|find|give|tell|name)\s+(?:me|us)\b(?:\s+about\b)?"
    r"|(?:list|show|find|name)(?=\s+(?:all|any|each|every|everything|my|our|the|what|which)\b)"
    r"|(?:look\s+up|search\s+for)\b"
    r"|remind\s+(?:me|us)\b(?=\s+(?:about|how|of|what|when|where|which|who|why)\b)"
    r"|(?:can|could|do)\s+you\s+(?:still\s+)?(?:know|recall|remember)\b"
    r"|(?:liste?|nenne?|sage?|zeige?)\s+(?:mir|uns)\b"
    r"|(?:liste|nenne|zeige)(?=\s+(?:alle|alles|die|meine|unsere)\b)"
    r"|wei(?:ß|ss)t\s+du\b(?:\s+noch\b)?)",
    re.IGNORECASE,
)
"""Words that only ask for an answer; to be matched at the start of the cue."""

REMINDER = re.compile(r"\b(?:remind\s+(?:me|us)|erinnere?\s+(?:mich|uns))\b", re.IGNORECASE)
"""Asks what was said, by anyone; its pronoun says nothing of the asker."""

SUMMARY_REQUEST = re.compile(
    rf"\W*(?:(?:can|could|would|will|please|you|i|we|i[{APOSTROPHES}]d|like|to)\s+)*"
    r"(?:summari[sz]e|sum\s+up|recap"
    r"|(?:give|provide|write|make|show|have|get|need|want)\b[^.?!]{0,40}"
    r"\b(?:summary|overview|recap)\b"
    r"|(?:(?:an?|the)\s+)?(?:\w+\s+)?(?:summary|overview|recap)\s+of\b)",
    re.IGNORECASE,
)
"""Asks for a summary instead of one memory; to be matched at the start of the cue."""

_YOU_SAID = (
    rf"\byou(?:[{APOSTROPHES}]ve| have| had)?\s+(?:also |already |ever |just )?"
    r"(?:recommend|suggest|advis"
    r"|said|told|gave|given|mention|explain|outlin|propos|describ|provid|show|help|list)\w*"
    r"|\byour\s+(?:advice|suggestion|recommendation|answer|explanation|response|reply|replies)"
    r"|\bhast\s+du\b[^.?!]{0,200}\b(?:empfohlen|vorgeschlagen|geraten|gesagt)\b"
)
SECOND_PERSON_ACTS = re.compile(rf"\b(?:did|have|had|were)\s+you\b|{_YOU_SAID}", re.IGNORECASE)
"""Asks what the listener said or did; looked for where polite requests are taken out."""

SECOND_PERSON_SAID = re.compile(
    rf"\bdid\s+you\s+(?:say|tell|give)|(?<!do )(?:{_YOU_SAID})", re.IGNORECASE
)
"""Asks what the listener said: not "did you see", nor "do you suggest", which asks for now."""

ROLE_WORDS = frozenset(("user", "human", "assistant", "ai", "bot", "model", "system", "tool"))
"""Speakers that are roles: as words of a cue they name nobody."""

NO_KNOWLEDGE = re.compile(
    rf"\b(?:i (?:don[{APOSTROPHES}]?t|do not|really don[{APOSTROPHES}]?t) (?:know|recall|remember)"
    rf"|(?:i have )?no idea|i[{APOSTROPHES}]?m not sure|i am not sure|not that i know"
    rf"|i can(?:[{APOSTROPHES}]?t|not) (?:say|tell|recall))\b",
    re.IGNORECASE,
)
"""The speaker does not know: such a turn answers nothing."""

LIGHT_WORDS = frozenset(
    _words(
        """
        now currently still already ever yet again once then today lately recently always never
        usually often sometimes anymore anyway please thank hello hey hi bye goodbye sorry welcome
        go going goes gone went come came run runs get gets getting take takes took make makes
        made let keep kept put give gave tell tells told say says said ask asks asked know knows
        knew think thinks thought want wants wanted like likes need needs mean means try tries
        tried use used happen happened thing things stuff kind type sort way name names called
        please sure maybe perhaps
        """
    )
)
"""Words of a cue that carry little of what is asked: a memory need not have them."""

HONORIFICS = frozenset(("mr", "mrs", "ms", "dr", "sir", "dame", "lady", "professor", "prof"))

ORGANISATION_WORDS = frozenset(
    _words(
        """
        academy agency airlines army assembly association bank board bureau church club college
        commission committee company congress corp corporation council department fc federation
        foundation government group inc institute institution league ltd ministry museum navy
        network orchestra parliament party press records school senate society studios union
        university
        """
    )
)

PLACE_WORDS = frozenset(
    _words(
        """
        airport avenue bay beach bridge canyon castle city coast county creek desert district
        forest hill hills island islands lake mountain mountains ocean park peninsula province
        region river road sea square state street town valley village
        """
    )
)

_NUMBERS = (
    "couple of|a couple of|eleven|twelve|three|seven|eight|four|five|nine|one|two|six|ten|an|a"
)
_DAYS = (
    "the day before yesterday|the day after tomorrow|this afternoon|this morning|this evening"
    "|last night|yesterday|tomorrow|tonight|today"
)
RELATIVE_DATE = re.compile(
    rf"\b(?:(?:{_DAYS})|(?:\d{{1,3}}|{_NUMBERS})\s+(?:day|week|month|year)s?\s+ago"
    rf"|(?:(?:last|past)\s+(?:\d{{1,3}}|few|{_NUMBERS})|the\s+past)\s+(?:day|week|month|year)s?"
    rf"|(?:last|this|next)\s+(?:weekend|week|month|year|{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)
"""A day told from the day it is said on; the context of an answer adds that day."""


LONGEST_WORD: Final = 1_500
"""Characters of a word that count. A key of an index has at most 8 kB, and a character four bytes;
a longer word (an image in Base64, say) is known by its beginning."""


_ACCENTED = map(chr, (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)))
_BASE_LETTERS = {
    ord(char): base
    for char in _ACCENTED
    if (base := unicodedata.normalize("NFD", char)[0]) != char and base.isalpha()
} | str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ð": "d",
        "đ": "d",
        "ħ": "h",
        "\u0131": "i",
        "ł": "l",
        "ø": "o",
    }
    | {"ё": "е"}  # noqa: RUF001 (Cyrillic)
)
"""Latin and Greek letters with accents, and what is typed in their place."""
_LOOSE_ACCENTS = re.compile("[\u0300-\u036f]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ANY_WORD = re.compile(
    rf"[a-z0-9{OTHER_LATIN}]+|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?:[^\W_{LATIN}{UNSPACED}][{MARKS}]*)+"
)
_WRITTEN = re.compile(rf"[\w{UNSPACED}{MARKS}\u00ad\u200c\u200d]+")
# The original Porter stemmer; ranking and index use the same stems, so a memory that matches is
# always a candidate (decision 0004).
_PORTER = Stemmer.Stemmer("porter")  # holds the interpreter lock throughout: threads may share it
_BY_SCRIPT = {
    script: Stemmer.Stemmer(language)
    for script, language in (
        ("GREEK", "greek"),
        ("CYRILLIC", "russian"),
        ("ARMENIAN", "armenian"),
        ("ARABIC", "arabic"),
        ("DEVANAGARI", "hindi"),
        ("TAMIL", "tamil"),
    )
}
"""Stemmers of the scripts of which one language is far the most frequent. Words in Latin letters
all have Porter's, because a short cue does not tell its language for sure, and a memory and a cue
must have the same stems; `ecphoria.text.terms` adds those of their language."""


def denies(text: str) -> bool:
    """Tell whether a text has a word such as *not*."""
    return bool(_NEGATION.search(text))


def words(text: str) -> list[str]:
    """Split into lower-case words in order, repeats kept, stop words included.

    A word consists of letters and digits of any alphabet. Accents of Latin and Greek letters go,
    so that `Müller` and `Muller` meet. Scripts without spaces give overlapping pairs of
    characters, which is how such text is found without a dictionary. Of a word over
    `LONGEST_WORD` characters only the beginning counts.
    """
    if text.isascii():
        text = text.lower()
        return _bounded(_ASCII_WORD.findall(text), text)
    text = unaccented(text)
    found: list[str] = []
    for match in _ANY_WORD.finditer(text):
        if match.lastgroup and match.end() - match.start() > 1:
            found += (first + second for first, second in pairwise(match[0]))
        else:
            found.append(match[0])
    return _bounded(found, text)


def unaccented(text: str) -> str:
    """Write a text in lower case without the accents of Latin and Greek letters."""
    return _LOOSE_ACCENTS.sub("", lowered(text).casefold().translate(_BASE_LETTERS))


def _bounded(found: list[str], text: str) -> list[str]:
    if len(text) <= LONGEST_WORD:
        return found
    return [word[:LONGEST_WORD] for word in found]


def porter(word: str) -> str:
    """Reduce one word to its stem (Porter, 1980)."""
    return str(_PORTER.stemWord(word))


def stem_of(word: str) -> str:
    """Reduce one word to a stem, with the stemmer of its script."""
    return str(_stemmer(word[0]).stemWord(word))


def stems(text: str) -> tuple[str, ...]:
    """Reduce to stems in order, repeats kept, without stop words.

    The stemmer is Porter's original one (1980); words in Greek, Cyrillic, Armenian, Arabic,
    Devanagari and Tamil letters have that of their script (Snowball). Each keeps its own bounded
    cache of words.

    >>> stems("Анна работала в квартире")
    ('ан', 'работа', 'в', 'квартир')
    """
    return stems_of(words(text))


def stems_of(found: Iterable[str]) -> tuple[str, ...]:
    """Reduce words that are split already; see `stems`."""
    kept = [word for word in found if word not in STOP_WORDS]
    if all(map(str.isascii, kept)):
        return tuple(_PORTER.stemWords(kept))
    return tuple(map(stem_of, kept))


@lru_cache(10_000)
def _stemmer(letter: str) -> Stemmer.Stemmer:
    """Choose the stemmer of the words that begin with a letter, by the letter's script."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return _BY_SCRIPT.get(script, _PORTER)


def as_written(text: str, wanted: Collection[str]) -> list[str]:
    """Give the words of a text with these stems as the text writes them, in its order.

    >>> as_written("Which cafés are in Łódź?", {"cafe", "lodz"})
    ['cafés', 'Łódź']
    """
    found: dict[str, str] = {}
    for written in _WRITTEN.findall(composed(text)):
        read = words(written)
        for word in read:
            for stem in stems(word):
                found.setdefault(stem, written if len(read) == 1 else word)
    return list(dict.fromkeys(found[stem] for stem in found if stem in wanted))


_UNREADABLE: Final = re.compile(f"[{UNREADABLE}]")
_TERMINAL_CODE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""A control sequence of a terminal (ECMA-48, CSI), such as a colour or a move of the cursor."""


def without_terminal_codes(text: str) -> str:
    r"""Remove the colours that tools write into their output; they are no part of the text.

    >>> without_terminal_codes("\x1b[1;31mFAILED\x1b[0m tests")
    'FAILED tests'
    """
    return _TERMINAL_CODE.sub("", text) if "\x1b" in text else text


def check_readable(field: str, value: str, limit: int | None = None) -> None:
    """Refuse control characters, and texts over a limit.

    Raises:
        InvalidInput: Names the character and its place.
        TooLarge: The text has more than `limit` characters.
    """
    if limit is not None and len(value) > limit:
        raise TooLarge(
            f"`{field}` has {len(value):,} characters; at most {limit:,} are stored: shorten it",
            field=field,
        )
    if found := _UNREADABLE.search(value):
        raise InvalidInput(
            f"`{field}` holds the unreadable character U+{ord(found[0]):04X} at place "
            f"{found.start()}; remove it",
            field=field,
        )
