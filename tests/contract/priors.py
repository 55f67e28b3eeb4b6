"""A graph small enough to work out the priors by hand."""

from datetime import UTC, datetime
from math import exp
from typing import Any

from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.changes import Changes
from ecphoria.records.ids import TenantId, fresh_id
from tests.contract.memories import appended, follows, mention, named, turn


def the_worked_example(tenant: TenantId) -> Changes:
    """Turns 1 and 2 a month apart, a concept that 1, 2 and 3 mention, and turn 4 alone."""
    return appended(
        *(turn(tenant, number, session=f"s{number}", ordinal=0) for number in range(1, 5)),
        next_added=(follows(tenant, 1, 2, exp(-0.3)),),
        names=(named("bridge", candidates=3),),
        concepts_made=["bridge"],
        mentions_added=(
            mention(tenant, 1, "bridge", 0.64),
            mention(tenant, 2, "bridge", 0.48),
            mention(tenant, 3, "bridge", 0.56),
        ),
    )


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=datetime.now(UTC), **how)
