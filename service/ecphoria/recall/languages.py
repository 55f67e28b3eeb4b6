"""A cue in another language than the memories: what it is searched by, and what is told of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ecphoria.models.languages import languages_read, remedy
from ecphoria.recall.ports import TermCount
from ecphoria.records.recall import Hit
from ecphoria.text.cue import CueAnalysis
from ecphoria.text.languages import main_language

_FIRST: Final = 10
"""First hits whose languages are compared with that of the cue."""


def without_function_words(analysis: CueAnalysis, terms: Mapping[str, TermCount]) -> CueAnalysis:
    """Leave function words out of a cue if the store has no word in the cue's language.

    They would match words of the store's language that are written alike, such as `die` or `war`;
    names and numbers are left.
    """
    own = analysis.also.values()
    if not own or not terms.keys().isdisjoint(own):
        return analysis
    rest = tuple(stem for stem in analysis.stems if stem not in analysis.silent)
    return replace(analysis, stems=rest or analysis.stems)


def other_languages(cue: str, hits: Sequence[Hit], model: str) -> tuple[str, ...]:
    """Give the reason, if most of the first hits tell a language and none that of the cue."""
    asked, told = main_language(cue), list[str]()
    if asked is None:
        return ()
    first = hits[:_FIRST]
    for hit in first:
        language = main_language(hit.episode.text)
        # Usually the first hit is in the language of the cue, and no other one is looked at.
        if language == asked:
            return ()
        if language is not None:
            told.append(language)
    if 2 * len(told) <= len(first):
        return ()
    found = sorted(set(told))
    differ = f"the cue is in {asked} and the memories found are in {' and '.join(found)}"
    read = languages_read(model)
    both = [asked, *found]
    if read is None or read.issuperset(both):
        return (f"{differ}: only meaning, names and numbers can match",)
    blind = f"the embedding model {model} does not read both: only names and numbers can match"
    return (f"{differ}, and {blind}; {remedy(both)}",)


def is_unread(cue: str, model: str) -> bool:
    """Tell whether a cue is in a language that the embedding model does not read."""
    read, asked = languages_read(model), main_language(cue)
    return read is not None and asked is not None and asked not in read
