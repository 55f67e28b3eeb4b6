"""German function words and inflections.

German writes every noun with a capital, so a capital alone does not show a name.
"""

from typing import Final

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.text import english
from ecphoria.text.languages import TABLES
from ecphoria.text.names import normalised_words

FUNCTION_WORDS = frozenset(
    (*TABLES["de"]["function"].split(), "gestern", "heute", "immer", "später", "zuerst")
)
"""Words that are capitalised by their place in the sentence and never are a name."""

ASKING_WORDS: Final = tuple(
    """
    heißt heißen heiße heisst hieß nennt nenne nennen weiß weißt wissen wusste wüsste kennst kennt
    kenne kennen erinnerst erinnere erinnern sag sage sagen gesagt erzähl erzähle erzählt verrate
    verraten mitgeteilt erwähnt genannt ahnung informationen angaben daten bekannt leider bitte
    danke frage mal gerne gern bisher eigentlich sicher noch mir dir dich hast hab kannst könntest
    könnt würdest hallo tag möchte würde namens name namen übrigens gerade
    """.split()  # noqa: SIM905
)
"""German words of questions that say nothing about the topic."""

_TELLS_GERMAN = FUNCTION_WORDS - english.FUNCTION_WORDS
_TELLS_ENGLISH = english.FUNCTION_WORDS - FUNCTION_WORDS
# Only summaries are checked by these stems; a recall has its own (docs/explanation/languages.md).
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


MONTHS: Final = tuple("|".join(TABLES["de"]["months"]).split("|"))
WEEKDAYS: Final = tuple("|".join(TABLES["de"]["weekdays"]).replace("s?", "").split("|"))
DATED: Final = rf" (?:{'|'.join(MONTHS).title()})\b"
"""A month behind the dot of a day, as in "am 12. Mai": no sentence ends there."""
