"""The words by which English and German cues and turns tell who is meant and what is asked."""

import re

from ecphoria.text.english import MONTHS, WEEKDAYS
from ecphoria.text.tokens import APOSTROPHES

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
