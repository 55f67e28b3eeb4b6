"""Lists of English words; `english.toml` has the words and tells what each list is for."""

from typing import Final

from ecphoria.text.tables import read_table

_TABLE: Final = read_table("english")


def _words(name: str) -> frozenset[str]:
    return frozenset(_TABLE[name].split())


STOP_WORDS: Final = _words("stop_words")
FUNCTION_WORDS: Final = _words("function_words")
INTERJECTIONS: Final = _words("interjections")
INTENSIFIERS: Final = _words("intensifiers")
DENIALS: Final = _words("denials")
NAMELESS_WORDS: Final = INTERJECTIONS | _words("nameless_words")
CONTRACTED: Final = _words("contracted")
LIGHT_WORDS: Final = _words("light_words")
CONNECTORS: Final = _words("connectors")
NUMBER_UNITS: Final = _words("number_units")
HONORIFICS: Final = _words("honorifics")
ORGANISATION_WORDS: Final = _words("organisation_words")
PLACE_WORDS: Final = _words("place_words")
MONTHS: Final = tuple(_TABLE["months"].split())
WEEKDAYS: Final = tuple(_TABLE["weekdays"].split())
