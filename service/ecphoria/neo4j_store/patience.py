"""Timeouts of queries that Neo4j has not planned yet."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The timeout of each query and transaction, by its name.

    Neo4j plans a query when it first runs. On a slow machine that takes much longer than the
    query itself, so until its first success a query may take `first_s`.
    """

    usual_s: float
    first_s: float
    _succeeded: set[str] = field(default_factory=set)

    def limit_s(self, name: str) -> float:
        """Give the timeout of a query, in seconds."""
        return self.usual_s if name in self._succeeded else self.longest_s

    @property
    def longest_s(self) -> float:
        """The timeout of a query that has not succeeded yet, in seconds."""
        return max(self.usual_s, self.first_s)

    def knows(self, name: str) -> bool:
        """Tell whether a query has succeeded."""
        return name in self._succeeded

    def succeeded(self, name: str) -> None:
        """Note that a query has succeeded."""
        self._succeeded.add(name)
