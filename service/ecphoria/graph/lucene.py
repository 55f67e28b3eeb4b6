"""Write queries for the text index, whose terms are our own stems."""

import re
from collections.abc import Sequence

from ecphoria.model.ids import TenantId

__all__ = ["all_of_any", "any_of"]

_SPECIAL = re.compile(r"([+\-!(){}\[\]^\"~*?:\\/&|<>=])")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def any_of(tenant: TenantId, stems: Sequence[str]) -> str:
    """Ask for a tenant's items with at least one of the stems; the tenant adds no score."""
    return f"{_only(tenant)} +({' '.join(_term(stem) for stem in stems)})"


def all_of_any(tenant: TenantId, phrases: Sequence[Sequence[str]]) -> str:
    """Ask for a tenant's items with all stems of at least one of the phrases."""
    groups = (f"({' '.join('+' + _term(stem) for stem in phrase)})" for phrase in phrases)
    return f"{_only(tenant)} +({' '.join(groups)})"


def _only(tenant: TenantId) -> str:
    return f"+tenant:{tenant}^0"


def _term(stem: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", stem)
    return f"terms:\\{escaped}" if escaped in _OPERATORS else f"terms:{escaped}"
