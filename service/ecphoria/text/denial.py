"""Tell whether a sentence can say that something is not so, or no longer.

The rules know English and German. A sentence in another language may always deny.
"""

import re
from typing import Final

from ecphoria.text.german import is_german
from ecphoria.text.tokens import APOSTROPHES, STOP_WORDS

_DENIES: Final = re.compile(
    rf"\b(?:no|not|nor|never|neither|none|nobody|nothing|nowhere|without|cannot"
    rf"|\w+n[{APOSTROPHES}]?t|longer|anymore|former\w*|ex|previous\w*|used to|instead|except"
    r"|until|den(?:y|ies|ied)|quit\w*|stop\w*|end(?:s|ed|ing)?|over|off|out|away|g(?:a|i)ve\w* up"
    r"|given up|left|leav\w+|lost|los(?:e|es|ing)|sold|sell\w*|cancel\w*|resign\w*|retire\w*"
    r"|fired|dropp?\w*|clos\w+|remov\w+|delet\w+|finish\w*|refus\w+|reject\w*|declin\w+"
    r"|fail\w*|lack\w*|miss\w*|broke\w*|split|divorc\w+|separat\w+|died|dead|gone"
    r"|mov(?:e|es|ed|ing)|switch\w*|chang\w+|replac\w+|hat(?:e|es|ed)|dislik\w+|avoid\w*"
    r"|false|wrong"
    r"|nicht|nichts|nie|niemals|niemand|kein\w*|weder|ohne|mehr|früher\w*|ehemal\w+|statt"
    r"|anstatt|aufgehört|aufgegeben|beendet|gekündigt|verlassen|verkauft|verloren|geschieden"
    r"|getrennt|\w*gezogen|abbestellt|gestorben|tot|vorbei|bis|falsch|hass\w*|weg"
    r"|non|ne|pas|plus|jamais|nunca|jamás|não|mai|più|niet|geen|inte|ikke|не|нет)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")
# A fact is denied only if a sentence of its quote has a word of denial, end or change
# (docs/explanation/extraction.md).
_REACH: Final = 300
"""Characters read on either side of the quote at most."""
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\n]\s")


def may_deny(text: str, start: int, end: int) -> bool:
    """Tell whether the sentences around a quote hold a word of denial, end or change.

    Args:
        text: The whole text.
        start: Where the quote begins, in characters.
        end: Where it ends.

    Returns:
        False only where English or German is read and no such word stands there.
    """
    first, last = max(0, start - _REACH), min(len(text), end + _REACH)
    before = [match.end() for match in _SENTENCE_END.finditer(text, first, start)]
    after = _SENTENCE_END.search(text, max(start, end - 1), last)
    around = text[before[-1] if before else first : after.end() if after else last]
    if _DENIES.search(around):
        return True
    known = is_german(around) or not STOP_WORDS.isdisjoint(_WORD.findall(around.lower()))
    return not known
