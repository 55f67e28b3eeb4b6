"""German function words and inflections.

German writes every noun with a capital, so a capital alone does not show a name.
"""

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.text import tokens as english
from ecphoria.text.names import normalised_words


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FUNCTION_WORDS = frozenset(
    _words(
        """
        aber alle als am an auch auf aus außerdem bei beim bevor bin bis bist da dabei dafür
        damals damit danach dann das dass davon dazu dein deine deinem deinen deiner dem den denn
        der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
        einem einen einer eines er es euch euer eure für gegen gestern habe haben hat hatte hatten
        heute hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in ins ist
        ja jede jedem jeden jeder jedes jetzt kein keine keinem keinen keiner man mein meine
        meinem meinen meiner mich mir mit nach nachdem neben nein nicht noch nur ob obwohl oder
        ohne schon sehr seid sein seine seinem seinen seiner seit sich sie sind so sondern später
        um und uns unser unsere unserem unseren unserer unter vom von vor wann war waren warum was
        weil welche welcher wenn wer werden wie wieder wir wird wo wurde wurden während zu zuerst
        zum zur zwischen über
        """
    )
)
"""Words that are capitalised by their place in the sentence and never are a name."""

_TELLS_GERMAN = FUNCTION_WORDS - english.FUNCTION_WORDS
_TELLS_ENGLISH = english.FUNCTION_WORDS - FUNCTION_WORDS
# Used only to check summaries; names and dates are read by English rules
# (docs/explanation/extraction.md).
_SNOWBALL = Stemmer.Stemmer("german")  # holds the interpreter lock throughout


def is_german(text: str) -> bool:
    """Tell whether more words of a text are German function words than English ones."""
    found = normalised_words(text)
    german = sum(word in _TELLS_GERMAN for word in found)
    return german > sum(word in _TELLS_ENGLISH for word in found)


def stems(text: str) -> tuple[str, ...]:
    """Reduce words to a stem shared by their cases and numbers, function words not; in order.

    The stemmer is Snowball's.
    """
    kept = [word for word in normalised_words(text) if word not in FUNCTION_WORDS]
    return tuple(_SNOWBALL.stemWords(kept))
