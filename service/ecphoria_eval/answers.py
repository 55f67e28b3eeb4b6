"""Score answers in words against the answers of a data set.

Sources: the evaluation scripts of HotpotQA (exact match and F1) and of LoCoMo (F1 over Porter
stems; lists for questions that need several hops; "no answer" for adversarial questions), and
BLEU-1 (Papineni et al. 2002, with one reference at a time).
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from math import exp
from typing import Final

from ecphoria.text.tokens import porter

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_ARTICLES_AND: Final = re.compile(r"\b(?:a|an|the|and)\b")
_MULTI_HOP, _OPEN = "1", "3"


def normalised(text: str) -> list[str]:
    """Give the words as HotpotQA compares them: lower case, no punctuation, no articles."""
    bare = text.lower().translate(_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def stemmed(text: str) -> list[str]:
    """Give the words as LoCoMo compares them: without `and` too, as Porter stems."""
    bare = text.replace(",", "").lower().translate(_PUNCTUATION)
    return [porter(word) for word in _ARTICLES_AND.sub(" ", bare).split()]


def exact_match(said: str, answers: Sequence[str]) -> float:
    """Tell whether the answer has the words of one of the right ones.

    >>> exact_match("The Eiffel Tower.", ["Eiffel tower"])
    1.0
    """
    return float(any(normalised(said) == normalised(answer) for answer in answers))


def f1(said: str, answers: Sequence[str]) -> float:
    """Share of common words, by HotpotQA's rules: the best over the right answers.

    >>> round(f1("in Paris, France", ["Paris"]), 3)
    0.5
    """
    return max((_hotpot_f1(said, answer) for answer in answers), default=0.0)


def locomo_f1(said: str, answers: Sequence[str], category: str) -> float:
    """Share of common stems, by LoCoMo's rules for a category.

    A question of several hops has a list as its answer: each part counts by its best match. Of
    an open question only the part before a semicolon counts.

    >>> locomo_f1("a dog, two cats", ["cats, dogs"], "1") > 0.8
    True
    """
    scores = []
    for answer in answers:
        if category == _MULTI_HOP:
            parts = [part for part in answer.split(",") if part.strip()]
            found = [part for part in said.split(",") if part.strip()]
            best = [max((_f1(stemmed, one, part) for one in found), default=0.0) for part in parts]
            scores.append(sum(best) / len(best) if best else 0.0)
        else:
            wanted = answer.partition(";")[0] if category == _OPEN else answer
            scores.append(_f1(stemmed, said, wanted))
    return max(scores, default=0.0)


def bleu_1(said: str, answers: Sequence[str]) -> float:
    """Precision of words with the penalty for short answers: the best over the right answers.

    >>> bleu_1("seven may", ["seven may 2023"]) < bleu_1("seven may 2023", ["seven may 2023"])
    True
    """
    return max((_bleu_1(normalised(said), normalised(answer)) for answer in answers), default=0.0)


def _bleu_1(said: Sequence[str], answer: Sequence[str]) -> float:
    if not said or not answer:
        return float(not said and not answer)
    common = sum((Counter(said) & Counter(answer)).values())
    brevity = 1.0 if len(said) >= len(answer) else exp(1.0 - len(answer) / len(said))
    return brevity * common / len(said)


def _hotpot_f1(said: str, answer: str) -> float:
    """Compare words; yes, no and no answer count only as a whole."""
    whole = {" ".join(normalised(said)), " ".join(normalised(answer))}
    if len(whole) > 1 and whole & {"yes", "no", "noanswer"}:
        return 0.0
    return _f1(normalised, said, answer)


def _f1(words: Callable[[str], list[str]], said: str, answer: str) -> float:
    one, other = words(said), words(answer)
    common = sum((Counter(one) & Counter(other)).values())
    if not common:
        return 0.0
    precision, recall = common / len(one), common / len(other)
    return 2.0 * precision * recall / (precision + recall)
