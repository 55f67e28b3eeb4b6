"""Write queries for the text index, whose terms are our own stems."""

import re
from collections.abc import Sequence

from ecphoria.model.ids import TenantId

__all__ = ["all_of", "any_of", "any_phrase"]

_SPECIAL = re.compile(r"([+\-!(){}\[\]^\"~*?:\\/&|<>=])")
_PHRASE = 'words:"{}"'
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def all_of(tenant: TenantId) -> str:
    """Ask for everything a tenant has in the index."""
    return _only(tenant)


def any_of(tenant: TenantId, stems: Sequence[str]) -> str:
    """Ask for a tenant's items with at least one of the stems; the tenant adds no score."""
    return f"{_only(tenant)} +({' '.join(_term(stem) for stem in stems)})"


def any_phrase(tenant: TenantId, names: Sequence[str]) -> str:
    """Ask for a tenant's items whose words hold one of the names, side by side.

    Names are normalised: letters, digits and blanks, so nothing in them is syntax.
    """
    return f"{_only(tenant)} +({' '.join(map(_PHRASE.format, names))})"


def _only(tenant: TenantId) -> str:
    return f"+tenant:{tenant}^0"


def _term(stem: str) -> str:
    escaped = _escaped(stem)
    return f"terms:\\{escaped}" if escaped in _OPERATORS else f"terms:{escaped}"


def _escaped(token: str) -> str:
    return _SPECIAL.sub(r"\\\1", token)
