"""Separate turns that only ask, or only say "I don't know", from turns that state something.

The rules know English and German; some other languages are read in the English of
`ecphoria.text.phrasebook`. In all, a sentence is a question if it ends as one and states nothing
beside it. A sentence without a matching rule states something, so a missing rule hides no memory.

Every rule looks at one sentence of at most `LONGEST_ASKING` characters, and no pattern has nested
repetition, so the time is linear in the text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ecphoria.text.english import CONTRACTED, INTERJECTIONS, LIGHT_WORDS, NAMELESS_WORDS
from ecphoria.text.german import ASKING_WORDS as GERMAN_ASKING_WORDS
from ecphoria.text.german import DATED, is_german
from ecphoria.text.german import FUNCTION_WORDS as GERMAN_FUNCTION_WORDS
from ecphoria.text.languages import (
    LANGUAGES,
    QUESTION_MARKS,
    Language,
    content_words,
    languages_of,
)
from ecphoria.text.phrasebook import in_english
from ecphoria.text.tokens import APOSTROPHES, UNSPACED, UPPER, stems, stems_of

# A sentence that no rule recognises states something; a long request to an assistant is evidence
# (decision 0044).
LONGEST_ASKING: Final = 600
"""Longest turn that may only ask, in characters; a longer one describes its case."""

_SHORT_PHRASE = 4
"""Words of a phrase in front of a question that states nothing: `By the way`, `My wife's name`."""


class Saying(IntEnum):
    """The act of a turn."""

    STATES = 0
    ASKS = 1
    DOES_NOT_KNOW = 2


@dataclass(frozen=True, slots=True)
class Asking:
    """The act of a turn, and the details of its question.

    Attributes:
        saying: What it does.
        told: Stems of names and numbers in a turn that asks: `Pixel` in "What may Pixel eat?".
        content: Stems of its content words, if it does not state, or if it states and speaks of
            asking or knowing: "The user asked about the wedding."
    """

    saying: Saying
    told: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()


STATES: Final = Asking(Saying.STATES)


def _any(words: str) -> str:
    return "|".join(words.split())


_WH = _any("what which who whom whose when where why how")
_AUXILIARY = _any(
    """
    is are was were am do does did have has had can could will would should shall may might isn
    aren wasn weren don doesn didn haven hasn hadn couldn won wouldn shouldn
    """
)
_SUBJECT = _any(
    """
    i you he she it we they my your his her its our their this that these those there the a an
    anyone anybody someone somebody any
    """
)
_W = _any(
    """
    was wer wen wem wessen wann wo woher wohin warum wieso weshalb wie welche welcher welches
    welchen welchem womit wofür worüber wovon woran worauf wozu
    """
)
_SUBJEKT = _any(
    """
    ich du er sie es wir ihr man mein meine meinen meinem meiner dein deine deinen deinem deiner
    sein seine unser unsere ihre der die das den dem ein eine einen einem
    """
)
_PREPOSITION = _any(
    "in at on for to from with by of since until about under near into over after before during"
    " around between within among"
    " an auf aus bei mit nach seit von zu für über um bis"
)
_Q = rf"[{APOSTROPHES}]"

FILLER_PHRASES = (
    *sorted(INTERJECTIONS),
    *"""again dear please thanks cheers sorry pardon and but so also then now just btw
    unfortunately actually honestly bitte verzeihung mal nur noch und aber leider ach na nun servus
    moin gern gerne hallo entschuldigung übrigens quick quickly""".split(),  # noqa: SIM905
    "(?:hi|hello|hey) there",
    "guten (?:tag|morgen|abend)",
    "good (?:morning|afternoon|evening|day)",
    "thank you(?: (?:so|very) much)?",
    "(?:many )?thanks(?: a lot)?",
    "(?:thanks |thank you )?in advance",
    "excuse me",
    "by the way",
    "one (?:more )?(?:thing|question)",
    "(?:a |another )?(?:quick |simple |small )?question",
    rf"i(?: am|{_Q}m) (?:sorry|afraid)",
    "as far as i (?:know|can tell|can see)",
    "danke(?: schön| sehr)?",
    "vielen dank",
    "sag mal",
    "eine (?:kurze )?frage",
    "(?:es )?tut mir leid",
    "hm+",
    "(?:out of curiosity|just curious)",
    "no (?:worries|problem)",
    "have a (?:nice|good|great) (?:day|evening)",
    "nice to meet you",
    "sorry (?:to ask|for asking)(?: (?:you )?(?:this |that )?again)?",
    "to ask again",
    "(?:good|great) question",
    "gute frage",
    "interesting(?: question)?",
    "alles klar",
    "schon gut",
)
_FILLER = re.compile(
    rf"(?:[^\w]|\b(?:{'|'.join(sorted(FILLER_PHRASES, key=len, reverse=True))})\b)+", re.IGNORECASE
)
"""Words before a sentence, or alone, that state nothing."""

_INDIRECT = (
    rf"(?:i (?:also |just |still )?(?:wonder|was wondering|am wondering|am curious|am trying to"
    r" remember|need to know|want to know|would (?:like|love) to (?:know|hear)|have a question"
    r"|am asking|ask|should like to know|was curious)"
    rf"|i{_Q}(?:m (?:just |still )?(?:wondering|curious|asking|trying to remember)"
    r"|d (?:like|love) to (?:know|hear))"
    r"|wondering|curious|any (?:idea|clue|chance)|(?:let me know|tell (?:me|us)|give (?:me|us))"
    rf" (?:again )?(?:{_WH}|if|whether|about|my|our|your|the|all|everything|anything)\b"
    rf"|(?:show (?:me|us)|say|state|name) (?:again )?(?:{_WH}|if|my|our|all)\b"
    rf"|(?:look up|look for|search for|find out|find|check|retrieve|fetch) (?:again )?"
    rf"(?:{_WH}|if|whether|my|our|the|all)\b"
    rf"|(?:remind (?:me|us)|help (?:me|us) remember) (?:again )?(?:{_WH}|of|about|my)\b"
    r"|summari[sz]e|recap|describe|explain|compare|walk (?:me|us) through"
    r"|(?:fass|fasse|beschreib|beschreibe|erklär|erkläre|vergleich|vergleiche)\b"
    r"|(?:you|do you|did you|can you|could you) (?:still |ever |even |happen to )?(?:know|remember"
    r"|recall)|(?:my|the) question is|list (?:all|my|our|every)\b"
    r"|ich (?:frage mich|frag mich|wüsste gern|möchte (?:gern |gerne )?wissen|würde gern(?:e)?"
    r" wissen|will wissen|muss wissen|überlege gerade)"
    r"|(?:sag|sage|sagen sie|verrate|verrat|nenne|nenn|erzähl|erzähle|zeig|zeige|gib) (?:mir|uns)"
    r"|(?:erinnere|erinner) mich (?:daran|an)|mich (?:würde )?interessier\w*|weißt du|weisst du"
    r"|wissen sie|keine ahnung (?:mehr )?,? ?(?:wie|was|wer|wo|wann))"
)
_REQUESTS = re.compile(_INDIRECT, re.IGNORECASE)
_LABEL = re.compile(
    r"\s*(?:user|human|customer|assistant|agent|ai|bot|system|q|a|me|you|question|answer|nutzer"
    r"|nutzerin|frage|antwort|ich|du)\s*[:>\uff1a]\s*",
    re.IGNORECASE,
)
"""The speaker in front of a line, in a piece of a transcript."""

_OPENS = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:{_WH}|{_W})\b"
    rf"|(?:{_AUXILIARY})(?:{_Q}?t)?\b"
    rf"|{_INDIRECT}"
    rf"|\w+(?:e|st|t|en|n)\s+(?:ich|du|er|sie|es|wir|ihr|man|mein\w{{0,2}}|dein\w{{0,2}})\b",
    re.IGNORECASE,
)
"""Begins a sentence that asks, where a question mark ends it."""

_ASKS = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:what|which|how|who|whom|whose|when|where|why){_Q}?s?\s+"
    rf"(?!(?:{_SUBJECT})\b)(?:[^\s,]+\s+){{0,3}}?(?:{_AUXILIARY}|go|goes)\b"
    rf"|(?:what|who|where|when|how){_Q}s\b"
    rf"|(?:{_AUXILIARY})(?:{_Q}?t)?\s+(?:i|you|he|she|it|we|they|my|your|his|her|our|their|there"
    r"|anyone|anybody)\b"
    rf"|{_INDIRECT}"
    rf"|(?:(?:{_PREPOSITION})\s+)?(?:wer|wen|wem|wessen|wann|wo|woher|wohin|warum|wieso"
    rf"|weshalb|wie"
    rf"|welche\w?|womit|wofür|worüber)\s+(?!(?:{_SUBJEKT})\b)\w"
    rf"|was\s+(?:ist|sind|war|waren|hat|habe|mache|macht|esse|isst|trinke|trinkt|mag|kostet)\b"
    r"|(?:weißt|weisst|kennst|erinnerst|hast|habe|hab|bin|bist|ist|sind|war|kannst|könntest"
    r"|würdest"
    r"|kann|darf|soll|magst|gibt|heißt|heisst)\s+(?:du|ich|wir|er|es|mein\w{0,2}|dein\w{0,2})\b",
    re.IGNORECASE,
)
"""Begins a sentence that asks, whatever ends it: `What I like is chess.` does not."""

_STATED = re.compile(
    rf"(?:and|but|because|since|as|so|weil|denn|da|und|aber)?\s*(?:{_SUBJECT}|{_SUBJEKT}"
    rf"|i{_Q}(?:m|ve|d|ll)|we{_Q}(?:re|ve)|it{_Q}s|(?:he|she){_Q}s)\s",
    re.IGNORECASE,
)
"""Begins a clause that states something beside a question."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|can|could|will|would|should|may|might"
    r"|ist|sind|war|waren|bin|hat|habe|hatte|haben|heißt|heisst|wohnt|wohne|mag|kann)\b|\wed\b"
    rf"|\w{_Q}(?:m|ve|re|ll|d)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    rf"(?:i|you|he|she|we|they|ich|du|er|wir)(?:\s|{_Q})|(?:{_SUBJECT})\s+\w+(?:es|ied)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|weil)\s|\bsince\s+(?:i|we|my|he|she)\b|\bgiven that\b", re.IGNORECASE
)
_ASKED_LAST = re.compile(
    rf"\b(?:{_WH}|{_any('wer was wo wann wie welche')})(?:\s+again)?\s*$", re.IGNORECASE
)
_LOST = re.compile(
    r"i (?:have )?(?:(?:just |completely |totally |always )?(?:forgot|forgotten|forget)"
    rf"|can(?:{_Q}?t| ?not) (?:recall|remember|think of)"
    rf"|do(?:n{_Q}?t| not) (?:recall|remember|know))\b"
    r"|ich (?:habe|hab|weiß|weiss|erinnere) (?:\w+ ){0,5}?(?:vergessen|nicht(?: mehr)?)\b",
    re.IGNORECASE,
)
"""Says, beside a question, that the asker does not know."""

_AND = re.compile(r"(?:and|or|but|und|oder|aber)\s+", re.IGNORECASE)
_CONDITION = re.compile(r"(?:if|when|wenn|falls|als)\b", re.IGNORECASE)

_ITEMS = (
    r"(?:information|informations|info|records?|memor(?:y|ies)|details?|data|notes?|idea|clue"
    r"|knowledge|mentions?|access|way (?:of knowing|to know)|context|answers?|entry|entries)"
)
_NEGATED = rf"(?:don{_Q}?t|do not|didn{_Q}?t|did not|never)"
_LATELY = r"(?:(?:yet|ever|even|actually|really|currently|still|also)\s+)?"
_EXCUSES = re.compile(
    rf"(?:(?:well|that|this|it)\W+)?(?:i (?:{_NEGATED}) {_LATELY}(?:know(?! how to)|recall"
    rf"|remember"
    rf"|(?:have|see|find|hold) (?:(?:any|that|the|this|a|enough|your|such)\s+){{0,2}}{_ITEMS})"
    rf"|i (?:have|had|can find|could find|found|hold|see){_LATELY} ?(?:no|nothing|none)\b(?! but)"
    rf"|i{_Q}?ve (?:got )?(?:no|nothing)\b(?! but)"
    rf"|i(?: am|{_Q}m) (?:not (?:sure|certain|aware)|unsure|unaware|unable to)"
    rf"|i(?: can(?:{_Q}?t| ?not)| could(?:n{_Q}?t| not)|(?: am|{_Q}m) not able to)"
    rf" (?:say|tell|recall|remember|answer|find (?:(?:any|that|the|this)\s+){{0,2}}{_ITEMS})"
    rf"|i(?:{_Q}ve| have)? (?:forgot|forgotten) (?:{_WH}|the name)"
    rf"|i lack\b|i was (?:not|never) told|i wasn{_Q}?t told|i{_Q}ve (?:not|never) been told"
    rf"|you (?:have(?:n{_Q}?t| not| never)?|did(?:n{_Q}?t| not)|had(?:n{_Q}?t| not)|never)"
    rf" (?:(?:not|never|yet|ever|even|actually|so far|told|really)\s+){{0,2}}(?:told (?:me|us)"
    rf"|tell"
    r" (?:me|us)|mention(?:ed)?|said|say|shar(?:e|ed)(?: (?:that|this|your|it|with me))|gave me"
    r"|given me|give me|provid(?:e|ed)|specif(?:y|ied)|stat(?:e|ed))"
    rf"|you{_Q}ve (?:not|never) (?:yet )?(?:told (?:me|us)|mentioned|said|shared|given me"
    rf"|provided)"
    r"|we (?:never|have not|haven.?t|did not|didn.?t) (?:yet )?(?:talk|talked|spoke|spoken|discuss"
    r"|discussed|cover|covered|mention|mentioned)"
    rf"|(?:there(?: is|{_Q}s| are| was)|my (?:memory|memories|notes|records?) (?:has|have|holds?"
    rf"|contains?|says?)|the (?:memory|memories|notes|records?) (?:has|have|holds?|contains?"
    rf"|says?))"
    rf" (?:(?:currently|yet|still|also)\s+)?(?:no|nothing|none|not any)\b(?! but)"
    rf"|i (?:don{_Q}?t|do not) (?:think|believe) (?:that )?(?:you|we|i|it|this|there)\b"
    rf"|(?:none|nothing) (?:of|in|about|on)\b|no {_ITEMS}\b|no idea|no clue|not that i (?:know"
    rf"|recall"
    r"|remember)|not sure|(?:that |this |it )?(?:is |was )?(?:unknown|not known)\b|n/a\b"
    rf"|(?:that|this|it)(?: is|{_Q}s| was) (?:not|nothing) (?:something|that)? ?(?:i|you|we)\b"
    r"|(?:that|this|it|your \w+(?:.s \w+)?|the name|the answer) (?:has|was|is) (?:not|never)"
    r" (?:yet )?(?:been )?(?:mentioned|shared|told|provided|recorded|known|given|specified|stored)"
    r"|(?:das|dies|es|darüber|davon|dazu|hierzu|den namen|die antwort)?\s*wei(?:ß|ss) ich"
    r" (?:\w+ ){0,2}?(?:nicht|nichts)"
    r"|ich wei(?:ß|ss) (?:\w+ ){0,3}?(?:nicht|nichts)|keine ahnung|(?:dazu |darüber |davon "
    r"|hierzu "
    r"|noch |da )?(?:habe|hab|finde|liegen|liegt|gibt|besitze) (?:ich|mir|es) (?:\w+ ){0,3}?"
    r"(?:keine?|nichts)\b|ich (?:habe|hab|finde|besitze) (?:\w+ ){0,3}?(?:keine?n?"
    r" (?:information\w*|angabe\w*|daten|ahnung|erinnerung\w*|notiz\w*|eintr\w*|kenntnis\w*"
    r"|hinweis\w*)|nichts (?:dazu|darüber|davon))"
    r"|(?:\w+ ){0,2}?hast du (?:mir )?(?:\w+ ){0,4}?(?:nicht|nichts|nie|keine\w?) (?:\w+ ){0,2}?"
    r"(?:gesagt|erzählt|verraten|mitgeteilt|erwähnt|genannt)"
    r"|du hast (?:mir )?(?:\w+ ){0,5}?(?:nicht|nichts|nie|keine\w?) (?:\w+ ){0,2}?(?:gesagt"
    r"|erzählt"
    r"|verraten|mitgeteilt|erwähnt|genannt)"
    r"|ich kenne (?:\w+ ){1,5}?(?:noch )?nicht\b|(?:daran )?(?:ich )?(?:kann"
    r"|erinnere) (?:ich )?mich"
    r" (?:\w+ ){0,3}?nicht|(?:das|dies|es|der \w+|die \w+) ist mir (?:leider |noch )?nicht bekannt"
    r"|nicht,? dass ich wüsste|ich bin (?:mir )?(?:da )?nicht sicher"
    r"|darüber haben wir (?:noch )?(?:nicht|nie))",
    re.IGNORECASE,
)
"""Begins a sentence that says its speaker does not know."""

_EXCUSES_WITHIN = re.compile(
    rf"\b(?:i|we|ai|assistant) (?:{_NEGATED}|can(?:{_Q}?t| ?not)|could(?:n{_Q}?t| not)) (?:\w+ )?"
    r"(?:know|recall|remember)\b(?! how to)"
    rf"|\b(?:has|have|is|was|are|were)(?:n{_Q}?t| not| never) (?:yet |ever |been |yet been )?"
    r"(?:come up|mentioned|recorded|known|discussed|(?:some|any)thing (?:that )?i know)\b"
    r"|\bno (?:answer|information|info|record|memory|knowledge|entry|mention)"
    r"(?: (?:of|about|on|for|is|was|known|found|yet|so|here)\b|$)"
    r"|\b(?:ist|sind|war|waren|bleibt) (?:mir )?(?:noch |leider )?(?:unbekannt|nicht bekannt)\b"
    r"|\bantwort (?:ist )?(?:nicht bekannt|unbekannt)\b"
    r"|\bkeine (?:antwort|information\w*|angabe\w*|erinnerung\w*)\b",
    re.IGNORECASE,
)
"""Says anywhere in a sentence that its speaker does not know."""

_REPORTS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|questions?|[ei]nquir\w+|wants? to know"
    r"|wanted to know"
    r"|know|known|unknown|recall|remember|mention\w*|records?|memor(?:y|ies)|information|info"
    r"|answer\w*|forgot\w*|tell|told|unsure|not sure|no idea|(?:come|came) up|find|found"
    r"|gefragt|fragt\w*|wissen|weiß|weiss|wusste|bekannt|unbekannt|erinner\w*|erwähn\w+"
    r"|angabe\w*|antwort\w*|ahnung|vergessen)\b",
    re.IGNORECASE,
)
"""Speaks of asking, searching or knowing."""

_OPEN_CUE = re.compile(
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
_CHOICE_OR_WHO = re.compile(
    r"\b(?:or|oder)\b|\bwho (?!(?:is|are|was|were|am|my|our|the)\b)"
    r"|\bwer (?!(?:ist|sind|war|waren|mein\w*|unser\w*|der|die|das)\b)",
    re.IGNORECASE,
)

_BUT = re.compile(
    r"[,;:\u2014\u2013-]\s*(?:but|however|though|aber|doch|jedoch)\b|\bbut\s+(?:i|you|we|your"
    r"|my)\b",
    re.IGNORECASE,
)
"""Continues an excuse with something that is known."""

_OFFERS = re.compile(
    rf"(?:if you|let me|let us|feel free|you can|you may|you could|could you|i can\b|i{_Q}ll"
    rf"|i will"
    rf"|i{_Q}d be|i would be|happy to|just tell|tell me|would you|do you want|one moment|wenn du"
    r"|falls du|lass (?:es )?mich|du kannst|magst du|möchtest du|ich kann|ich merke|ich helfe)\b",
    re.IGNORECASE,
)
"""Offers help; beside an excuse it states nothing."""

_ENDS = r".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\n"
# "Next.js", "asyncio.run", "4.5", "Dr. Seuss", "the U.S. team" and "am 12. Mai" do not end at
# their dots.
DOT_WITHIN: Final = (
    r"(?:\.(?=\w)|(?<=\b[A-Z])\.|(?<=\b(?:Dr|Mr|Ms|St|vs))\.|(?<=\b(?:Hon|Mrs))\."
    rf"|(?<=\d)\.(?={DATED}))"
)
_SENTENCE = re.compile(rf"(?:[^{_ENDS}]|{DOT_WITHIN})+(?:[{_ENDS}]+|$)")
# "4:51" is one number.
_CLAUSE = re.compile(r"[,;()\uff0c\uff1b\u060c\u061b\u3001\u2014\u2013]|:(?!\d)|\s-\s")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(
    rf"(?<=[^\W\d_])(?:{_Q}s)?[ ,]+(?P<name>(?!(?:I|AI|LLM|KI)\b)[{UPPER}{UNSPACED}]\w+)"
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ENGLISH_ASKING_WORDS = _words(
    """
    remember recall remind wonder wondering curious idea clue information info record memory
    memories detail details data note notes knowledge mention mentioned share shared provide
    provided answer question aware unsure unable unknown yet far forgot forgotten moment help able
    access specify specified state stated exactly actually none nothing unfortunately afraid
    honestly quick good morning afternoon evening regarding concerning hear heard find found
    believe
    """
)


def _stems_of(*lists: Iterable[str]) -> frozenset[str]:
    return frozenset(stem for words in lists for stem in stems(" ".join(words)))


_ASKING_STEMS = _stems_of(
    LIGHT_WORDS,
    GERMAN_FUNCTION_WORDS,
    GERMAN_ASKING_WORDS,
    CONTRACTED,
    NAMELESS_WORDS,
    _ENGLISH_ASKING_WORDS,
)


_TIME_WORDS = frozenset(
    _words("now today currently lately recently once ever never always usually often sometimes")
)
"""Light words that answer when or how often."""

_REPORTING_STEMS = _stems_of(
    LIGHT_WORDS - _TIME_WORDS,
    GERMAN_FUNCTION_WORDS,
    GERMAN_ASKING_WORDS,
    CONTRACTED,
    _words(
        """
            ask asked asking question answer answered wonder wondering inquired enquired unknown
            recall remember mention mentioned record recorded memory memories information info
            forgot unsure idea find found conversation conversations user assistant ai llm unless
            far yet unfortunately afraid able unable share shared bring brought known something
            anything nothing
            gefragt fragte antwort unbekannt vergessen nutzer
        """
    ),
)


def content_stems(found: frozenset[str]) -> frozenset[str]:
    """Remove the stems of words that belong to questions and say nothing about the topic."""
    return found - _ASKING_STEMS


def own_stems(found: Iterable[str]) -> int:
    """Count the different stems of a turn that tell something, whatever its act and language.

    Pairs of characters do not count: function words may be inside.
    """
    told = frozenset(found) - _OF_ANY_ACT
    return sum(not _UNSPACED.match(stem) for stem in told)


_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_OF_ANY_ACT: Final = _ASKING_STEMS.union(
    _REPORTING_STEMS, stems_of(word for one in LANGUAGES.values() for word in one.silent)
)


_ENDS_ASKING = re.compile(r"[?\uff1f\u061f][^\w.!?\uff1f\u061f]*$")

_UNDECIDED = re.compile(
    rf"\b(?:(?:can(?:{_Q}?t|not| not)|could(?:n{_Q}?t| not)|unable to|hard to|have to|need to"
    r"|trying to) (?:really |quite |yet |still )?(?:decide|choose|pick|make up (?:my|our) mind)"
    rf"|(?:(?:have|has)(?:n{_Q}?t| not)|{_Q}ve not) (?:really |quite |yet |fully )?"
    r"(?:decided|chosen|picked|settled|made up)"
    r"|undecided|torn between|on the fence|tbd|to be decided"
    rf"|(?:not sure|unsure|not certain|(?:don{_Q}?t|do not) know)(?: yet)? (?:{_WH}|if|whether)"
    rf"|still (?:deciding|choosing|weighing)|wondering (?:{_WH}|if|whether|about)"
    r"|(?:noch )?nicht (?:entscheiden|entschieden)|un(?:entschieden|entschlossen|schlüssig)"
    rf"|hin[- ]?und[- ]?hergerissen|schwanke|(?:nicht|un)sicher,? (?:ob|{_W})"
    rf"|wei(?:ß|ss) (?:ich )?(?:auch |noch |es )?nicht,? (?:ob|{_W})"
    r"|überlegen? (?:noch|gerade|ob))\b",
    re.IGNORECASE,
)
"""Says that its speaker has not decided."""


def leaves_open(spoken: str) -> bool:
    """Tell whether a turn leaves a question open: it asks at its end, or is undecided.

    `spoken` is its text without the caption; of a long one the end is read.
    """
    end = spoken[-LONGEST_ASKING:]
    if _ENDS_ASKING.search(end) or _UNDECIDED.search(end):
        return True
    return read_asking(spoken).saying is not Saying.STATES


def asks_openly(cue: str) -> bool:
    """Tell whether a cue asks for a value, so that a turn with the same words is no answer.

    `Who drives the car?` is answered by `I drive the car`, and `Tea or coffee?` by `Tea`; a cue
    that begins with a verb is answered by its own words.
    """
    body = _behind(_FILLER, cue)
    return _OPEN_CUE.match(body) is not None and _CHOICE_OR_WHO.search(body) is None


def read_asking(spoken: str) -> Asking:
    """Tell what a turn does, by its text without the caption.

    A turn of more than `LONGEST_ASKING` characters states.
    """
    if len(spoken) > LONGEST_ASKING:
        return STATES
    kinds = _kinds(spoken)
    if "excuse" in kinds and kinds <= {"excuse", "question", "offer"}:
        saying = Saying.DOES_NOT_KNOW
    elif kinds == {"question"}:
        saying = Saying.ASKS
    elif _REPORTS.search(spoken):
        content = frozenset(stems(spoken)) - _REPORTING_STEMS
        # Words with a capital inside a sentence, also `May` and `Will`.
        capitals = frozenset(map(str.lower, _numbers_and_names(spoken)))
        return Asking(Saying.STATES, capitals, content)
    else:
        return STATES
    said = stems_of(content_words(spoken, languages_of(spoken)))
    return Asking(saying, names_and_numbers(spoken), content_stems(frozenset(said)))


def _kinds(spoken: str) -> set[str]:
    """Name what the sentences of a turn do, up to the first that states something."""
    # A first recall reads hundreds of turns, and one statement settles what a turn does.
    kinds = set()
    for sentence in _SENTENCE.finditer(spoken):
        if kind := _read(sentence[0]):
            kinds.add(kind)
        if kind == "states":
            break
    return kinds


def _read(sentence: str) -> str:
    """Name what a sentence does: question, excuse, offer, states, or nothing (empty)."""
    labelled = _behind(_LABEL, sentence)
    body = _without_marks(_behind(_FILLER, labelled))
    ends = sentence.rstrip()
    languages = languages_of(labelled)
    marked = ends.endswith(QUESTION_MARKS) or any(
        language.ends and language.ends.search(ends) for language in languages
    )
    if not _WORD.search(body):
        return "question" if marked and _WORD.search(sentence) else ""
    translated = in_english(labelled, languages)
    # "No" in front is a filler of English only: "No me has dicho nada".
    english = body if translated is labelled else _without_marks(_behind(_FILLER, translated))
    excused = _EXCUSES.match(english) or _EXCUSES_WITHIN.search(english)
    if excused and not _BUT.search(english) and not marked:
        return "excuse"
    if _asks(body, marked=marked, languages=languages) or (
        english is not body and _REQUESTS.match(english)
    ):
        return "question"
    return "offer" if _OFFERS.match(body) else "states"


def _without_marks(sentence: str) -> str:
    return sentence.rstrip().rstrip("?.!\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964 \n")


def _behind(opening: re.Pattern[str], text: str) -> str:
    """Remove a match at the start of a text."""
    found = opening.match(text)
    return text[found.end() :] if found else text


def _asks(body: str, *, marked: bool, languages: Sequence[Language]) -> bool:
    """Tell whether a sentence asks, and no clause of it states something."""
    if _REASON.search(body):
        return False
    opens = _OPENS if marked else _ASKS
    asked = marked
    for place, clause in enumerate(filter(None, map(str.strip, _CLAUSE.split(body)))):
        if marked and _LOST.match(clause):
            continue
        if opens.match(clause) or (place and _OPENS.match(_AND.sub("", clause))):
            asked = True
        elif marked and (
            _ASKED_LAST.search(clause) or any(one.question.match(clause) for one in languages)
        ):
            continue
        elif not _is_phrase(clause) and not (marked and _CONDITION.match(clause)):
            return False
    return asked


def _is_phrase(clause: str) -> bool:
    """Tell whether a clause beside a question has no statement of its own."""
    if not clause.isascii() and not is_german(clause) and _STATED.match(f"{clause} ") is None:
        return True
    short = len(clause.split()) <= _SHORT_PHRASE
    return short and _VERB.search(clause) is None and _PERSON.match(clause) is None


def names_and_numbers(spoken: str) -> frozenset[str]:
    """Collect the stems of numbers, and of names where a capital tells one."""
    return frozenset(stems(" ".join(_numbers_and_names(spoken))))


def _numbers_and_names(spoken: str) -> list[str]:
    found = _NUMBER.findall(spoken)
    if not is_german(spoken):
        found += [match["name"] for match in _NAME.finditer(spoken)]
    return found
