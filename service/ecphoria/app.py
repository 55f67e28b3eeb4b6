"""Build all services from the settings; only this module knows every class."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from prometheus_client import CollectorRegistry

from ecphoria.background import archive_files, build_archive, query_listener, start_background
from ecphoria.calibration.service import CalibrationService
from ecphoria.consolidation.archive import ArchiveService
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.dormancy import ForgettingService
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.merge import MergeReview, MergeStore
from ecphoria.embedding.service import ReembeddingService
from ecphoria.engine import Endpoint, Engine, EngineSettings, Report
from ecphoria.engine.assemble import silent
from ecphoria.engine.disk import disk_of
from ecphoria.engine.home import write_private
from ecphoria.engine.service import supervised
from ecphoria.errors import EcphoriaError, Misconfigured, NotFound, StoreUnavailable
from ecphoria.extraction.service import Extract
from ecphoria.extraction.store import ExtractionStore
from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactStore
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.items.service import ItemService
from ecphoria.items.store import ItemStore
from ecphoria.jobs.service import JobService
from ecphoria.learning.service import LearningService
from ecphoria.learning.store import LearningStore
from ecphoria.mechanisms.actr import Actr
from ecphoria.mechanisms.cls import Cls
from ecphoria.mechanisms.comparators import MemoryBank, MyAgent
from ecphoria.mechanisms.ecphory import Ecphory
from ecphoria.mechanisms.ppr import Ppr
from ecphoria.mechanisms.synapse import Synapse
from ecphoria.mechanisms.synaptic import Synaptic
from ecphoria.models.chat import StructuredChat, create_chat
from ecphoria.models.embedders import CachingEmbedder, create_embedder, create_reader
from ecphoria.models.languages import Unread, languages_read
from ecphoria.neo4j_store.queries import cypher_root
from ecphoria.neo4j_store.schema import Health, check, health, migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.neo4j_store.tenant_settings import SettingsStore
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.portability.service import Portability
from ecphoria.portability.store import Copies
from ecphoria.ports import Embedder
from ecphoria.recall.ask import AskService
from ecphoria.recall.cue_reading import CueReader
from ecphoria.recall.engrams import EngramReader
from ecphoria.recall.listing import EpisodeArchive, GraphReader
from ecphoria.recall.pipeline import Strategy
from ecphoria.recall.service import OWN, RecallService
from ecphoria.recall.start_context import StartContexts
from ecphoria.recall.store import DORMANT, EpisodeReader
from ecphoria.recall.tenant_recall import TenantRecall
from ecphoria.records.embedding import EmbedderChoice
from ecphoria.records.ids import TenantId, TraceId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.records.strategy import Comparison
from ecphoria.records.tenant import Principal
from ecphoria.records.upkeep import Disk
from ecphoria.runtime import SystemClock
from ecphoria.settings import LlmSettings, Settings
from ecphoria.telemetry import Metrics, Spans, open_spans
from ecphoria.tenancy.access import Access, prefix_of
from ecphoria.tenancy.admission import Admission, resting
from ecphoria.tenancy.service import SettingsService, TenancyService
from ecphoria.tenancy.store import Keys, Tenants

ADMIN_KEY_FILE = "admin.key"
_TRACE_QUERY = "what_woke_this_trace.cypher"
_ANY_TRACE = "'' AS wanted"
# Neo4j plans a query when it first runs, for up to half a second (decision 0039).
_WARM_TENANTS, _WARM_S = 5, 10.0
_WARNED_BY = 100
"""Newest episodes of a tenant whose languages are looked at when the service starts."""
# One cue with words and names, and one without, recalled as a request does: these are the queries
# that a first recall would wait for (decision 0039).
_WARM_CUES = (Cue(text="What did Ana say about the house in March?"), Cue(text="and?"))

STRATEGIES: Mapping[str, Strategy] = {
    **OWN,
    **{
        mechanism.name: mechanism
        for mechanism in (
            Synapse(),
            Cls(),
            Actr(),
            Synaptic(),
            Ecphory(),
            Ppr(),
            MemoryBank(),
            MyAgent(),
        )
    },
}
"""By the name that a recall sends."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Receivers of progress while the parts start.

    Attributes:
        engine: Called with the stages of the local Neo4j's start.
        weights: Called with the loaded and all bytes of the embedder's weights.
    """

    engine: Report = silent
    weights: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The parts that services keep when the store changes its embedding model."""

    settings: Settings
    graph: Graph
    options: GraphOptions
    endpoint: Endpoint | None
    metrics: Metrics
    spans: Spans
    resources: AsyncExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that the interfaces call.

    Attributes:
        health: Looks at the store; raises if it does not answer.
        disk: Reads the size of the store on disk.
        browser: Folder of the files for Neo4j Browser.
        admin_key_file: Where this start wrote the first operator's key, if it made one.
        engine: The local Neo4j, if it is used.
        generation: The generation of vectors that they work with.
        reembedding: Starts and shows a change of the embedding model.
        own: Resources to close when services of another model replace these.
        base: The parts that the new services keep.
    """

    settings: Settings
    ingest: IngestService
    recall: RecallService
    tenant_settings: SettingsService
    recalls: TenantRecall
    ask: AskService
    extract: Extract
    calibration: CalibrationService
    jobs: JobService
    learning: LearningService
    merges: MergeReview
    forgetting: ForgettingService
    cold: ArchiveService
    doctor: Doctor
    facts: FactService
    items: ItemService
    archive: EpisodeArchive
    graph: GraphReader
    starts: StartContexts
    tenancy: TenancyService
    access: Access
    admission: Admission
    embedder: Embedder
    generation: int
    reembedding: ReembeddingService
    own: AsyncExitStack
    base: Base
    metrics: Metrics
    spans: Spans
    health: Callable[[], Awaitable[Health]]
    disk: Callable[[], Disk]
    browser: Path = field(default_factory=lambda: cypher_root() / "browser")
    admin_key_file: Path | None = None
    engine: Endpoint | None = None

    async def close(self) -> None:
        """Close everything, in reverse order of its start."""
        await self.own.aclose()
        await self.base.resources.aclose()


async def build(settings: Settings, reports: Reports | None = None) -> Services:
    """Start everything the service needs, then the service.

    Raises:
        EngineError: The local Neo4j cannot be fetched or started.
        StoreUnavailable: Neo4j does not answer.
        Misconfigured: Neo4j, its data or the embedder do not fit the settings.
    """
    # What can be refused at once comes first, because a first start may take minutes.
    _require_strategy(settings)
    told = reports or Reports()
    metrics = Metrics(CollectorRegistry())
    async with AsyncExitStack() as checked:  # each generation of services opens its own
        open_chat(settings.llm, metrics, checked)
    async with AsyncExitStack() as guard:
        stack = AsyncExitStack()
        guard.push_async_callback(stack.aclose)
        spans = open_spans(settings.tracing.endpoint, settings.tracing.sample, stack)
        loading = asyncio.create_task(_load_embedder(settings, told))
        stack.push_async_callback(_settle, loading)
        endpoint = await _start_engine(settings, told, stack)
        options = _graph_options(settings, endpoint)
        graph = _connect(settings, options, metrics, spans, stack)
        found = await _checked(graph, settings)
        embedder = await loading
        async with AsyncExitStack() as unused:
            unused.push_async_callback(embedder.close)
            store = await migrate(graph, embedder.model, embedder.dimension)
            unused.pop_all()
        base = Base(
            settings=settings,
            graph=graph,
            options=options,
            endpoint=endpoint,
            metrics=metrics,
            spans=spans,
            resources=stack,
        )
        services = await assemble(base, embedder, store.generation)
        guard.pop_all()
    log.info("services_ready", neo4j=found.neo4j, gds=found.gds, model=embedder.model)
    return services


async def assemble(base: Base, embedder: Embedder, generation: int) -> Services:
    """Make the services of one embedder and its generation of vectors."""
    settings, metrics, graph = base.settings, base.metrics, base.graph.at(generation)
    async with AsyncExitStack() as own:
        own.push_async_callback(embedder.close)
        learning = await _learning(graph, metrics, own)
        chat = open_chat(settings.llm, metrics, own)
        recall = _recall(settings, graph, embedder, learning, chat)
        cold, ingest, forgetting = _writing(settings, graph, embedder, recall.forget)
        tenancy, access = _tenancy(settings, graph, cold)
        tenant_settings, recalls = _recalls(graph, recall, forgetting, metrics, own)
        extract, archive = Extract(ExtractionStore(graph), ingest, chat), EpisodeArchive(graph)
        calibration = CalibrationService(recalls, archive, SystemClock())
        jobs = await start_background(
            settings, graph, base.options, embedder, chat, ingest=ingest, extract=extract,
            calibrate=calibration.run, metrics=metrics, stack=own,
        )  # fmt: skip
        return Services(
            settings=settings,
            ingest=ingest,
            recall=recall,
            tenant_settings=tenant_settings,
            recalls=recalls,
            ask=AskService(recalls, chat, metrics.recall),
            extract=extract,
            calibration=calibration,
            jobs=jobs,
            learning=learning,
            merges=MergeReview(MergeStore(graph), FactStore(graph)),
            forgetting=forgetting,
            cold=cold,
            doctor=Doctor(IntegrityStore(graph), time.monotonic, cold, embedder.model),
            facts=FactService(store=FactStore(graph), clock=SystemClock()),
            items=ItemService(store=ItemStore(graph), embedder=embedder, clock=SystemClock()),
            archive=archive,
            graph=GraphReader(graph),
            starts=StartContexts(graph, SystemClock()),
            tenancy=tenancy,
            access=access,
            admission=Admission(settings.limits, monotonic=time.monotonic, waited=metrics.waited),
            embedder=embedder,
            generation=generation,
            reembedding=ReembeddingService(graph, embedder, partial(open_embedder, settings)),
            metrics=metrics,
            spans=base.spans,
            health=partial(health, graph),
            disk=partial(disk_of, engine_settings(settings).home if base.endpoint else None),
            admin_key_file=await _open_store(settings, tenancy),
            engine=base.endpoint,
            own=own.pop_all(),
            base=base,
        )


async def open_embedder(settings: Settings, choice: EmbedderChoice) -> Embedder:
    """Open another embedder than that of the settings, which give its key and its timeouts."""
    usual = settings.embedder
    chosen = usual.model_copy(
        update={
            "provider": choice.provider,
            "model": choice.model,
            "dimension": choice.dimension,
            "request_dimension": choice.request_dimension,
            "base_url": choice.base_url or usual.base_url,
            "weights_dir": usual.weights_dir if choice.provider == usual.provider else None,
        }
    )
    return await asyncio.to_thread(create_embedder, chosen, settings.cache)


async def warm_up(services: Services) -> None:
    """Run recalls in the newest tenants, because Neo4j plans a query when it first runs.

    One cue has words and names and one has none, because an empty list has its own plan. It takes
    a few seconds at most; an error here is left to the first caller. Afterwards, while requests
    are answered, the log warns of tenants whose texts the embedding model does not read.
    """
    operator = Principal(key=None, tenant=None, scopes=frozenset())
    recalled: dict[str, TenantId] = {}
    with suppress(TimeoutError, EcphoriaError):
        async with asyncio.timeout(_WARM_S):
            listed = await services.tenancy.tenants.list()
            newest = sorted(listed, key=lambda each: each.created_at, reverse=True)
            for each in newest[:_WARM_TENANTS]:
                with suppress(NotFound):  # erased meanwhile
                    tenant = await services.access.tenant_of(operator, each.name)
                    for cue in _WARM_CUES:
                        await services.recalls.recall(tenant, cue, RecallOptions(), record=False)
                    recalled[each.name] = tenant
    # Its query takes Neo4j a second to plan, and nobody waits for a warning.
    warning = asyncio.create_task(_warn_of_languages(services, recalled))
    services.own.push_async_callback(_settle, warning)


async def _warn_of_languages(services: Services, tenants: Mapping[str, TenantId]) -> None:
    if languages_read(services.embedder.model) is None:
        return
    for name, tenant in tenants.items():
        with suppress(EcphoriaError):
            newest = await services.archive.list_episodes(tenant, limit=_WARNED_BY, newest=True)
            unread = Unread(services.embedder.model)
            unread.take(one.text for one in newest)
            if warning := unread.warning():
                log.warning("languages_not_read", tenant=name, told=warning)


@asynccontextmanager
async def open_copies(
    settings: Settings, reports: Reports | None = None
) -> AsyncIterator[Portability]:
    """Start the store alone, to copy or restore it; the service may run meanwhile.

    Raises:
        EngineError: The local Neo4j cannot be fetched or started.
        StoreUnavailable: Neo4j does not answer.
        Misconfigured: Neo4j does not fit the settings.
    """
    async with AsyncExitStack() as stack:
        endpoint = await _start_engine(settings, reports or Reports(), stack)
        graph = Graph.connect(_graph_options(settings, endpoint))
        stack.push_async_callback(graph.close)
        await _checked(graph, settings)
        yield Portability(Copies(graph), Tenants(graph), archive_files(settings))


def engine_settings(settings: Settings) -> EngineSettings:
    """Read the settings of the local Neo4j."""
    group = settings.engine
    return EngineSettings(
        home=group.home or settings.home / "engine",
        cache=settings.cache,
        **group.model_dump(exclude={"home"}),
    )


def open_chat(
    group: LlmSettings, metrics: Metrics, stack: AsyncExitStack
) -> StructuredChat | None:
    """Give the language model if one is set.

    Raises:
        Misconfigured: One is set, and the package that asks it is missing, or its cassette
            cannot be used.
    """
    if group.model is None:
        return None
    chat = create_chat(group.model, group, metrics.tokens, resting)
    stack.push_async_callback(chat.close)
    return StructuredChat(chat)


def _graph_options(settings: Settings, endpoint: Endpoint | None) -> GraphOptions:
    given = settings.neo4j.model_dump()
    if endpoint is not None:
        given |= {
            "uri": endpoint.bolt_uri, "user": endpoint.user, "password": endpoint.password,
        }  # fmt: skip
    else:
        given["password"] = settings.neo4j.password.get_secret_value()
    return GraphOptions(**given)


async def _start_engine(
    settings: Settings, reports: Reports, stack: AsyncExitStack
) -> Endpoint | None:
    if settings.neo4j.uri is not None:
        return None
    # Before the engine makes its own folder in it, which would leave it readable for all.
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = Engine(engine_settings(settings))
    return await stack.enter_async_context(supervised(engine, reports.engine))


def _connect(
    settings: Settings,
    options: GraphOptions,
    metrics: Metrics,
    spans: Spans,
    stack: AsyncExitStack,
) -> Graph:
    on_query = query_listener(settings.jobs, metrics)
    graph = Graph.connect(options, on_query=on_query, spans=spans)
    stack.push_async_callback(graph.close)
    return graph


async def _checked(graph: Graph, settings: Settings) -> Health:
    """Check the server; if that of a setting does not answer, tell its address."""
    try:
        return await check(graph)
    except StoreUnavailable as error:
        if settings.neo4j.uri is None:
            raise
        raise StoreUnavailable(
            f"Neo4j does not answer at {settings.neo4j.uri}; start it, or correct"
            " ECPHORIA_NEO4J__URI."
        ) from error


async def _load_embedder(settings: Settings, reports: Reports) -> Embedder:
    return await asyncio.to_thread(
        create_embedder, settings.embedder, settings.cache, report=reports.weights
    )


async def _settle(task: asyncio.Task[Any]) -> None:
    """Cancel a task whose result is no longer needed."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _recalls(
    graph: Graph,
    recall: RecallService,
    forgetting: ForgettingService,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> tuple[SettingsService, TenantRecall]:
    stack.push_async_callback(recall.close)
    store = SettingsStore(graph)
    settings = SettingsService(store, recall.check, SystemClock(), time.monotonic)
    told = partial(_tell_shadow, metrics)
    recalls = TenantRecall(recall, settings.of, told, forgetting.wake)
    stack.push_async_callback(recalls.close)
    return settings, recalls


def _writing(
    settings: Settings, graph: Graph, embedder: Embedder, erased: Callable[[TenantId], None]
) -> tuple[ArchiveService, IngestService, ForgettingService]:
    store, clock = IngestStore(graph), SystemClock()
    cold = build_archive(settings, graph, embedder, clock)
    keep = timedelta(days=settings.erasure.key_days)
    ingest = IngestService(
        store=store, embedder=embedder, clock=clock, archive=cold, erased=erased,
        resting=resting, refuse_keys=keep,
    )  # fmt: skip
    return cold, ingest, ForgettingService(DormancyStore(graph), cold, ingest.wake, clock)


def _tenancy(
    settings: Settings, graph: Graph, cold: ArchiveService
) -> tuple[TenancyService, Access]:
    tenants, keys = Tenants(graph), Keys(graph)
    access = Access(
        keys=keys,
        tenants=tenants,
        enabled=settings.auth.enabled,
        cache_s=settings.auth.cache_s,
        clock=SystemClock(),
        monotonic=time.monotonic,
    )
    service = TenancyService(
        tenants=tenants,
        keys=keys,
        access=access,
        clock=SystemClock(),
        entropy=secrets.token_bytes,
        erase_archive=cold.erase,
    )
    return service, access


async def _learning(graph: Graph, metrics: Metrics, stack: AsyncExitStack) -> LearningService:
    service = LearningService(LearningStore(graph), SystemClock(), metrics.effects)
    stack.push_async_callback(service.close)
    await service.begin()
    return service


def _require_strategy(settings: Settings) -> None:
    if settings.recall.strategy not in STRATEGIES:
        raise Misconfigured(
            f"There is no strategy {settings.recall.strategy}; set ECPHORIA_RECALL__STRATEGY to "
            f"one of {', '.join(sorted(STRATEGIES))}.",
            setting="ECPHORIA_RECALL__STRATEGY",
        )


def _recall(
    settings: Settings,
    graph: Graph,
    embedder: Embedder,
    learning: LearningService,
    chat: StructuredChat | None,
) -> RecallService:
    store = EpisodeReader(graph)
    dormant = EpisodeReader(graph, keep=20_000, dormant=DORMANT)
    return RecallService(
        store=store,
        dormant=dormant,
        caches=(store.forget, dormant.forget),
        traces=TraceStore(graph, settings.recall.traces_kept, learning.wake),
        embedder=CachingEmbedder(embedder),
        clock=SystemClock(),
        strategies=STRATEGIES,
        default_strategy=settings.recall.strategy,
        reranks=settings.recall.rerank,
        snippet=_snippet(cypher_root() / "browser" / _TRACE_QUERY),
        cue_reader=CueReader(chat, settings.llm.cue_s) if chat else None,
        reader=create_reader(embedder),
        engrams=EngramReader(graph),
    )


def _tell_shadow(
    metrics: Metrics, strategy: str, outcome: str, comparison: Comparison | None
) -> None:
    metrics.shadow(strategy, outcome)
    if comparison is not None:
        metrics.agreement(strategy, comparison.overlap, comparison.live_ms, comparison.shadow_ms)


def _snippet(saved_query: Path) -> Callable[[TraceId], str]:
    """Put a trace's id into the saved query that shows the latest, ready for Neo4j Browser."""
    text = saved_query.read_text(encoding="utf-8")
    assert _ANY_TRACE in text, f"{saved_query.name} has no place for the id"
    return lambda trace: text.replace(_ANY_TRACE, f"'{trace}' AS wanted", 1)


async def _open_store(settings: Settings, tenancy: TenancyService) -> Path | None:
    """Write an operator's key that fits the store to a file that only this user can read."""
    given, file = settings.auth.bootstrap_key, settings.home / ADMIN_KEY_FILE
    kept = file.read_text(encoding="utf-8").strip() if file.exists() else None
    issued = await tenancy.open_store(
        given_key=given.get_secret_value() if given else None,
        needs_key=settings.auth.enabled,
        kept_key=kept or None,
    )
    if issued is None:
        return None
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if kept:
        aside = file.rename(file.with_name(f"admin.{prefix_of(kept)}.key"))
        log.warning("admin_key_was_of_another_store", kept_as=str(aside))
    write_private(file, issued.secret + "\n")
    log.info("admin_key_written", file=str(file))
    return file
