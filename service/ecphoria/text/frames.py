"""Read the frame of a clause: its subject, the family of its verb, and the words behind.

A frame tells that something is so: "I live in Bath", "my boss is Ann". "Moved to" and "joined"
tell a home and a work as well.
"""

import re
from collections.abc import Sequence
from typing import Final

from ecphoria.text.change_words import (
    CALENDAR,
    CHANGING,
    FILLERS,
    HIRED,
    MASCULINE,
    MOVED,
    NEW,
    OTHERS,
    OWN,
    PAST,
    SELF,
    STATES,
    VERBS,
    WEAK,
)
from ecphoria.text.retold import Duty
from ecphoria.text.tokens import porter, porter_stems, stem_of, word_set, words

Frame = tuple[frozenset[str] | None, str, Sequence[str]]
"""Subject, empty for the speaker and None without a frame; family of the verb; words behind."""
DUTY: Final = "duty"
"""Family of the verbs of a task; the value is a person."""
NO_FRAME: Final[Frame] = (None, "", ())
HOMES: Final = porter_stems("place home flat apartment house wohnung haus zuhause")
_JOBS: Final = porter_stems("job stelle arbeit")
_FROM_TO: Final = re.compile(r"\bvon (?:\w+ ){1,3}?(?:auf|zu) ")
"""Tells of a tool or a firm, not of a home: homes change with "nach"."""
_PROMOTED: Final = re.compile(r"\b(?:promoted to (?P<en>.+)|zu[mr] (?P<de>.+) befordert)")
_REPEATED: Final = word_set("once twice times")
"""Tells that "I see a doctor" is no single event and no feeling."""
_ENDS_PAST: Final = re.compile(r"(?:ed|ten|(?<!ei)(?<!ie)te)$")
"""Endings of past tenses; "ich leite" and "ich miete" are present."""
_ADDRESS: Final = frozenset({"address", "adress"})
_IMPLIED: Final = {"number": frozenset({"phone"}), "email": _ADDRESS, "mail": _ADDRESS}
"""Words that a thing may lack: "my number" is the phone number."""
_MOST_OF_SUBJECT: Final = 5
"""Stems; more are not the subject alone."""
_ADVERBS: Final = word_set(
    "always usually often now just really still also currently both only mostly mainly"
    " normally immer jetzt nun oft meist meistens nur normalerweise"
)
_PLACES: Final = word_set("in at on near by here close next bei an auf im am")
_FEELINGS: Final = word_set(
    "feel enjoy think know hope try keep look guess mean see say hear talk believe need let"
    " agree appreciate understand remember wonder wish bet fühle glaube denke weiß hoffe"
    " finde brauche verstehe sage sehe höre meine"
)
"""Verbs of feeling and thinking: several such statements can be true at the same time."""
_FELT: Final = frozenset(map(porter, (*_FEELINGS, *words("love like live do"))))
_SUBORDINATE: Final = word_set(
    "when since because that if as what where how which while after before until than"
    " whether wenn weil dass ob als wo was wie seit nachdem bevor bis während obwohl"
)
_AT_WORK: Final = word_set("at for as with by bei als fur")
_PASSIVES: Final = word_set("employed angestellt deployed hosted built gebaut based")
_MODALS: Final = word_set(
    "can could will would shall should must may might need don didn won have ve ll d did"
    " kann muss soll will werde wurde mochte hatte ware"
)
_VAGUE: Final = word_set(
    "it one ones that this these those there he she they you a an what who when where which so"
    " because es sie er ein eine was wer du wo wenn weil dass"
)
"""A subject that a clause alone does not tell."""
_PARTICIPLE: Final = re.compile(
    r"\w+ed|been|gone|\w*ge\w+(?:t|en)|\w+iert|(?:be|ver|ent|er|zer)\w+(?:t|en)"
)


def frame_of_duty(duty: Duty) -> Frame:
    """Take the task as the thing, and who does it as its value."""
    who = words(duty.who)
    return named_stems(words(duty.task)) or None, DUTY, ["speaker"] if set(who) <= SELF else who


def frame_of(said: Sequence[str], spoken: str) -> Frame:
    """Read the frame of a clause; "moved to" and "joined" tell a home and a work as well."""
    subject, verb, rest = _frame(said)
    if subject and verb == "be" and not OWN.isdisjoint(said) and rest[:1]:
        if subject <= HOMES and rest[0] in _PLACES:
            return frozenset(), "home", rest
        if subject <= _JOBS and rest[0] in _AT_WORK:
            return frozenset(), "work", rest
    between = _FROM_TO.search(spoken) is not None
    if not between and MOVED.within(said, spoken):
        return subject or _mover(said), "home", said
    if not between and HIRED.within(said, spoken):
        return subject or _mover(said), "work", said
    if (promoted := _PROMOTED.search(spoken)) and not SELF.isdisjoint(said):
        return frozenset(), "be", (promoted["en"] or promoted["de"]).split()
    return subject, verb, rest


def _mover(said: Sequence[str]) -> frozenset[str]:
    """Name the subject of "moved to": nobody's stems if it is the speaker."""
    if not SELF.isdisjoint(said):
        return frozenset()
    at = next((place for place, word in enumerate(said) if porter(word) in CHANGING), 0)
    return named_stems(said[:at], keep=OTHERS) - WEAK


def _frame(said: Sequence[str]) -> Frame:
    """Find the subject, the family of the verb, and the words behind; None without a frame."""
    found = _frame_of_self(said)
    return _frame_of_noun(said) if found is None else found


def _frame_of_self(said: Sequence[str]) -> tuple[frozenset[str] | None, str, Sequence[str]] | None:
    """Read a clause whose subject is the speaker; None if it has another one."""
    at = next((place for place, word in enumerate(said) if word in SELF), None)
    if at is None:
        return None
    before = said[at - 1] if at else ""
    if before in _SUBORDINATE:
        return NO_FRAME
    if before and before not in FILLERS and (before in VERBS or before.endswith("e")):
        # German puts the verb in front: "Im Zug trinke ich Tee".
        return frozenset(), _family(before, said[at + 1 :]), [*said[: at - 1], *said[at + 1 :]]
    rest = list(said[at + 1 :])
    while rest and rest[0] in _ADVERBS:
        rest.pop(0)
    if not rest:
        return NO_FRAME
    verb = _verb_of_self(rest)
    return (frozenset() if verb else None), verb, [*said[:at], *rest[1:]]


def _verb_of_self(rest: Sequence[str]) -> str:
    """Name the verb behind "I"; empty if it is no present state."""
    first, behind = rest[0], [word for word in rest[1:] if word not in _ADVERBS]
    if VERBS.get(first) == "be":
        return _verb_of_being(behind)
    if first in {"have", "habe", "haben"}:
        return "" if _is_perfect(behind) else "have"
    if first in VERBS:
        return _narrowed(VERBS[first], behind)
    light = first in FILLERS and first not in {"take", "do", "go"}
    past = first in PAST or first in _MODALS or bool(_ENDS_PAST.search(first))
    felt = first in _FEELINGS and _REPEATED.isdisjoint(behind)
    return "" if past or light or felt else f"do {porter(first)}"


def _verb_of_being(behind: Sequence[str]) -> str:
    """Name the verb of "I am ...": what one does, "employed" and the like, or "be" itself."""
    following = behind[0] if behind else ""
    if following == "renting" and not _PLACES.isdisjoint(behind):
        return "home"
    if VERBS.get(following, "be") != "be":
        return _narrowed(VERBS[following], behind[1:])
    if following.endswith("ing") and len(following) > len("being"):
        return "" if porter(following) in _FELT else f"do {porter(following)}"
    known = next((VERBS[word] for word in behind if word in _PASSIVES), "be")
    return "" if _is_perfect(behind) and known == "be" else known


def _narrowed(verb: str, behind: Sequence[str]) -> str:
    """Tell apart living in a place and with somebody, driving a car and driving to a place."""
    if verb == "home" and (_PLACES.isdisjoint(behind[:4]) or behind[0] in {*OWN, "with", "mit"}):
        return "do live"
    if verb == "work" and behind[:1] and behind[0] not in _AT_WORK:
        return "do work"
    return "travel" if verb == "drive" and "nach" in behind else verb


def _family(verb: str, behind: Sequence[str]) -> str:
    if verb in PAST or verb in _MODALS:
        return ""
    return _narrowed(VERBS[verb], behind) if verb in VERBS else f"do {porter(verb)}"


def _is_perfect(behind: Sequence[str]) -> bool:
    """Tell whether a participle stands behind "have" or "bin": an event, no state."""
    ends = (behind[0], behind[-1]) if behind else ()
    return any(
        word not in STATES and (word in PAST or _PARTICIPLE.fullmatch(word)) for word in ends
    )


def _frame_of_noun(said: Sequence[str]) -> Frame:
    """Read a clause whose subject is a thing or another person."""
    if said[-1:] == ["sein"] and "wird" in said:
        said = ["ist" if word == "wird" else word for word in said[:-1]]
    at = next((at for at, word in enumerate(said) if _is_verb(said, at)), None)
    if at is None or not _VAGUE.isdisjoint(said[:at]):
        return NO_FRAME
    subject = named_stems(said[:at], keep=OTHERS) - WEAK or named_stems(said[:at])
    for thing, implied in _IMPLIED.items():
        subject -= implied if thing in subject else frozenset()
    rest = said[at + 1 :]
    if not subject or subject <= CALENDAR or len(subject) > _MOST_OF_SUBJECT:
        return NO_FRAME
    if VERBS[said[at]] == "have" and _is_perfect(rest):
        return NO_FRAME
    verb = VERBS[said[at]]
    if verb == "be":
        verb = next((VERBS[word] for word in rest if word in _PASSIVES), "be")
    return subject, "leave" if verb == "drive" else verb, rest


def _is_verb(said: Sequence[str], at: int) -> bool:
    if said[at] == "be":
        return said[at - 1 : at] == ["will"]
    # "My work number" has no verb.
    return at > 0 and said[at] in VERBS and said[at - 1] not in OWN | NEW


def named_stems(said: Sequence[str], keep: frozenset[str] = frozenset()) -> frozenset[str]:
    """Reduce the words that may name a thing or a value to stems; those of `keep` too."""
    return frozenset(
        stem_of(MASCULINE.get(word, word)) for word in said if word in keep or _names(word)
    )


def _names(word: str) -> bool:
    """Tell whether a word may name a thing or a value."""
    return word.isdigit() or (len(word) > 1 and word not in FILLERS)
