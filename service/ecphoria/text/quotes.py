"""Find a quote in the text that it was taken from, and tell whether it may deny something."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from ecphoria.records.forms import composed
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.german import is_german
from ecphoria.text.tokens import MARKS, NEGATIONS, UNSPACED, stems

_LONGEST: Final = 2_000
_MANY: Final = 3
"""Number of words of a quote that supports any sentence."""
_UNSEEN: Final = "\u00ad\u200b-\u200d\u2060\ufeff"
"""Marks without a width, such as soft hyphens and joiners; they may stand inside a word."""
_TOKEN: Final = re.compile(
    rf"(?P<sign>[{UNSPACED}][\u3099\u309a]*|[\u1100-\u11ff]+)"
    r"|(?P<number>\d+(?:[.,:]\d+)+)"
    rf"|(?P<word>(?:[^\W_{UNSPACED}\u1100-\u11ff]|[\u0300-\u036f{MARKS}{_UNSEEN}])+"
    r"(?:\+\+|[+#](?![\w+#]))?)"  # "C" is no quote of "C++" or "C#"
    r"|(?P<dots>\.{2,}|\u2026)"
    r"|(?P<mark>[^\s*_`])"
)
# Blanks, quotation marks and dashes may differ, words and their case may not (decision 0034).
_SPELT: Final = str.maketrans(
    dict.fromkeys('\u2018\u2019\u02bc\u201a"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a', "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
"""Spellings of one mark that models and keyboards exchange."""
_UNSEEN_MARK: Final = re.compile(f"[{_UNSEEN}]")
_OUTER: Final = frozenset(
    "'-.,;:!?()[]{}<>\u2026\u00a1\u00bf\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
)
"""Marks that do not count at the ends of a quote."""
_WORD: Final = re.compile(r"[^\W_]")
_BETWEEN: Final = "\0"


class QuotableText:
    """A text that is read once, for look-ups of many quotes.

    Reading takes time in proportion to the text, and each look-up to the text and the quote.
    """

    def __init__(self, text: str) -> None:
        self._spans: list[tuple[int, int]] = []
        self._starts: list[int] = []
        folded: list[str] = []
        place = 0
        for token, span in _tokens(text):
            self._spans.append(span)
            self._starts.append(place)
            folded.append(token)
            place += len(token) + 1
        self._folded = _joined(folded)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Find a quotation; see `find_quote`."""
        wanted = quoted_tokens(quote)
        if not wanted:
            return None
        at = self._folded.find(_joined(wanted))
        if at < 0:
            return None
        first = bisect_right(self._starts, at) - 1
        return self._spans[first][0], self._spans[first + len(wanted) - 1][1]


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find a quotation whose words stand in a text one after the other, as whole words.

    Case, blanks, marks of emphasis, kinds of quotation marks and dashes, and the way in which a
    letter is composed may differ. So may the marks at the ends of the quote.

    Returns:
        Start and end in characters of `text`, the end exclusive; None if it is not there, or
        has no letter and no digit.

    Example:
        >>> find_quote("Moved to  Oslo!", "In May we moved to Oslo.")
        (10, 23)
    """
    return QuotableText(text).find(quote)


def carries(quote: str, sentence: str) -> bool:
    """Tell whether a quote can support a sentence.

    It must have a content word. That word stands in the sentence too, or the quote has at least
    three words: an answer may be in other words or in another language than the memory.

    Example:
        >>> carries("in", "He lives in Oslo."), carries("to Oslo", "He lives in Oslo.")
        (False, True)
    """
    tokens = [token for token in quoted_tokens(quote) if _WORD.search(token)]
    content = {token for token in tokens if token not in STOP_WORDS}
    if not content:
        return False
    if len(tokens) >= _MANY:
        return True
    there = {token for token, _ in _tokens(sentence)}
    return bool(content & there) or bool({*stems(quote)} & {*stems(sentence)})


def quoted_tokens(quote: str) -> list[str]:
    """Fold the words and marks of a quote, without the marks at its ends; [] if none are left."""
    if len(quote) > _LONGEST:
        return []
    found = [*_tokens(quote)]
    first, last = 0, len(found)
    while first < last and found[last - 1][0] in _OUTER:
        last -= 1
    while first < last and found[first][0] in _OUTER and not _is_sign(found[first:last]):
        first += 1
    kept = [token for token, _ in found[first:last]]
    return kept if any(_WORD.search(token) for token in kept) else []


def _is_sign(found: list[tuple[str, tuple[int, int]]]) -> bool:
    """Tell whether a dash is the sign of the number behind it."""
    (mark, (_, end)), *behind = found[:2]
    return mark == "-" and any(
        start == end and number[0].isdigit() for number, (start, _) in behind
    )


def _joined(tokens: list[str]) -> str:
    return _BETWEEN + "".join(token + _BETWEEN for token in tokens)


def _tokens(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Cut a text into folded words, signs and marks, each with its place."""
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "mark":
            yield token.translate(_SPELT), match.span()
        elif kind == "dots":
            yield "\u2026", match.span()
        elif kind == "sign":
            for sign in composed(token):
                yield sign, match.span()
        elif folded := _folded(token):
            yield folded, match.span()


def _folded(word: str) -> str:
    return (
        word.lower()
        if word.isascii()
        else composed(composed(_UNSEEN_MARK.sub("", word)).casefold())
    )


_DENIES: Final = re.compile(
    rf"\b(?:{NEGATIONS}|\w+nt|former\w*|ex|previous\w*|used to|instead|except"
    r"|until|den(?:y|ies|ied)|quit\w*|stop\w*|end(?:s|ed|ing)?|over|off|out|away|g(?:a|i)ve\w* up"
    r"|given up|left|leav\w+|lost|los(?:e|es|ing)|sold|sell\w*|cancel\w*|resign\w*|retire\w*"
    r"|fired|dropp?\w*|clos\w+|remov\w+|delet\w+|finish\w*|refus\w+|reject\w*|declin\w+"
    r"|fail\w*|lack\w*|miss\w*|broke\w*|split|divorc\w+|separat\w+|died|dead|gone"
    r"|mov(?:e|es|ed|ing)|switch\w*|chang\w+|replac\w+|hat(?:e|es|ed)|dislik\w+|avoid\w*"
    r"|false|wrong"
    r"|mehr|früher\w*|ehemal\w+|statt"
    r"|anstatt|aufgehört|aufgegeben|beendet|gekündigt|verlassen|verkauft|verloren|geschieden"
    r"|getrennt|\w*gezogen|abbestellt|gestorben|tot|vorbei|bis|falsch|hass\w*|weg"
    r"|plus|mai|più)\b",
    re.IGNORECASE,
)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# A fact is denied only if a sentence of its quote has a word of denial, end or change
# (docs/howto/extract.md).
_REACH: Final = 300
"""Characters read on either side of the quote at most."""
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\n]\s")


def may_deny(text: str, start: int, end: int) -> bool:
    """Tell whether the sentences around a quote hold a word of denial, end or change.

    It is false only where English or German is read and no such word stands there.
    """
    first, last = max(0, start - _REACH), min(len(text), end + _REACH)
    before = [match.end() for match in _SENTENCE_END.finditer(text, first, start)]
    after = _SENTENCE_END.search(text, max(start, end - 1), last)
    around = text[before[-1] if before else first : after.end() if after else last]
    if _DENIES.search(around):
        return True
    known = is_german(around) or not STOP_WORDS.isdisjoint(_LETTERS.findall(around.lower()))
    return not known
