"""The default strategy: text score with words spread over NEXT, then a walk over concepts.

Its weights and constants were measured (see the docs' page on recall); a part that a store does
not support (no sessions, no speakers, no titles) is 0 there by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from ecphoria.maths.arrays import FloatArray, IntArray
from ecphoria.maths.concept_channel import (
    ChannelOptions,
    ChannelState,
    boost,
    fact_cue,
    start,
    wake_concepts,
    wake_items,
    wake_related,
)
from ecphoria.maths.concept_channel import path as hops_to
from ecphoria.maths.fusion import (
    PARTS,
    TextSignals,
    TextWeights,
    adapted,
    bounds_of,
    rank,
    recipe_score,
)
from ecphoria.recall.frame import Frame
from ecphoria.recall.pipeline import Path, Pool, Ranked, Search, TextScore, parameter
from ecphoria.recall.ports import ConceptArcs, ConceptEdges, FoundConcept, NearFacts
from ecphoria.recall.scope import RecallStore
from ecphoria.recall.walk import Flow, Walk, next_wave, seed_records, statement_wave, text_path
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import PathStep
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import SeedRecord, Stream
from ecphoria.text.asking import Saying

_TINY = 1e-12
"""Stands in for a largest score of 0, by which nothing can be divided."""

_ASKS: Final = PARTS.index("isq")
# .05 and .1 measured alike; 0 costs chats .5 MRR, without the rule coding chats with stored
# questions lose 6 MRR.
_QUESTION_MARGIN: Final = 0.05
"""Score by which a question may stand above its reply."""

# A short reply tells a fact; a long one works on what the question states, and then the question
# is evidence (decisions 0086 and 0100).
_BRIEF_MARGIN: Final = -1.0
"""The same where the reply has at most 600 characters: the question stands far below it."""


_WHOLE: Final = 2.0
"""Share that the words of a document of prose gain if it has the whole cue (decision 0111)."""


# To read takes about 30 ms; larger stores need this time for the recall itself (decision 0119).
_SMALL: Final = 1_000
"""Most memories of a store in which the reader decides between close scores."""


@dataclass(slots=True, kw_only=True)
class ConceptWalk(Walk):
    """A walk over concepts; episodes and concepts share one numbering.

    Attributes:
        state: Energies and steps so far.
        degrees: Of a concept, the episodes that mention it and those that are about it.
        facts: The nearest fact with a concept at an end, and the edge between them; by the
            concept, if the cue does not name it.
    """

    state: ChannelState = field(default_factory=lambda: start([], []))
    degrees: dict[int, tuple[int, int]] = field(default_factory=dict)
    facts: dict[int, tuple[PathStep, str]] = field(default_factory=dict)

    def received(self) -> dict[EpisodeId, float]:
        """List the energy that reached each episode; a seed's own energy is not in it."""
        return {
            EpisodeId(self.ids[node]): energy
            for node, energy in enumerate(self.state.act().tolist())
            if energy > 0.0
        }

    def edge(self, tail: int, head: int) -> str:
        """Name the type of an edge between two concepts, or from a concept to an episode."""
        return self.joins.get((tail, head), "ABOUT")

    def path(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Name the concepts and episodes energy came through; empty if it did not reach."""
        if episode not in self.index:
            return ()
        steps: list[PathStep] = []
        for hop in hops_to(self.state.waves, self.index[episode]):
            first, edge = hop.concept if hop.through < 0 else hop.through, "MENTIONS"
            if hop.source >= 0 and not steps:
                steps.append(self.step(hop.source, Stream.RANK, 1.0))
            elif hop.source < 0 and first in self.facts:
                fact, edge = self.facts[first]
                steps.append(fact)
            elif hop.source < 0:
                edge = Stream.NAME
            steps.append(self.step(first, edge, hop.amount))
            if hop.through >= 0:
                join = self.edge(hop.through, hop.concept)
                steps.append(self.step(hop.concept, join, hop.amount))
            steps.append(self.step(hop.item, self.edge(hop.concept, hop.item), hop.amount))
        return tuple(steps)

    def enter(self, named: Sequence[FoundConcept], facts: NearFacts | None) -> FloatArray:
        """Number the concepts the cue leads to, and share its energy out, [n]."""
        at = self._meet(
            [concept.id for concept in named],
            [concept.name for concept in named],
            [(concept.mentions, concept.abouts) for concept in named],
        )
        energy = np.zeros(len(self.ids)) if facts is None else self._enter_by(facts, at)
        energy[at] += 1.0 / max(1, at.size)
        self.seeds = self._fact_seeds(energy)
        return energy

    def wake_concepts(self, edges: ConceptEdges) -> None:
        """Let the strongest episodes send to their concepts."""
        item, concept = self._see(edges)
        size = self.state.items.size
        self.state = wake_concepts(
            self.state,
            item=item,
            concept=concept,
            is_title=edges.is_about,
            item_mentions=np.bincount(item[~edges.is_about], minlength=size).astype(np.float64),
            item_titles=np.bincount(item[edges.is_about], minlength=size).astype(np.float64),
            concept_mentions=self._degrees()[:, 0],
        )

    def wake_related(self, arcs: ConceptArcs) -> None:
        """Let the strongest concepts send to those that facts or names join to them."""
        tail = np.array([self.index[concept] for concept in arcs.tail], dtype=np.int64)
        head = self._meet(arcs.head, arcs.label, zip(arcs.mentions, arcs.abouts, strict=True))
        for one, other, edge in zip(tail.tolist(), head.tolist(), arcs.edge, strict=True):
            self.joins.setdefault((one, other), edge)
        self.state = wake_related(
            self.state, tail=tail, head=head, weight=arcs.weight, size=len(self.ids)
        )

    def wake_items(self, edges: ConceptEdges) -> None:
        """Let the strongest concepts send to their episodes, which ends the step."""
        item, concept = self._see(edges)
        degrees = self._degrees()[: self.state.concepts.size]
        self.state = wake_items(
            self.state,
            concept=concept,
            item=item,
            is_about=edges.is_about,
            concept_about=degrees[:, 1],
            concept_mentions=degrees[:, 0],
            size=len(self.ids),
        )

    def end(self) -> None:
        """Describe each step by the strongest arc into every episode it woke."""
        for wave in self.state.waves:
            head = np.flatnonzero(wave.by_concept >= 0)
            flow = Flow(
                tail=wave.by_concept[head],
                head=head,
                weight=np.ones(head.size),
                energy=wave.share[head],
            )
            active = int((wave.received > 0.0).sum())
            self.wave(flow, active=active, energy=float(wave.received.sum()))

    def _see(self, edges: ConceptEdges) -> tuple[IntArray, IntArray]:
        degrees = zip(edges.mentions, edges.abouts, strict=True)
        concept = self._meet(edges.concept, edges.label, degrees)
        item = [self.add(episode, "episode") for episode in edges.episode]
        return np.array(item, dtype=np.int64), concept

    def _meet(
        self, concepts: Sequence[str], labels: Sequence[str], degrees: Iterable[tuple[int, int]]
    ) -> IntArray:
        """Number concepts and learn about them."""
        nodes = [
            self.add(concept, "concept", label)
            for concept, label in zip(concepts, labels, strict=True)
        ]
        self.degrees.update(zip(nodes, degrees, strict=True))
        return np.array(nodes, dtype=np.int64)

    def _degrees(self) -> FloatArray:
        """Lay out the degrees of all nodes, [n, 2]: mentions and abouts."""
        known = [self.degrees.get(node, (0, 0)) for node in range(len(self.ids))]
        return np.array(known, dtype=np.float64).reshape(-1, 2)

    def _enter_by(self, facts: NearFacts, named: IntArray) -> FloatArray:
        """Share a unit of energy among the ends of facts."""
        degrees = zip(facts.mentions, facts.abouts, strict=True)
        ends = self._meet(facts.concept, facts.label, degrees)
        for row, end in enumerate(ends.tolist()):
            fact = PathStep(
                node=facts.fact[row],
                kind="fact",
                edge=Stream.FACT,
                label=facts.statement[row],
                energy=float(facts.cosine[row]),
            )
            if end not in named:
                self.facts.setdefault(end, (fact, facts.edge[row]))
        return fact_cue(ends, facts.cosine, self._degrees().sum(axis=1))

    def _fact_seeds(self, cue: FloatArray) -> tuple[SeedRecord, ...]:
        """List the facts through which energy entered, with the energy of their concepts."""
        found: dict[str, SeedRecord] = {}
        for concept, (fact, _) in self.facts.items():
            known = found[fact.node].energy if fact.node in found else 0.0
            found[fact.node] = SeedRecord(
                node=fact.node,
                kind="fact",
                stream=Stream.FACT,
                label=fact.label,
                energy=known + float(cue[concept]),
            )
        return tuple(found.values())


async def walk(
    store: RecallStore,
    tenant: TenantId,
    seeds: Mapping[EpisodeId, float],
    *,
    named: Sequence[FoundConcept],
    facts: NearFacts | None,
    options: ChannelOptions,
) -> ConceptWalk:
    """Walk from the best memories, the named concepts and the ends of the nearest facts.

    `seeds` are the energies of the first memories, sum 1. The named concepts share one unit of
    energy in the first step, and the ends of the facts another.
    """
    found, hub = ConceptWalk(), options.hub
    for episode in seeds:
        found.add(episode, "episode")
    # The first passage names the subject of the next, so the walk finds passages without a word of
    # the cue (docs/explanation/recall.md).
    found.state = start(list(seeds.values()), found.enter(named, facts), options=options)
    for _ in range(options.steps):
        senders = [EpisodeId(found.ids[node]) for node in found.state.sending_items()]
        found.wake_concepts(await store.concepts_of(tenant, senders, hub))
        if options.related > 0.0:
            concepts = [found.ids[node] for node in found.state.sending_concepts()]
            found.wake_related(await store.related(tenant, concepts, hub))
        concepts = [found.ids[node] for node in found.state.sending_concepts()]
        found.wake_items(await store.episodes_of(tenant, concepts, hub))
    found.end()
    return found


_RECIPE: Final = TextWeights()
_CHANNEL: Final = ChannelOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class EcphoriaOptions:
    """Weights of the recipe; setting one to 0 switches its signal off."""

    w_lex: float = parameter(_RECIPE.lex, "Words, spread over NEXT.", low=0, high=2, source="fit")
    w_sem: float = parameter(
        _RECIPE.sem, "Cosine of the memory and its passages.", low=0, high=2, source="fit"
    )
    w_ctx: float = parameter(
        _RECIPE.ctx, "Cosine with its neighbours.", low=0, high=2, source="fit"
    )
    w_speaker: float = parameter(
        _RECIPE.spk, "Spoken by the one whom the cue is about.", low=0, high=2, source="fit"
    )
    w_length: float = parameter(
        _RECIPE.len, "Turns of about 30 stems say most.", low=0, high=2, source="fit"
    )
    w_question: float = parameter(
        -_RECIPE.isq,
        "Taken from questions, a user's to an assistant aside.",
        low=0,
        high=2,
        source="fit",
    )
    replied: bool = parameter(
        default=True, doc="Rank a user's question hardly above its reply, and below a short one."
    )
    w_when: float = parameter(
        _RECIPE.texp, "Names a time where the cue asks for one.", low=0, high=2, source="fit"
    )
    fact_words: float = parameter(
        0.5,
        "Weight of a stem that only the facts of a memory have, beside one of its own.",
        low=0,
        high=2,
        source="measured on talk with stated facts",
    )
    fact_meaning: float = parameter(
        0.9,
        "Share of the cosine of a memory's nearest fact, where it is above the memory's own.",
        low=0,
        high=1,
        source="measured on talk with stated facts",
    )
    adaptive: bool = parameter(
        default=True,
        doc="Let words count less where no memory stands out by them, and meaning less in a"
        " language that the embedding model does not read.",
    )
    w_date: float = parameter(
        _RECIPE.date, "Close to a date in the cue.", low=0, high=2, source="fit"
    )
    next_spreading: bool = parameter(
        default=True, doc="Let each stem spread along NEXT before it saturates."
    )
    w_concepts: float = parameter(
        1.2, "Weight of the concept channel.", low=0, high=5, source="measured on titled passages"
    )
    concept_seeds: int = parameter(
        2, "Best memories that start the channel.", unit="memories", low=1, high=20
    )
    seed_contrast: float = parameter(
        4.0,
        "Power of a seed's score: a much better one starts the channel nearly alone.",
        low=1,
        high=50,
        source="measured on titled passages",
    )
    # An accepted merge is walked at full weight; before, the two names are joined by the cosine of
    # their words (decision 0021).
    w_related: float = parameter(
        _CHANNEL.related,
        "Share of energy that goes from a concept to its synonyms and to what facts join it to.",
        low=0,
        high=1,
        source="measured on titled passages",
    )
    # If episodes came with facts, the walk also starts at the ends of the nearest ones
    # (docs/explanation/recall.md).
    near_facts: int = parameter(
        5,
        "Facts nearest to the cue whose ends start the channel too.",
        unit="facts",
        low=0,
        high=50,
    )
    concept_steps: int = parameter(
        _CHANNEL.steps, "Steps of the channel.", unit="steps", low=1, high=6
    )
    hub: int = parameter(
        _CHANNEL.hub,
        "Mentions above which a concept carries nothing.",
        unit="mentions",
        low=1,
        high=1000,
    )
    reader_gap: float = parameter(
        0.1,
        "Gap between the first two scores, as a share of the first, below which the reader orders "
        "the first turns; only in stores of at most 1,000 memories.",
        low=0,
        high=1,
        source="measured on conversations and stores written by hand",
    )


class Ecphoria:
    """Spread words over NEXT, match speakers and dates, then walk over concepts."""

    name: ClassVar[str] = "ecphoria"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = EcphoriaOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": EcphoriaOptions()}
    mechanisms: ClassVar[Mechanisms] = {
        "lex": {"w_lex": 0.0},
        "sem": {"w_sem": 0.0},
        "ctx": {"w_ctx": 0.0},
        "speaker": {"w_speaker": 0.0},
        "length": {"w_length": 0.0},
        "question": {"w_question": 0.0},
        "replied questions": {"replied": False},
        "when": {"w_when": 0.0},
        "date": {"w_date": 0.0},
        "adaptive": {"adaptive": False},
        "spreading": {"next_spreading": False},
        "concepts": {"w_concepts": 0.0},
        "related": {"w_related": 0.0},
        "near facts": {"near_facts": 0},
        "facts' words": {"fact_words": 0.0},
        "facts' meaning": {"fact_meaning": 0.0},
        "facts as text": {"fact_words": 0.0, "fact_meaning": 0.0},
        "next edges": {"next_spreading": False, "w_ctx": 0.0},
        "meaning": {"w_sem": 0.0, "w_ctx": 0.0},
        "turn priors": {"w_length": 0.0, "w_question": 0.0, "w_when": 0.0},
        "reader": {"reader_gap": 0.0},
    }

    async def rank(self, search: Search, options: EcphoriaOptions) -> Ranked:
        """Score the text of every candidate, then add the activation of the concept channel."""
        frame = search.frame
        profile = search.seeding.profile
        titled = 2 * profile.titles >= profile.items
        text = text_parts(frame, options, unread=search.seeding.unread, titled=titled)
        pool = Pool.of(frame, text)
        walked = await self._wake(search, pool, options)
        received, gate = walked.received(), walked.state.gate()
        if gate > 0.0:
            missing = [episode for episode in received if not frame.holds(episode)]
            pool = await pool.extended(search, missing)
        concepts = boost(pool.read(received), gate, weight=options.w_concepts)
        walked.seeds = (*seed_records(search.seeding), *walked.seeds)
        parts = {**dict(zip(PARTS, pool.parts.T, strict=True)), "concepts": concepts}
        ranked = pool.ranked(parts, walked, _path(pool, concepts, walked, options))
        waves = [next_wave(frame)]
        if frame.told is not None:
            waves.insert(0, statement_wave(frame, frame.told, options.fact_words))
        walked.waves[:0] = waves
        return replace(ranked, reader_gap=options.reader_gap if profile.items <= _SMALL else 0.0)

    async def _wake(self, search: Search, pool: Pool, options: EcphoriaOptions) -> ConceptWalk:
        if not search.seeding.profile.titles or options.w_concepts == 0.0:
            return ConceptWalk()
        best = rank(pool.parts, pool.turn, options.concept_seeds)
        energy = np.maximum(0.0, pool.parts[best].sum(axis=1))
        energy = (energy / max(float(energy.max(initial=0.0)), _TINY)) ** options.seed_contrast
        total = float(energy.sum())
        if total <= 0.0 and not search.seeding.concepts:
            return ConceptWalk()
        shares = energy / total if total > 0.0 else energy
        return await walk(
            search.store,
            search.tenant,
            {pool.ids[row]: float(share) for row, share in zip(best, shares, strict=True)},
            named=search.seeding.concepts,
            facts=await self._facts(search, options),
            options=ChannelOptions(
                steps=options.concept_steps, hub=options.hub, related=options.w_related
            ),
        )

    async def _facts(self, search: Search, options: EcphoriaOptions) -> NearFacts | None:
        vector = search.seeding.vector
        if not search.seeding.profile.stated or vector is None or not options.near_facts:
            return None
        return await search.store.nearest_facts(search.tenant, vector, options.near_facts)


def _path(pool: Pool, concepts: FloatArray, walked: ConceptWalk, options: EcphoriaOptions) -> Path:
    """Tell the way over concepts if they weigh more than the words, else that of the words."""
    # The first three parts are those of words and meaning.
    by_concepts = concepts > pool.parts[:, :3].sum(axis=1)
    woken = frozenset(pool.ids[row] for row in np.flatnonzero(by_concepts))
    return pool.explain(
        lambda episode: walked.path(episode) if episode in woken else (),
        partial(text_path, words=options.fact_words, meaning=options.fact_meaning),
    )


def text_parts(frame: Frame, options: EcphoriaOptions, *, unread: bool, titled: bool) -> TextScore:
    """Score text by the recipe, on the scale of this frame.

    `unread` tells that the encoder does not read the cue, `titled` that most memories have titles.
    """
    weights = text_weights(options)
    own = text_signals(frame, options, titled=titled)
    bounds = bounds_of(own, frame.inside)
    if options.adaptive:
        weights = adapted(weights, own, frame.inside, covered=frame.covered, unread=unread)

    def parts(more: Frame) -> FloatArray:
        signals = own if more is frame else text_signals(more, options, titled=titled)
        found = recipe_score(signals, weights=weights, bounds=bounds)
        if options.replied:
            found[:, _ASKS] -= _above_reply(found.sum(axis=1), more)
        return found

    return parts


def _above_reply(score: FloatArray, frame: Frame) -> FloatArray:
    """Tell how far a user's question scores above its bound, [n]; 0 for all other memories.

    An agent stores what its user asks. Such a question has the words of many later cues and
    answers none; its reply does.
    """
    # Turns that are too long to be only a question have no text here.
    brief = np.array([bool(one.text) for one in frame.spoken], dtype=np.bool_)
    margin = np.where(brief[frame.following], _BRIEF_MARGIN, _QUESTION_MARGIN)
    above = np.maximum(0.0, score - score[frame.following] - margin)
    above[~frame.by_user | (frame.following < 0) | frame.by_user[frame.following]] = 0.0
    for row in np.flatnonzero(above).tolist():
        if frame.spoken[row].asking.saying is not Saying.ASKS:
            above[row] = 0.0
    return above


def text_signals(frame: Frame, options: EcphoriaOptions, *, titled: bool) -> TextSignals:
    """Take the recipe's signals; without spreading, a word counts only where it stands.

    Where most rows are documents of prose, and most memories have no title, words count up to
    three times in a row that has all words of the cue.
    """
    signals = frame.with_statements(options.fact_words, options.fact_meaning)
    if not options.next_spreading:
        signals = replace(signals, lex=frame.single)
    prose = signals.prose is not None and 2 * signals.prose.sum() >= len(frame.id)
    if titled or not prose or not options.adaptive:
        return signals
    # Turns too, if there are some: rows that are scored in two ways could not be compared.
    return replace(signals, lex=signals.lex * (1.0 + _WHOLE * frame.shares))


def text_weights(options: EcphoriaOptions) -> TextWeights:
    """Read the recipe's weights from the options."""
    return TextWeights(
        lex=options.w_lex,
        sem=options.w_sem,
        ctx=options.w_ctx,
        spk=options.w_speaker,
        len=options.w_length,
        isq=-options.w_question,
        texp=options.w_when,
        date=options.w_date,
    )
