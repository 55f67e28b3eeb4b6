"""The classes of predicates: what is taken to have one value at a time, or one ever.

Unknown predicates are `multi`, so that nothing is lost by ignorance. A tenant may give any
predicate another class; these are the defaults.
"""

from collections.abc import Mapping

from ecphoria.model.fact import PredicateClass

__all__ = ["DEFAULTS", "class_of", "relation"]

_FUNCTIONAL = """
    lives in, live in, lives at, resides in, is based in, home is, works as, works at, works for,
    is employed by, job is, job title is, studies at, partner, partner is, is married to,
    is engaged to, spouse is, relationship status is, status, status is, phone, phone is,
    phone number is, address, address is, email, email is, is located in, is owned by, owner is,
    is led by, ceo is, manager is, reports to, capital is, population is, price is, age is,
    weighs, version is, favourite colour is, favorite color is
"""
_IMMUTABLE = """
    born on, born in, was born on, was born in, birthplace, birthplace is, date of birth is,
    birthday is, native name, native name is, died on, died in, was founded in, was founded by
"""


def relation(predicate: str) -> str:
    """Write a predicate the one way its spellings share: lower case, single blanks.

    >>> relation("Lives_In")
    'lives in'
    """
    return " ".join(predicate.lower().replace("_", " ").split())


def _listed(text: str, kind: PredicateClass) -> dict[str, PredicateClass]:
    return {" ".join(name.split()): kind for name in text.split(",")}


DEFAULTS: Mapping[str, PredicateClass] = {
    **_listed(_FUNCTIONAL, PredicateClass.FUNCTIONAL),
    **_listed(_IMMUTABLE, PredicateClass.IMMUTABLE),
}


def class_of(name: str, own: Mapping[str, PredicateClass]) -> PredicateClass:
    """Tell a relation's class: the tenant's own, else the default, else `multi`."""
    return own.get(name) or DEFAULTS.get(name, PredicateClass.MULTI)
