"""Effects of feedback: spikes, links, strength.

The first hits of a recall count as used, and as used together. Stimulated memories keep their
charge. If an event is earlier than the stored state, no time has passed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ecphoria.learning.store import Effects, LearningTransaction
from ecphoria.maths.arrays import FloatArray, IntArray
from ecphoria.maths.hebbian import homeostasis, increment, linked
from ecphoria.maths.retention import decay, grow, refresh, retrievability
from ecphoria.maths.spiking import Rest, join, leak, next_tau, printed_tau, stimulate
from ecphoria.maths.spreading import edge_decay
from ecphoria.records.history import (
    DAY_MS,
    RECENT,
    USED_HITS,
    Charge,
    Link,
    Stimulation,
    TauRule,
    Use,
)
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Trace

_SLOWEST = 4.0
"""Largest ratio of tau to the tau of a new memory; that setting may have changed meanwhile."""


async def update_spike_state(
    stimulation: Stimulation, transaction: LearningTransaction
) -> dict[EpisodeId, Charge]:
    """Add the stimuli to the charge of each memory; reset a memory that fires."""
    rest = Rest(
        potential=stimulation.potential,
        current=stimulation.current,
        drives=stimulation.rest_drives,
    )
    found = await transaction.charges(
        sorted(stimulation.stimuli), lambda own: Charge.fresh(own, tau=stimulation.tau)
    )
    if not found:
        return {}
    ids, before = list(found), list(found.values())
    tau = np.array([charge.tau for charge in before])
    if stimulation.tau_rule == TauRule.SPACED:
        tau = np.minimum(_SLOWEST * stimulation.tau, tau)
    passed = np.maximum(0, stimulation.turn - np.array([charge.turn for charge in before]))
    span = stimulation.tau_scale * tau
    level, drive = leak(
        [charge.potential for charge in before],
        [charge.current for charge in before],
        stimulation.turn_scale * passed,
        span,
        rest=rest,
    )
    stimuli = [stimulation.stimuli[episode] for episode in ids]
    push = stimuli / span if stimulation.over_tau else np.array(stimuli)
    potential, current = stimulate(
        level, drive, push, threshold=stimulation.threshold, rest=rest
    ).after(rest)
    gap = np.maximum(0, stimulation.turn - np.array([charge.turns[-1] for charge in before]))
    slower = _slower(tau, gap, stimulation)
    after = {}
    for place, episode in enumerate(ids):
        turns, strengths = join(
            before[place].turns,
            before[place].strengths,
            turn=stimulation.turn,
            strength=stimuli[place],
        )
        after[episode] = replace(
            before[place],
            turns=tuple(turns.tolist()),
            strengths=tuple(strengths.tolist()),
            tau=float(slower[place]),
            potential=float(potential[place]),
            current=float(current[place]),
            turn=max(stimulation.turn, before[place].turn),
        )
    return after


def _slower(tau: FloatArray, gap: IntArray, stimulation: Stimulation) -> FloatArray:
    """Update the time constants by the rule of the recall."""
    if stimulation.tau_rule == TauRule.FROZEN:
        return tau
    if stimulation.tau_rule == TauRule.PRINTED:
        return printed_tau(tau, stimulation.turn_scale * gap)
    return next_tau(tau, gap, start=stimulation.tau)


@dataclass(frozen=True, slots=True, kw_only=True)
class Participation:
    """The share of a memory in a recall.

    Attributes:
        share: x in [0, 1], its score over the best one times its retrievability before.
        recalls: n, the number of its recalls, this one included.
    """

    share: float
    recalls: int


def update_links(
    links: Sequence[Link], parts: Mapping[EpisodeId, Participation], *, total: int, at_ms: int
) -> tuple[Link, ...]:
    """Count each pair once more, strengthen pairs that are recalled often, return changed links.

    `links` are the learned links of the recalled memories, and the counted ones between them;
    `parts` the recalled memories with their shares; `total` the tenant's recalls with this one.
    Links that are scaled back to the budget of a memory are among the changed ones.
    """
    before = {(link.one, link.other): link for link in links}
    pairs = [
        before.get((one, other)) or Link(one=one, other=other)
        for one, other in combinations(sorted(parts), 2)
    ]
    if not pairs:
        return ()
    after = before | {
        (link.one, link.other): link
        for link in _strengthened(pairs, parts, total=total, at_ms=at_ms)
    }
    scaled = _within_budget(list(after.values()))
    return tuple(link for link in scaled if link != before.get((link.one, link.other)))


def _strengthened(
    pairs: Sequence[Link], parts: Mapping[EpisodeId, Participation], *, total: int, at_ms: int
) -> list[Link]:
    """Count pairs; strengthen pairs recalled three times, and twice as often as by chance.

    A link's value belongs to an instant, so a link that is only counted decays to now.
    """
    one, other = [parts[link.one] for link in pairs], [parts[link.other] for link in pairs]
    joint = [link.coactivations + 1 for link in pairs]
    age = [0.0 if link.used_ms is None else (at_ms - link.used_ms) / DAY_MS for link in pairs]
    now = np.array([link.learned for link in pairs]) * edge_decay(age)
    grown = increment([part.share for part in one], [part.share for part in other], now)
    often = linked(
        joint, [part.recalls for part in one], [part.recalls for part in other], total=total
    )
    learned = np.where(often > 0.0, grown, now).tolist()
    return [
        replace(
            link,
            learned=learned[place],
            coactivations=joint[place],
            used_ms=max(at_ms, link.used_ms or at_ms),
        )
        for place, link in enumerate(pairs)
    ]


def _within_budget(links: Sequence[Link]) -> list[Link]:
    """Scale back the links of a memory that exceeds its budget: 5 in all (docs/howto/learning.md).

    Only some links of the memories at the other ends are known. None of these links grew, so these
    memories stay within their budgets.
    """
    index: dict[EpisodeId, int] = {}
    for link in links:
        for end in (link.one, link.other):
            index.setdefault(end, len(index))
    learned = homeostasis(
        [index[link.one] for link in links],
        [index[link.other] for link in links],
        [link.learned for link in links],
        size=len(index),
    )
    return [
        replace(link, learned=value) for link, value in zip(links, learned.tolist(), strict=True)
    ]


async def effects_of(trace: Trace, transaction: LearningTransaction) -> Effects:
    """Compute the effects of a recall."""
    effects = Effects()
    if trace.stimulation is not None:
        effects = replace(
            effects, charges=await update_spike_state(trace.stimulation, transaction)
        )
    first = sorted(trace.hits, key=lambda hit: hit.rank)[:USED_HITS]
    before = await transaction.uses([hit.episode for hit in first])
    scores = {hit.episode: hit.score for hit in first if hit.episode in before}
    if not scores:
        return effects
    at_ms = round(trace.created_at.timestamp() * 1e3)
    ids = list(scores)
    states = [before[episode] for episode in ids]
    after = {
        episode: replace(use, recalls=use.recalls + 1)
        for episode, use in zip(ids, used(states, at_ms), strict=True)
    }
    share = participation(list(scores.values()), recallable(states, at_ms))
    links = update_links(
        await transaction.links(ids),
        {
            episode: Participation(share=float(share[place]), recalls=after[episode].recalls)
            for place, episode in enumerate(ids)
        },
        total=transaction.recalls + 1,
        at_ms=at_ms,
    )
    return replace(effects, recalls=1, uses=after, links=links)


def used(before: Sequence[Use], at_ms: int) -> list[Use]:
    """Count a use: update base level, stability and chain, each from its own instant."""
    longer = grow([use.stability for use in before], recallable(before, at_ms))
    working, lasting = decay(
        [use.working for use in before],
        [use.lasting for use in before],
        [(at_ms - use.chain_ms) / DAY_MS for use in before],
    )
    working = refresh(working)
    return [
        replace(
            use,
            recent_ms=tuple(sorted((*use.recent_ms, at_ms))[-RECENT:]),
            count=use.count + 1,
            first_ms=min(use.first_ms, at_ms),
            stability=float(longer[place]),
            stability_ms=max(use.stability_ms, at_ms),
            working=float(working[place]),
            lasting=float(lasting[place]),
            chain_ms=max(use.chain_ms, at_ms),
        )
        for place, use in enumerate(before)
    ]


def recallable(uses: Sequence[Use], at_ms: int) -> FloatArray:
    """Compute the retrievability R of memories at an instant."""
    return retrievability(
        [(at_ms - one.stability_ms) / DAY_MS for one in uses], [one.stability for one in uses]
    )


def participation(scores: Sequence[float], recalled: FloatArray) -> FloatArray:
    """Compute the shares: `x = score / best score * R`, in [0, 1]; 0 if the best is 0.

    Scores below 0 are logarithms, such as ACT-R's activation, so the ratio of two is e to the
    power of their difference.
    """
    best = max(scores)
    if best < 0.0:
        return np.exp(np.array(scores) - best) * recalled
    level = np.maximum(0.0, scores)
    return level / best * recalled if best > 0.0 else np.zeros_like(recalled)
