"""The recall service: seeds, frame, strategy, gate, hits, and a trace."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import perf_counter

import structlog

from ecphoria.errors import EcphoriaError, InvalidInput, ModelMissing, TooLarge, UnknownStrategy
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Clock, Embedder, Reader
from ecphoria.recall.answer import (
    TOKEN_COUNTER,
    Context,
    context_block,
    count_tokens,
    hits_of,
    misses_of,
    passages_of_hits,
)
from ecphoria.recall.baselines import Dense, Fusion, Lexical
from ecphoria.recall.cue_reading import NO_READING, CueReader, CueReading, other_languages
from ecphoria.recall.default import Ecphoria
from ecphoria.recall.echoes import join_repeats, leave_out_echoes, put_last, with_repeats
from ecphoria.recall.engrams import EngramReader
from ecphoria.recall.followers import load_followers
from ecphoria.recall.frame import gather
from ecphoria.recall.gate import Judgement, judge, judge_activation
from ecphoria.recall.outdated import load_newest_first, promote_current_facts, told_newer
from ecphoria.recall.pipeline import Ranked, Search, Strategy, parameters, resolve
from ecphoria.recall.ports import Profile
from ecphoria.recall.replay import Recalled, trace_of
from ecphoria.recall.rerank import Reread, reread
from ecphoria.recall.scope import RecallStore, Scope, ScopedStore
from ecphoria.recall.seeds import Seeding, Seeker, read_for_misspelt
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.asked import named
from ecphoria.records.ids import TenantId, TraceId, fresh_id
from ecphoria.records.recall import (
    HITS_OF_LIST,
    LONGEST_CUE,
    Cue,
    EngramHit,
    Filters,
    Hit,
    Match,
    OptionValue,
    RecallOptions,
    RecallResult,
    Trace,
    TraceSummary,
    Verdict,
)
from ecphoria.records.strategy import StrategyInfo
from ecphoria.runtime import run_off_loop
from ecphoria.text.change import Wanted, wanted
from ecphoria.text.lists import asks_for_list
from ecphoria.text.matching import read_match
from ecphoria.text.spelling import respelt

# Traces are written after the answer, because writing one takes longer than answering. When more
# wait, further traces are dropped (decision 0008).
_TRACES_WAITING = 256
# Time to collect traces for one write; a crash can lose this much (decision 0008).
_GATHER_S = 0.5

OWN: Mapping[str, Strategy] = {
    strategy.name: strategy for strategy in (Ecphoria(), Fusion(), Dense(), Lexical())
}
"""The default strategy and the plain baselines."""

log = structlog.get_logger(__name__)


class RecallService:
    """Answers cues; a recall changes nothing that the next recall reads."""

    def __init__(
        self,
        *,
        store: EpisodeReader,
        traces: TraceStore,
        embedder: Embedder,
        clock: Clock,
        strategies: Mapping[str, Strategy],
        dormant: EpisodeReader | None = None,
        default_strategy: str = "ecphoria",
        reranks: bool | None = None,
        snippet: Callable[[TraceId], str] = str,
        caches: Sequence[Callable[[TenantId], None]] = (),
        cue_reader: CueReader | None = None,
        reader: Reader | None = None,
        engrams: EngramReader | None = None,
    ) -> None:
        """Answer from a store.

        `strategies` are by the name that a recall sends; `dormant` also reads dormant memories.
        `snippet` gives the Cypher that shows a trace. `forget` drops a tenant from the `caches`.
        The `reader` reads the first hits of a recall with `rerank`; `reranks` is the default, and
        None leaves it to the strategy.
        """
        self._engrams = engrams
        self._cue_reader, self._reader = cue_reader, reader
        self._store = store
        self._dormant = dormant or store
        self._traces = traces
        self._clock = clock
        self._strategies = strategies
        self._default, self._reranks = default_strategy, reranks
        self._snippet = snippet
        self._model = embedder.model
        self._seeker = Seeker(embedder)
        self._caches = (self._seeker.forget, *caches)
        count_tokens([""])  # loads the table of tokens, so that no recall waits for it
        self._recent: dict[tuple[TenantId, TraceId], Trace] = {}
        self._writer: asyncio.Task[None] | None = None
        self._hurry, self._saved = asyncio.Event(), asyncio.Event()

    def forget(self, tenant: TenantId) -> None:
        """Drop the caches of a tenant, after a part of it was erased."""
        for drop in self._caches:
            drop(tenant)

    def strategies(self) -> Sequence[StrategyInfo]:
        """Describe every strategy with its options, the default first."""
        names = sorted(self._strategies, key=lambda name: (name != self._default, name))
        return [_describe(self._strategies[name]) for name in names]

    def check(self, strategy: str, options: Mapping[str, OptionValue]) -> None:
        """Check that there is such a strategy and that it takes these options.

        Raises:
            InvalidInput: An option it does not have or that is out of bounds.
            UnknownStrategy: No such strategy.
        """
        found = self._strategy(strategy)
        resolve(found.options, found.presets, options)

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        """Recall a cue; without `record` no trace has the answer's `trace_id`.

        Raises:
            InvalidInput: An empty cue, an option out of bounds; the message says what to send.
            UnknownStrategy: No such strategy.
            ModelMissing: A model is to read the cue, and none is set.
            NotFound: No such tenant.
            Unavailable: The store or the encoder does not answer.
        """
        strategy = self._strategy(options.strategy)
        _check(cue)
        asked, (cue, options) = cue, _read_match(cue, options)
        if options.lists and asks_for_list(cue.text or ""):
            options = replace(options, k=max(options.k, HITS_OF_LIST))
        clock = _Stopwatch()
        filters, unknown = await self._store.named(tenant, options.filters)
        rerank = self._reranks if options.rerank is None else options.rerank
        options = replace(options, filters=filters, rerank=rerank)
        search, ranked = await self._search(tenant, cue, options, strategy, clock)
        read, judgement = await self._judged(search, ranked, options, clock, record=record)
        ranked = read.ranked
        k = ranked.count_within(ranked.count_above(options))
        judgement = judge_floors(judgement, options, k)
        passages = await passages_of_hits(search, ranked.ids[:k])
        hits = hits_of(search, ranked, k, passages)
        found = Recalled(
            cue=asked, options=options, search=search, strategy=strategy.name, ranked=ranked,
            hits=hits, judgement=judgement, unknown=unknown, told=_told(cue, hits, self._model),
        )  # fmt: skip
        name = TraceId(fresh_id())
        trace = self._trace(tenant, found, name, record=record)
        (followers, context), shown, engrams = await asyncio.gather(
            _written(search, hits, options.token_budget),
            self._shown(tenant, trace if options.explain else None),
            self._found_engrams(search, options.engrams),
        )
        clock.lap("rank")
        return RecallResult(
            hits=hits,
            strategy=strategy.name,
            verdict=judgement.verdict,
            answerable=judgement.verdict is Verdict.ANSWER,
            verify=judgement.verdict is Verdict.VERIFY,
            confidence=judgement.confidence,
            judged_by=judgement.judged_by,
            evidence=judgement.evidence,
            reasons=found.reasons,
            misses=misses_of(search, ranked, k),
            context=context.text,
            context_tokens=context.tokens,
            token_counter=TOKEN_COUNTER,
            references=context.references,
            followers=followers,
            timings_ms=clock.result(),
            trace_id=name,
            trace=shown,
            degraded=(*search.seeding.degraded, *read.degraded),
            engrams=engrams,
        )

    async def _shown(self, tenant: TenantId, trace: Trace | None) -> Trace | None:
        """Name the nodes of a trace."""
        return await self._traces.read(tenant, trace) if trace else None

    async def _found_engrams(self, search: Search, count: int) -> tuple[EngramHit, ...]:
        if not count or self._engrams is None:
            return ()
        return await self._engrams.find(search, count)

    async def trace(self, tenant: TenantId, trace: TraceId) -> Trace:
        """Load the record of a recall.

        Raises:
            NotFound: No such trace in this tenant, or it was dropped since.
        """
        # Labels come from the store, so that labels of erased nodes are not shown.
        await self.settle(tenant, trace)
        return await self._traces.find(tenant, trace)

    async def traces(
        self,
        tenant: TenantId,
        *,
        limit: int,
        strategy: str | None = None,
        verdict: Verdict | None = None,
        after: tuple[int, str] | None = None,
    ) -> Sequence[TraceSummary]:
        """List traces, the newest first; see `TraceStore.list`."""
        for waiting, trace in list(self._recent):
            if waiting == tenant:
                await self.settle(tenant, trace)
        return await self._traces.list(
            tenant, limit=limit, strategy=strategy, verdict=verdict, after=after
        )

    async def settle(self, tenant: TenantId, trace: TraceId) -> None:
        """Wait until a waiting trace is stored."""
        if (tenant, trace) not in self._recent:
            return
        self._hurry.set()
        while (tenant, trace) in self._recent:
            await self._saved.wait()
        self._hurry.clear()

    async def close(self) -> None:
        """Wait until every trace is stored."""
        self._hurry.set()
        if self._writer is not None:
            await self._writer
        self._hurry.clear()
        if self._reader is not None:
            await self._reader.close()

    async def _search(
        self,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        strategy: Strategy,
        clock: "_Stopwatch",
    ) -> tuple[Search, Ranked]:
        """Seed, gather, and let the strategy spread and rank."""
        parsed = resolve(strategy.options, strategy.presets, options.options)
        reading = await self._read(cue, clock) if options.read_cue else NO_READING
        search = await self._gathered(
            tenant, cue, options, clock, limit=strategy.seeds, reading=reading
        )
        seeding = search.seeding
        if search.echoes and options.match is Match.ANY:
            # The stored question may be misspelt like the cue, so its words count as absent.
            echoes = [echo.terms for echo in search.echoes if not echo.lends]
            read = await read_for_misspelt(search.store, tenant, seeding.cue, seeding, echoes)
            if read:
                meant = replace(cue, text=respelt(seeding.cue, read))
                search = await self._gathered(
                    tenant, meant, options, clock, limit=strategy.seeds, reading=reading
                )
                known = {**seeding.respelt, **read, **search.seeding.respelt}
                search = replace(search, seeding=replace(search.seeding, respelt=known))
        ranked = await strategy.rank(search, parsed)
        clock.lap("spread")
        return search, ranked

    async def _gathered(
        self,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        clock: "_Stopwatch",
        *,
        limit: int,
        reading: CueReading,
    ) -> Search:
        """Seed, and gather the frame without echoes of the cue."""
        now = options.as_of or self._clock.now()
        store, seeding = await self._seed(
            tenant, cue, options, limit=limit, reading=reading, now=now
        )
        clock.lap("seeds", minus=seeding.encode_ms)
        clock.add("encode", seeding.encode_ms)
        search = Search(
            store=store,
            tenant=tenant,
            seeding=seeding,
            frame=await gather(store, tenant, seeding, options.filters),
            filters=options.filters,
            now=now,
        )
        search = await leave_out_echoes(search, limit)
        clock.lap("subgraph")
        return search

    async def _judged(
        self,
        search: Search,
        ranked: Ranked,
        options: RecallOptions,
        clock: "_Stopwatch",
        *,
        record: bool,
    ) -> tuple[Reread, Judgement]:
        """Rank newest first, let the reader reorder the first hits if wanted, and judge."""
        cue = search.seeding.cue
        value = wanted(cue, search.now.year)
        lift = options.newest_first and value is Wanted.NEWEST
        ranked = put_last(search, await promote_current_facts(search, ranked, lift=lift))
        ranked, repeats = join_repeats(search, ranked, cue) if options.collapse else (ranked, {})
        ranked = await load_newest_first(search, ranked, options, value)
        ranked = with_repeats(ranked, repeats)
        read = Reread(ranked=ranked)
        asked = options.rerank
        reads = self._reader is not None and ranked.undecided if asked is None else asked
        if reads and cue and not search.seeding.unread:
            read = await reread(search, ranked, cue, self._reader)
            clock.lap("rerank")
        # Unasked it only settles the order: the gate was fitted on recalls that were not read.
        logit = read.logit if asked else None
        found = judge(cue, search.seeding, search.frame, record=record, logit=logit)
        if found.verdict is Verdict.EMPTY:
            why = _why_empty(search.seeding.profile, options)
            found = replace(found, reasons=why or found.reasons)
        return read, judge_activation(found, ranked.gate)

    async def _seed(
        self,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        *,
        limit: int,
        reading: CueReading,
        now: datetime,
    ) -> tuple[RecallStore, Seeding]:
        """Find the seeds among visible episodes, and return the scoped store.

        Expired episodes are looked up only if there are some. Every recall reads this together
        with its seeds, and repeats the search if it changed.
        """
        whole = self._dormant if options.include_dormant else self._store
        past = options.as_of is not None or options.known_at is not None
        look = await self._seeker.expired(whole, tenant)
        while True:
            ended = frozenset(await whole.expired(tenant) if look else ())
            hidden = options.filters.exclude | ended
            store: RecallStore = whole
            if hidden or past:
                at = now if past else None
                scope = Scope(hidden=hidden, ended=bool(ended), at=at, known_at=options.known_at)
                store = ScopedStore(whole, scope)
            seeding = await self._seeker.seed(
                store, tenant, cue, options, limit=limit, reading=reading, now=now
            )
            if look or not seeding.profile.expired:
                return store, seeding
            look = True

    async def _read(self, cue: Cue, clock: "_Stopwatch") -> CueReading:
        if self._cue_reader is None:
            raise ModelMissing
        text = (cue.text or "").strip()
        reading = await self._cue_reader.read(text) if text else NO_READING
        clock.lap("read")
        return reading

    def _strategy(self, name: str | None) -> Strategy:
        chosen = name or self._default
        if chosen not in self._strategies:
            known = ", ".join(sorted(self._strategies))
            raise UnknownStrategy(
                f"there is no strategy `{chosen}`; choose from: {known}", field="strategy"
            )
        return self._strategies[chosen]

    def _trace(
        self, tenant: TenantId, found: Recalled, name: TraceId, *, record: bool
    ) -> Trace | None:
        """Write the trace if it is stored or answered."""
        if not (record or found.options.explain):
            return None
        cypher = self._snippet(name) if record else ""
        trace = trace_of(found, name, self._clock.now(), cypher)
        if record:
            self._keep(tenant, trace)
        return trace

    def _keep(self, tenant: TenantId, trace: Trace) -> None:
        """Queue the trace for the writer; if too many wait, drop it and log this."""
        # A crash or a full queue may lose traces, never a memory (decision 0008).
        if len(self._recent) >= _TRACES_WAITING:
            log.warning("trace_dropped", reason="too many waiting", waiting=len(self._recent))
            return
        self._recent[tenant, trace.id] = trace
        if self._writer is None or self._writer.done():
            # Writing before the answer would double the latency of a recall (decision 0008).
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """Store the traces that wait, together: one transaction serves many recalls."""
        while self._recent:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GATHER_S):
                    await self._hurry.wait()
            waiting: dict[TenantId, list[Trace]] = {}
            for (tenant, _), trace in self._recent.items():
                waiting.setdefault(tenant, []).append(trace)
            for tenant, traces in waiting.items():
                await self._save(tenant, traces)

    async def _save(self, tenant: TenantId, traces: Sequence[Trace]) -> None:
        try:
            await self._traces.save(tenant, traces)
        except EcphoriaError as error:
            log.warning("trace_dropped", reason=error.code, traces=len(traces))
        except Exception:
            # No caller awaits this task, so log the error here.
            log.exception("trace_failed", tenant_id=tenant, traces=len(traces))
        finally:
            for trace in traces:
                self._recent.pop((tenant, trace.id), None)
            self._saved.set()
            self._saved = asyncio.Event()


def _why_empty(profile: Profile, options: RecallOptions) -> tuple[str, ...]:
    """Tell why there is no candidate: an empty store, or what hides all that is stored.

    Empty if only the words of the cue do.
    """
    if not profile.turn:
        return ("nothing is stored yet",)
    if not profile.items:
        return ("nothing is stored any more: all memories were deleted",)
    filters = options.filters
    start, end = filters.occurred_from, filters.occurred_before
    if start and end and start >= end:
        return ("`occurred_before` is not later than `occurred_from`, so no memory lies between",)
    limits = [name for name in named(Filters) if getattr(filters, name)]
    limits += ["match"] * (options.match is not Match.ANY)
    limits += [name for name in ("as_of", "known_at") if getattr(options, name)]
    if not limits and not options.include_dormant:
        return ("no live memory matches this cue; `include_dormant` also searches dormant ones",)
    if not limits:
        return ()
    return (
        f"something is stored, but no memory passes {' and '.join(f'`{one}`' for one in limits)}",
    )


def _told(cue: Cue, hits: Sequence[Hit], model: str) -> tuple[str, ...]:
    """Tell what a caller should know of the hits, in words."""
    return (*other_languages(cue.text or "", hits, model), *told_newer(hits))


async def _written(
    search: Search, hits: Sequence[Hit], budget: int
) -> tuple[tuple[Hit, ...], Context]:
    """Write the context of all hits except echoes; return it with its further turns."""
    followers = await load_followers(search, hits)
    told = [hit for hit in hits if not hit.echo]
    size = sum(len(hit.episode.text) for hit in (*told, *followers))
    written = partial(context_block, told, budget, followers)
    return followers, await run_off_loop(written, size)


class _Stopwatch:
    """Milliseconds by phase."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, phase: str, minus: float = 0.0) -> None:
        now = perf_counter()
        self.add(phase, max(0.0, 1e3 * (now - self._last) - minus))
        self._last = now

    def add(self, phase: str, took_ms: float) -> None:
        """Add to a phase; a cue that is read anew has its phases twice."""
        self.laps[phase] = self.laps.get(phase, 0.0) + took_ms

    def result(self) -> dict[str, float]:
        return {**self.laps, "total": 1e3 * (perf_counter() - self._start)}


def _describe(strategy: Strategy) -> StrategyInfo:
    return StrategyInfo(
        name=strategy.name,
        doc=(type(strategy).__doc__ or "").strip(),
        presets=tuple(sorted(strategy.presets)),
        parameters=parameters(strategy.options),
        mechanisms=strategy.mechanisms,
    )


def _read_match(cue: Cue, options: RecallOptions) -> tuple[Cue, RecallOptions]:
    """Convert the required words of a cue to a filter, and remove their marks from the cue."""
    if options.match is Match.ANY:
        return cue, options
    text, required = read_match(cue.text or "", options.match)
    filters = replace(options.filters, required=required)
    return replace(cue, text=text), replace(options, filters=filters)


def _check(cue: Cue) -> None:
    text = (cue.text or "").strip()
    if not text and cue.vector is None:
        raise InvalidInput("the cue is empty; send words, a vector, or both", field="cue")
    if len(text) > LONGEST_CUE:
        raise TooLarge(
            f"the cue has {len(text):,} characters; at most {LONGEST_CUE:,} are read, so send the "
            "question alone",
            field="cue",
        )


def judge_floors(judgement: Judgement, options: RecallOptions, hits: int) -> Judgement:
    """Refuse an answer below the wanted confidence, or without a hit left."""
    if judgement.verdict is Verdict.EMPTY:
        return judgement
    reasons = []
    if options.min_confidence is not None and judgement.confidence < options.min_confidence:
        reasons.append(
            f"the confidence {judgement.confidence:.2f} is below `min_confidence`"
            f" {options.min_confidence:.2f}"
        )
    if options.min_score is not None and not hits:
        reasons.append(f"no memory reaches `min_score` {options.min_score:g}")
    if not reasons:
        return judgement
    return replace(judgement, verdict=Verdict.REFUSE, reasons=(*reasons, *judgement.reasons))
