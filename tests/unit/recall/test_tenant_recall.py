"""The shadow beside a scripted recall: sample, queue, faults, and never in the way."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from ecphoria.app import STRATEGIES
from ecphoria.errors import Conflict, InvalidInput, StoreUnavailable, Unavailable
from ecphoria.neo4j_store.tenant_settings import OwnSettings, SettingsStore
from ecphoria.recall.service import RecallService
from ecphoria.recall.tenant_recall import WINDOW, ShadowStats, TenantRecall, sampled
from ecphoria.records.episode import Episode, State
from ecphoria.records.ids import EpisodeId, TenantId, TraceId
from ecphoria.records.recall import Cue, Hit, RecallOptions, RecallResult, Verdict
from ecphoria.records.settings import Choice, TenantSettings, Trial, Values, merge
from ecphoria.records.strategy import Comparison, ShadowReport
from ecphoria.records.traced import GateKind, Limits
from ecphoria.tenancy.service import SettingsService
from tests.conftest import WallClock

MINE, OTHER = TenantId("a" * 32), TenantId("b" * 32)
DENSE = Choice(strategy="dense")
ALL = TenantSettings(trial=Trial(strategy="dense", share=1.0))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
GRACE_S = 0.2
SECRET = "where the treasure lies"


def result(strategy: str, hits: str, ms: float = 10.0) -> RecallResult:
    return RecallResult(
        hits=tuple(
            Hit(episode=an_episode(name), rank=rank, score=1.0, parts={}, path=())
            for rank, name in enumerate(hits, start=1)
        ),
        strategy=strategy, verdict=Verdict.ANSWER, answerable=True, confidence=0.5,
        judged_by=Limits(gate=GateKind.SHIPPED, threshold=0.25, verify_below=0.4),
        evidence={}, reasons=(), misses=(), context="", context_tokens=7,
        timings_ms={"encode": 4.0, "total": ms}, trace_id=TraceId("t"), degraded=(),
    )  # fmt: skip


def an_episode(name: str) -> Episode:
    return Episode(
        id=EpisodeId(name), turn=1, text=name, title=None, speaker=None, role=None,
        session=None, ordinal=None, position=None, occurred_at=NOW, recorded_at=NOW, source=None,
        metadata={}, importance=0.5, kind="episodic", state=State.LIVE,
    )  # fmt: skip


class Scripted(RecallService):
    """Answers `abcd` by the live strategy; in the shadow what a test says."""

    def __init__(self) -> None:
        self.asked: list[RecallOptions] = []
        self.shadowed: list[RecallOptions] = []
        self.fault: Exception | None = None
        self._strategies = STRATEGIES
        self.gate, self.begun = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        assert tenant == MINE
        if record:
            self.asked.append(options)
            if cue.text == "slow":
                await self.gate.wait()
            if cue.text == "asleep":
                return self._of_dormant(options)
            return result(options.strategy or "ecphoria", "abcd")
        self.shadowed.append(options)
        if cue.text == "only looking":
            return result("ecphoria", "abcd")
        self.begun.set()
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return result("dense", "bcxa", ms=24.0)

    def _of_dormant(self, options: RecallOptions) -> RecallResult:
        """Refuse, and answer from a dormant memory where these are searched."""
        found = result("ecphoria", "a")
        if not options.include_dormant:
            return replace(found, verdict=Verdict.REFUSE)
        if self.fault is not None:
            raise self.fault
        (hit,) = found.hits
        return replace(
            found, hits=(replace(hit, episode=replace(hit.episode, state=State.DORMANT)),)
        )


def values_of(settings: TenantSettings) -> Values:
    """What a tenant with these settings has set itself."""
    trial = None if settings.trial is None else asdict(settings.trial)
    return merge({}, {"trial": trial, "promoted": [asdict(one) for one in settings.promoted]})


class InMemory(SettingsStore):
    """Settings by tenant."""

    def __init__(self) -> None:
        self.kept: dict[TenantId, Values] = {}
        self.asked = 0

    async def find(self, tenant: TenantId) -> OwnSettings:
        self.asked += 1
        return OwnSettings(values=self.kept.get(tenant, {}))

    async def change(
        self, tenant: TenantId, change: Callable[[OwnSettings], Values], now: datetime
    ) -> OwnSettings:
        assert now.tzinfo is not None
        self.kept[tenant] = change(await self.find(tenant))
        return OwnSettings(values=self.kept[tenant])


async def wake_none(_: TenantId, __: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
    return ()


class House:
    """A shadowed recall over scripted parts."""

    def __init__(self) -> None:
        self.recalls, self.store, self.seconds = Scripted(), InMemory(), 0.0
        self.settings = SettingsService(
            self.store, self.recalls.check, WallClock(), lambda: self.seconds
        )
        self.told: list[tuple[str, str, Comparison | None]] = []
        self.service = TenantRecall(
            self.recalls, self.settings.of, lambda *told: self.told.append(told), wake_none,
            grace_s=GRACE_S,
        )  # fmt: skip

    async def ask(self, text: str = "cue", **options: object) -> RecallResult:
        return await self.service.recall(MINE, Cue(text=text), RecallOptions(**options))  # type: ignore[arg-type]  # named in each test

    async def report(self) -> ShadowReport:
        return self.service.report(MINE, await self.settings.of(MINE))


Build = Callable[[TenantSettings], House]


@pytest.fixture
def house() -> Build:
    """Build a house in which the tenant has these settings."""

    def build(settings: TenantSettings) -> House:
        built = House()
        built.store.kept[MINE] = values_of(settings)
        return built

    return build


async def test_a_second_look_that_fails_leaves_the_refusal_of_the_first(house: Build) -> None:
    it = house(ALL)
    it.store.kept[MINE] = merge(it.store.kept[MINE], {"dormancy": {"second_look": True}})
    found = await it.ask("asleep")
    assert (found.verdict, found.second_look) == (Verdict.ANSWER, True)
    await it.service.drain()
    assert (await it.report()).compared == 1
    it.recalls.fault = StoreUnavailable("Neo4j is away.")
    refused = await it.ask("asleep")
    assert (refused.verdict, refused.second_look) == (Verdict.REFUSE, False)
    assert refused.degraded == ("dormant memories were not searched: Neo4j is away.",)


async def test_an_answer_is_compared_after_it_was_given(house: Build) -> None:
    it = house(ALL)
    answer = await it.ask(k=4)
    assert answer == result("ecphoria", "abcd")
    assert it.recalls.shadowed == [], "nothing runs before the answer"
    await it.service.drain()
    assert it.recalls.shadowed == [RecallOptions(strategy="dense", k=4)]
    found = await it.report()
    assert found.rank_overlap == pytest.approx(
        0.1 * (0 + 0.9 * 1 / 2 + 0.81 * 2 / 3 + 0.729 * 3 / 4) + 0.6561 * 3 / 4
    )
    assert replace(found, rank_overlap=None) == ShadowReport(
        compared=1, window=1, overlap=0.75, rank_difference=5 / 3, same_first=0.0,
        same_verdict=1.0, live_p50_ms=6.0, live_p95_ms=6.0, shadow_p50_ms=20.0,
        shadow_p95_ms=20.0, live_tokens=7.0, shadow_tokens=7.0,
    )  # fmt: skip
    ((strategy, outcome, comparison),) = it.told
    assert (strategy, outcome) == ("dense", "compared")
    assert comparison is not None


@pytest.mark.parametrize("named", [None, "lexical"])
async def test_a_recall_that_only_looks_is_not_compared(house: Build, named: str | None) -> None:
    it = house(ALL)
    cue, options = Cue(text="only looking"), RecallOptions(strategy=named)
    await it.service.recall(MINE, cue, options, record=False)
    await it.service.drain()
    assert it.recalls.asked == []
    assert it.recalls.shadowed == [options]
    assert await it.report() == ShadowReport()


async def test_a_named_strategy_has_no_shadow(house: Build) -> None:
    it = house(ALL)
    await it.ask(strategy="lexical")
    assert it.store.asked == 0
    await it.service.drain()
    assert it.recalls.shadowed == []


async def test_a_share_of_nothing_is_nothing(house: Build) -> None:
    it = house(TenantSettings(trial=Trial(strategy="dense", share=0.0)))
    await it.ask()
    await it.service.drain()
    assert (await it.report()).compared == 0


async def test_beyond_the_queue_samples_are_dropped_and_counted(house: Build) -> None:
    it = house(ALL)
    for _ in range(70):
        await it.ask()
    found = await it.report()
    assert (found.dropped, found.compared) == (6, 0)
    assert [outcome for _, outcome, _ in it.told] == ["dropped"] * 6
    await it.service.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(ValueError(SECRET), "ValueError"), (StoreUnavailable(SECRET), "store-unavailable")],
)
async def test_a_fault_of_the_shadow_stays_there(
    house: Build, fault: Exception, reason: str
) -> None:
    it = house(ALL)
    it.recalls.fault = fault
    with capture_logs() as logs:
        assert (await it.ask(SECRET)).hits
        await it.service.drain()
    assert (await it.report()).failed == 1
    assert [log["reason"] for log in logs] == [reason]
    assert "treasure" not in str(logs)
    it.recalls.fault = None
    await it.ask()
    await it.service.drain()
    assert (await it.report()).compared == 1, "the next one runs"


async def test_the_shadow_waits_for_live_recalls(house: Build) -> None:
    it = house(ALL)
    it.recalls.gate.clear()
    live = asyncio.create_task(it.ask("slow"))
    await asyncio.sleep(0)
    await it.ask("quick")
    await asyncio.sleep(0.06)
    assert it.recalls.shadowed == []
    it.recalls.gate.set()
    await live
    await it.service.drain()
    assert len(it.recalls.shadowed) == 2


async def test_the_end_does_not_wait_for_a_shadow(house: Build) -> None:
    it = house(ALL)
    await it.ask()
    await it.ask()
    it.recalls.gate.clear()
    await it.recalls.begun.wait()
    async with asyncio.timeout(1):
        await it.service.close()
    assert it.told == []


async def test_what_is_under_way_at_a_reset_counts_for_nothing(house: Build) -> None:
    it = house(ALL)
    await it.ask()
    it.service.reset(MINE)
    await it.service.drain()
    assert await it.report() == ShadowReport()


async def test_another_pair_of_strategies_is_counted_anew(house: Build) -> None:
    it = house(ALL)
    await it.ask()
    await it.service.drain()
    assert it.service.report(MINE, ALL).compared == 1
    other = replace(ALL, promoted=(Choice(strategy="lexical"),))
    for policy in (TenantSettings(trial=Trial(strategy="dense", share=0.5)), other):
        assert it.service.report(MINE, policy).compared == 0


async def test_a_promoted_strategy_is_the_default_and_the_callers_options_win(
    house: Build,
) -> None:
    choice = Choice(strategy="synapse", options={"preset": "paper", "steps": 2})
    it = house(TenantSettings(promoted=(DENSE, choice)))
    await it.ask(options={"steps": 3})
    await it.ask(strategy="lexical")
    assert [(one.strategy, one.options) for one in it.recalls.asked] == [
        ("synapse", {"preset": "paper", "steps": 3}),
        ("lexical", {}),
    ]


def test_a_sample_is_a_share_of_cues_that_grows_and_stays() -> None:
    cues = [Cue(text=f"cue {number}") for number in range(4_000)]
    tenth = {cue.text for cue in cues if sampled(cue, 0.1)}
    half = {cue.text for cue in cues if sampled(cue, 0.5)}
    assert tenth < half
    assert len(tenth) == pytest.approx(400, abs=80)
    assert len(half) == pytest.approx(2_000, abs=130)
    assert tenth == {cue.text for cue in cues if sampled(cue, 0.1)}
    assert not any(sampled(cue, 0.0) for cue in cues)
    assert all(sampled(cue, 1.0) for cue in cues)
    vectors = [Cue(vector=(float(number), 1.0)) for number in range(1_000)]
    assert sum(sampled(cue, 0.5) for cue in vectors) == pytest.approx(500, abs=80)


def test_the_window_is_bounded_and_the_counts_are_not() -> None:
    tally, one = ShadowStats(), None
    for number in range(WINDOW + 5):
        one = Comparison(
            overlap=float(number >= WINDOW), rank_overlap=1.0, same_first=True,
            same_verdict=number % 2 == 0, rank_difference=None, live_ms=float(number),
            shadow_ms=1.0, live_tokens=1, shadow_tokens=3,
        )  # fmt: skip
        tally.add(one)
    found = tally.report()
    assert (found.compared, found.window) == (WINDOW + 5, WINDOW)
    assert found.overlap == 5 / WINDOW
    assert found.same_verdict == 0.5
    assert found.rank_difference is None
    # Of 5, 6 ... 1004: the middle of the 500th and 501st, and .05 of the way from the 950th.
    assert found.live_p50_ms == pytest.approx(504.5)
    assert found.live_p95_ms == pytest.approx(954.05)


async def test_a_change_counts_at_once_here_and_within_5_s_elsewhere(house: Build) -> None:
    it = house(TenantSettings())
    assert await it.settings.of(MINE) == TenantSettings()
    it.store.kept[MINE] = values_of(ALL)
    it.seconds = 4.9
    assert await it.settings.of(MINE) == TenantSettings()
    it.seconds = 5.0
    assert await it.settings.of(MINE) == ALL
    await it.settings.change(MINE, {"trial": None})
    assert await it.settings.of(MINE) == TenantSettings()
    assert await it.settings.of(OTHER) == TenantSettings()


async def test_promotions_are_undone_one_by_one(house: Build) -> None:
    it = house(TenantSettings())
    with pytest.raises(Conflict):
        await it.settings.promote(MINE)
    for name in ("dense", "lexical"):
        await it.settings.change(MINE, {"trial": {"strategy": name}})
        promoted = (await it.settings.promote(MINE)).settings
        assert promoted.live == Choice(strategy=name)
        assert promoted.trial is None
    assert (await it.settings.roll_back(MINE)).settings.live == DENSE
    assert (await it.settings.roll_back(MINE)).settings == TenantSettings()
    with pytest.raises(Conflict):
        await it.settings.roll_back(MINE)


@pytest.mark.parametrize(
    "choice",
    [
        Choice(strategy="luck"),
        Choice(strategy="synapse", options={"preset": "lucky"}),
        Choice(strategy="synapse", options={"alpha": 99.0}),
        Choice(strategy="dense", options={"luck": 1}),
    ],
)
async def test_what_cannot_run_is_no_shadow(house: Build, choice: Choice) -> None:
    it = house(TenantSettings())
    with pytest.raises(InvalidInput):
        await it.settings.change(MINE, {"trial": asdict(choice)})
    assert it.store.kept == {MINE: {}}


async def test_the_end_waits_for_a_recall_on_its_way_and_takes_no_other(house: Build) -> None:
    it = house(ALL)
    it.recalls.gate.clear()
    on_its_way = asyncio.create_task(it.ask("slow"))
    await asyncio.sleep(0)
    ending = asyncio.create_task(it.service.close())
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="stopping"):
        await it.ask()
    assert not ending.done()
    it.recalls.gate.set()
    await ending
    assert on_its_way.done()
    assert (await on_its_way).strategy == "ecphoria"
    await it.service.drain()
    assert it.recalls.shadowed == []


async def test_the_end_waits_no_longer_than_its_grace(house: Build) -> None:
    it = house(TenantSettings())
    it.recalls.gate.clear()
    on_its_way = asyncio.create_task(it.ask("slow"))
    await asyncio.sleep(0)
    async with asyncio.timeout(10 * GRACE_S):
        await it.service.close()
    assert not on_its_way.done()
    it.recalls.gate.set()
    await on_its_way
