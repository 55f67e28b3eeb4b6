"""Who asks, and whom a cue is about: "I" and "you" become a speaker or a role."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import InvalidInput
from ecphoria.recall.ports import Columns
from ecphoria.records.episode import ROLES
from ecphoria.text.cue import CueAnalysis

_SPOKEN_AS = {
    "user": frozenset(("user", "human")),
    "assistant": frozenset(("assistant", "ai", "bot", "model")),
    "tool": frozenset(("tool",)),
    "system": frozenset(("system",)),
}
"""Names of speakers that stand for a role where an episode has none."""

_OTHER_ROLE = {"user": "assistant", "assistant": "user"}
_NAMED_IN_ERROR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A speaker, or everybody in a role; exactly one of the two is set."""

    speaker: str | None = None
    role: str | None = None

    def speaks(self, columns: Columns) -> NDArray[np.bool_]:
        """Flag the rows this subject said, bool [n]; a role counts before a speaker's name."""
        if self.role is None:
            found = [speaker == self.speaker for speaker in columns.speaker]
        else:
            said = list(zip(columns.role, columns.speaker, strict=True))
            alike = _SPOKEN_AS[self.role]
            # A store has few speakers and many rows.
            own = {
                (role, speaker)
                for role, speaker in set(said)
                if (role == self.role if role else (speaker or "").lower() in alike)
            }
            found = [one in own for one in said]
        return np.array(found, dtype=np.bool_)

    @property
    def label(self) -> str:
        """The speaker's or the role's name."""
        return self.speaker or self.role or ""

    @property
    def name(self) -> str:
        """The speaker's or the role's name, to read."""
        return self.speaker or f"the {self.role}"


def subjects_of(
    analysis: CueAnalysis, participants: Sequence[str], asker: str | None
) -> tuple[Subject, ...]:
    """List everybody whom a cue is about: the named, the asker for "I", the listener for "you".

    Args:
        analysis: Of the cue.
        participants: The store's speakers.
        asker: A speaker's name in any case, or a role; None for the role `user`.

    Raises:
        InvalidInput: The asker is no role and never spoke; the message names who did.
    """
    found = [Subject(speaker=name) for name in analysis.names]
    self_ = _asker(participants, asker)
    if analysis.first_person:
        found.append(self_)
    if analysis.asks_listener:
        other = _listener(self_, participants)
        found += [] if other is None else [other]
    return tuple(dict.fromkeys(found))


def find_subject(subjects: Sequence[Subject], columns: Columns) -> Subject | None:
    """Choose the one subject who speaks in these rows; None if nobody or several do.

    A cue about two people says of no memory whose it should be. Somebody who speaks in none of
    the candidates is no subject: a store without roles has no `user`.
    """
    present = [one for one in subjects if one.speaks(columns).any()]
    return present[0] if len(present) == 1 else None


def _asker(participants: Sequence[str], asker: str | None) -> Subject:
    if asker is None:
        return Subject(role="user")
    wanted = asker.strip().lower()
    for name in participants:
        if name.lower() == wanted and wanted not in ROLES:
            return Subject(speaker=name)
    if wanted in ROLES:
        return Subject(role=wanted)
    spoke = ", ".join(f"`{name}`" for name in participants[:_NAMED_IN_ERROR])
    more = len(participants) - _NAMED_IN_ERROR
    spoke += f" and {more} more" if more > 0 else ""
    raise InvalidInput(
        f"the asker never spoke here; send one of {spoke or 'nobody: no episode has a speaker'}, "
        f"or a role ({', '.join(ROLES)})",
        field="asker",
    )


def _listener(asker: Subject, participants: Sequence[str]) -> Subject | None:
    """Find the other one: the other role, or the second of two speakers."""
    if asker.role is not None:
        other = _OTHER_ROLE.get(asker.role)
        return None if other is None else Subject(role=other)
    others = [name for name in participants if name != asker.speaker]
    return Subject(speaker=others[0]) if len(others) == 1 else None
