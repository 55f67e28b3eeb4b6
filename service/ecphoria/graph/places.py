"""Where turns stand, remembered for as long as a tenant's change counter stays the same."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from ecphoria.ports.recall import Window

__all__ = ["Place", "PlaceBook"]

K = TypeVar("K")


class Place(NamedTuple):
    """What an episode's neighbours decide of it; sorts as columns are ordered.

    `session` is empty and `ordinal` -1 for documents and notes.
    """

    session: str
    ordinal: int
    turn: int
    id: str
    near_length: float
    context_norm: float


class PlaceBook:
    """One tenant's places at one state of its graph; knows also where nobody stands."""

    def __init__(self) -> None:
        self._by_id: dict[str, Place | None] = {}
        self._by_session: dict[str, dict[int, Place | None]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def unknown(
        self, ids: Sequence[str], windows: Sequence[Window]
    ) -> tuple[list[str], list[Window]]:
        """Say what of this must be read: ids, and runs of ordinals."""
        wanted = [one for one in ids if one not in self._by_id]
        return wanted, [run for window in windows for run in self._runs(window)]

    def learn(
        self, ids: Sequence[str], windows: Sequence[Window], places: Sequence[Place]
    ) -> None:
        """Note what was read of these ids and windows; what is not among it is not there."""
        for one in ids:
            self._note(self._by_id, one, None)
        for window in windows:
            session = self._by_session.setdefault(window.session, {})
            for ordinal in range(window.first, window.last + 1):
                self._note(session, ordinal, None)
        wanted = set(ids)
        for place in places:
            if place.id in wanted:
                self._by_id[place.id] = place
            if place.session:
                session = self._by_session.setdefault(place.session, {})
                self._note(session, place.ordinal, place)
                session[place.ordinal] = place

    def read(self, ids: Sequence[str], windows: Sequence[Window]) -> list[Place]:
        """List who stands there, each once, by session, ordinal and turn."""
        found = [self._by_id[one] for one in ids]
        for window in windows:
            session = self._by_session[window.session]
            found += [session[at] for at in range(window.first, window.last + 1)]
        once = {place.id: place for place in found if place is not None}
        return sorted(once.values())

    def _runs(self, window: Window) -> Iterator[Window]:
        known = self._by_session.get(window.session, {})
        first: int | None = None
        for ordinal in range(window.first, window.last + 2):
            missing = ordinal <= window.last and ordinal not in known
            if missing and first is None:
                first = ordinal
            elif not missing and first is not None:
                yield Window(session=window.session, first=first, last=ordinal - 1)
                first = None

    def _note(self, known: dict[K, Place | None], key: K, place: Place | None) -> None:
        if key not in known:
            known[key] = place
            self._size += 1
