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


def _phrases(name: str) -> tuple[str, ...]:
    return tuple(split_phrases(_TABLE[name].replace("'", _Q)))


FILLER_PHRASES: Final = (*sorted(INTERJECTIONS), *_phrases("fillers"))
AGREEING: Final = _phrases("agreeing")
FILLER = re.compile(rf"(?:[^\w]|\b(?:{any_of(FILLER_PHRASES)})\b)+", re.IGNORECASE)
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

REQUESTS = re.compile(_INDIRECT, re.IGNORECASE)

LABEL = re.compile(
    r"\s*(?:user|human|customer|assistant|agent|ai|bot|system|q|a|me|you|question|answer|nutzer"
    r"|nutzerin|frage|antwort|ich|du)\s*[:>\uff1a]\s*",
    re.IGNORECASE,
)
"""The speaker in front of a line, in a piece of a transcript."""

OPENS = re.compile(
    rf"(?:(?:{_PREPOSITION})\s+)?(?:{_WH}|{_W})\b"
    rf"|(?:{_AUXILIARY})(?:{_Q}?t)?\b"
    rf"|{_INDIRECT}"
    rf"|\w+(?:e|st|t|en|n)\s+(?:ich|du|er|sie|es|wir|ihr|man|mein\w{{0,2}}|dein\w{{0,2}})\b",
    re.IGNORECASE,
)
"""Begins a sentence that asks, where a question mark ends it."""

ASKS = re.compile(
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

STATED = re.compile(
    rf"(?:and|but|because|since|as|so|weil|denn|da|und|aber)?\s*(?:{_SUBJECT}|{_SUBJEKT}"
    rf"|i{_Q}(?:m|ve|d|ll)|we{_Q}(?:re|ve)|it{_Q}s|(?:he|she){_Q}s)\s",
    re.IGNORECASE,
)
"""Begins a clause that states something beside a question."""

VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|can|could|will|would|should|may|might"
    r"|ist|sind|war|waren|bin|hat|habe|hatte|haben|heißt|heisst|wohnt|wohne|mag|kann)\b|\wed\b"
    rf"|\w{_Q}(?:m|ve|re|ll|d)\b",
    re.IGNORECASE,
)

PERSON = re.compile(
    rf"(?:i|you|he|she|we|they|ich|du|er|wir)(?:\s|{_Q})|(?:{_SUBJECT})\s+\w+(?:es|ied)\b",
    re.IGNORECASE,
)

REASON = re.compile(
    r"\b(?:because|weil)\s|\bsince\s+(?:i|we|my|he|she)\b|\bgiven that\b", re.IGNORECASE
)

ASKED_LAST = re.compile(
    rf"\b(?:{_WH}|{_any('wer was wo wann wie welche')})(?:\s+again)?\s*$", re.IGNORECASE
)

LOST = re.compile(
    r"i (?:have )?(?:(?:just |completely |totally |always )?(?:forgot|forgotten|forget)"
    rf"|can(?:{_Q}?t| ?not) (?:recall|remember|think of)"
    rf"|do(?:n{_Q}?t| not) (?:recall|remember|know))\b"
    r"|ich (?:habe|hab|weiß|weiss|erinnere) (?:\w+ ){0,5}?(?:vergessen|nicht(?: mehr)?)\b",
    re.IGNORECASE,
)
"""Says, beside a question, that the asker does not know."""

AND = re.compile(r"(?:and|or|but|und|oder|aber)\s+", re.IGNORECASE)

CONDITION = re.compile(r"(?:if|when|wenn|falls|als)\b", re.IGNORECASE)

_ITEMS = (
    r"(?:information|informations|info|records?|memor(?:y|ies)|details?|data|notes?|idea|clue"
    r"|knowledge|mentions?|access|way (?:of knowing|to know)|context|answers?|entry|entries)"
)

_NEGATED = rf"(?:don{_Q}?t|do not|didn{_Q}?t|did not|never)"

_LATELY = r"(?:(?:yet|ever|even|actually|really|currently|still|also)\s+)?"

EXCUSES = re.compile(
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

EXCUSES_WITHIN = re.compile(
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

REPORTS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|questions?|[ei]nquir\w+|wants? to know"
    r"|wanted to know"
    r"|know|known|unknown|recall|remember|mention\w*|records?|memor(?:y|ies)|information|info"
    r"|answer\w*|forgot\w*|tell|told|unsure|not sure|no idea|(?:come|came) up|find|found"
    r"|gefragt|fragt\w*|wissen|weiß|weiss|wusste|bekannt|unbekannt|erinner\w*|erwähn\w+"
    r"|angabe\w*|antwort\w*|ahnung|vergessen)\b",
    re.IGNORECASE,
)
"""Speaks of asking, searching or knowing."""

OPEN_CUE = re.compile(
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

CHOICE_OR_WHO = re.compile(
    r"\b(?:or|oder)\b|\bwho (?!(?:is|are|was|were|am|my|our|the)\b)"
    r"|\bwer (?!(?:ist|sind|war|waren|mein\w*|unser\w*|der|die|das)\b)",
    re.IGNORECASE,
)

BUT = re.compile(
    r"[,;:\u2014\u2013-]\s*(?:but|however|though|aber|doch|jedoch)\b|\bbut\s+(?:i|you|we|your"
    r"|my)\b",
    re.IGNORECASE,
)
"""Continues an excuse with something that is known."""

OFFERS = re.compile(
    rf"(?:if you|let me|let us|feel free|you can|you may|you could|could you|i can\b|i{_Q}ll"
    rf"|i will"
    rf"|i{_Q}d be|i would be|happy to|just tell|tell me|would you|do you want|one moment|wenn du"
    r"|falls du|lass (?:es )?mich|du kannst|magst du|möchtest du|ich kann|ich merke|ich helfe)\b",
    re.IGNORECASE,
)
"""Offers help; beside an excuse it states nothing."""

UNDECIDED = re.compile(
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
