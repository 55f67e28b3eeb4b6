"""Names and facts that came with an item, brought to the spelling the store knows names by."""

from dataclasses import dataclass
from datetime import datetime

from ecphoria.extraction.records import Candidate, Claim, Triple
from ecphoria.language.names import is_name, name_kind, normalise
from ecphoria.model.episode import Extracted

__all__ = ["Stated", "read_stated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What of it can be stored, each once, in the order given."""

    names: tuple[Candidate, ...] = ()
    claims: tuple[Claim, ...] = ()


def read_stated(given: Extracted | None, title: str) -> Stated:
    """Keep the names that can name a concept, and the facts that have one at an end.

    A date, a bare number or a mark is no name, but may be the other end of a fact. The item's
    own title, normalised, is none of the names it states: it is about that.
    """
    if given is None:
        return Stated()
    names: dict[str, Candidate] = {}
    for surface in given.names:
        _add(names, surface)
    claims: dict[tuple[Triple, datetime | None, datetime | None], Claim] = {}
    for fact in given.facts:
        ends = normalise(fact.subject), normalise(fact.object)
        if all(ends) and any(map(is_name, ends)):
            claim = Claim(
                fact=Triple(
                    subject=ends[0],
                    predicate=" ".join(fact.predicate.split()),
                    object=ends[1],
                    qualifier=normalise(fact.qualifier),
                    negated=fact.negated,
                ),
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                reliability=fact.reliability,
            )
            claims.setdefault((claim.fact, claim.valid_from, claim.valid_to), claim)
            _add(names, fact.subject)
            _add(names, fact.object)
    names.pop(title, None)
    return Stated(names=tuple(names.values()), claims=tuple(claims.values()))


def _add(names: dict[str, Candidate], surface: str) -> None:
    name = normalise(surface)
    if is_name(name):
        entry = Candidate(name=name, surface=surface.strip(), kind=name_kind(surface))
        names.setdefault(name, entry)
