"""Bodies of recall."""

from pydantic import Field

from ecphoria.records.asked import Name
from ecphoria.records.start_context import START_BUDGET
from ecphoria.records.strategy import StrategyInfo
from ecphoria.wire.base import Listing, Parameters


class StartQuery(Parameters):
    """What a session starts with."""

    token_budget: int = Field(default=START_BUDGET, ge=1, le=1_000_000)
    """Greatest size of the context, in tokens."""
    session: Name | None = None
    """The session whose latest turns are shown; the last one if absent."""
    speaker: Name | None = None
    """Only sessions in which this speaker, in any case, took part lately, and facts and statements
    of this speaker."""


class StrategyList(Listing[StrategyInfo]):
    """Strategies, the default first."""
