"""Find turns that only acknowledge what was said, such as "ok, thanks"."""

import re
from typing import Final

from ecphoria.text.asking_words import AGREEING, FILLER_PHRASES
from ecphoria.text.languages import LANGUAGES
from ecphoria.text.names import normalised_words
from ecphoria.text.tables import any_of


def _agreeing(*, spaced: bool) -> list[str]:
    return [
        one.calendar["agrees"]
        for one in LANGUAGES.values()
        if "agrees" in one.calendar and one.spaced is spaced
    ]


_SPACED: Final = "|".join((any_of((*FILLER_PHRASES, *AGREEING)), *_agreeing(spaced=True)))
_ACKNOWLEDGES: Final = re.compile(
    rf"(?:[^\w]|\b(?:{_SPACED})\b|{'|'.join(_agreeing(spaced=False))})*+", re.IGNORECASE
)


def only_acknowledges(spoken: str) -> bool:
    """Tell whether a turn has no other words than "ok", "thanks", "sounds good" and the like.

    >>> only_acknowledges("Ok, thanks a lot!"), only_acknowledges("Ok, Friday.")
    (True, False)
    """
    return _ACKNOWLEDGES.fullmatch(spoken) is not None


def asks_nothing(cue: str) -> bool:
    """Tell whether a cue only acknowledges, or has no word of more than one letter or digit.

    >>> asks_nothing("hm"), asks_nothing("x?"), asks_nothing("C++?")
    (True, True, False)
    """
    spoken = normalised_words(cue)
    return only_acknowledges(cue) or all(len(one) == 1 and one.isascii() for one in spoken)
