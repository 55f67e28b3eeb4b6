"""Analyse a cue: who is meant, which terms and dates it states, what the encoder should read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecphoria.language.characters import APOSTROPHES
from ecphoria.language.dates import PartialDate, partial_dates
from ecphoria.language.english import (
    FIRST_PERSON,
    IS_WHEN,
    POLITE_REQUEST,
    ROLE_WORDS,
    SECOND_PERSON_ACTS,
    STOP_WORDS,
)
from ecphoria.language.tokens import stems, words

__all__ = ["CueAnalysis", "analyse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CueAnalysis:
    """What recall needs to know about a cue's text.

    Attributes:
        names: Participants named in the cue, in order of first appearance, as the store writes
            them.
        subject: The one participant named; None if none or several are.
        stems: Terms in order with repeats, without any participant's name.
        stripped: The text to encode: without participants' names, so that vectors of what was
            said, which hold no speaker either, are compared with a like text.
        is_when: The cue asks for a time.
        dates: Calendar dates stated in the cue.
        first_person: The cue speaks of the one who asks: "I", "my", "we".
        asks_listener: The cue asks what the listener said or did: "did you", "your advice".
    """

    names: tuple[str, ...]
    subject: str | None
    stems: tuple[str, ...]
    stripped: str
    is_when: bool
    dates: tuple[PartialDate, ...]
    first_person: bool = False
    asks_listener: bool = False


def analyse(text: str, participants: Sequence[str]) -> CueAnalysis:
    """Analyse a cue against the names of those who speak in the store.

    Names count as whole words in any case, the longest first; a name that is also an everyday
    word (`Will`, `May`) only as written. A cue that is nothing but names is encoded as it is.
    Speakers called `user` or `assistant` are roles: in a cue they are ordinary words.
    """
    participants = [name for name in participants if name.lower() not in ROLE_WORDS]
    pattern = _names_in(text, participants)
    names: tuple[str, ...] = ()
    stripped = " ".join(text.split())
    if pattern:
        names = _as_written(pattern.findall(text), participants)
        without = " ".join(pattern.sub("", text).split())
        stripped = without if words(without) else stripped
    return CueAnalysis(
        names=names,
        subject=names[0] if len(names) == 1 else None,
        stems=_stems_without(text, participants),
        stripped=stripped,
        is_when=IS_WHEN.match(text.lstrip()) is not None,
        dates=partial_dates(text),
        first_person=FIRST_PERSON.search(text) is not None,
        asks_listener=SECOND_PERSON_ACTS.search(POLITE_REQUEST.sub(" ", text)) is not None,
    )


def _names_in(text: str, participants: Sequence[str]) -> re.Pattern[str] | None:
    """Compile the names that may occur; the plain substring test keeps a thousand names cheap."""
    lowered = text.lower()
    present = sorted(
        (name for name in participants if name.strip() and name.lower() in lowered),
        key=len,
        reverse=True,
    )
    if not present:
        return None
    choices = "|".join(
        re.escape(name) if name.lower() in STOP_WORDS else f"(?i:{re.escape(name)})"
        for name in present
    )
    return re.compile(rf"(?<!\w)({choices})(?!\w)(?:[{APOSTROPHES}]s\b)?")


def _as_written(found: Sequence[str], participants: Sequence[str]) -> tuple[str, ...]:
    """Give names back in the store's spelling, once each; of two alike the first."""
    spelling = {name.lower(): name for name in reversed(participants)}
    return tuple(dict.fromkeys(spelling[name.lower()] for name in found))


def _stems_without(text: str, participants: Sequence[str]) -> tuple[str, ...]:
    owned = set(words("\n".join(participants)))
    return stems(" ".join(word for word in words(text) if word not in owned))
