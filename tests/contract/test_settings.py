"""The settings of a tenant on the real server: whole, merged, and never lost."""

import asyncio
from dataclasses import asdict, replace
from typing import Any

import pytest

from ecphoria.errors import NotFound
from ecphoria.jobs.service import ScheduleStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.tenant_settings import SettingsStore
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.settings import (
    Choice,
    DormancyMode,
    DormancyPolicy,
    ExpiryPolicy,
    LearningSwitch,
    Schedule,
    TenantSettings,
    Trial,
)
from ecphoria.records.tenant import Gate, GateFit
from tests.contract.tenants import NOW, gate_values, set_settings

CHOICE = Choice(strategy="synapse", options={"preset": "paper", "steps": 3, "row_guard": False})
FIT = GateFit(
    questions=40, unanswerable=12, auroc=0.9, refused=0.5, false_refusals=0.02,
    data_sha256="a" * 64, fitted_at=NOW,
)  # fmt: skip
GATE = Gate(
    weights={"share": 1.5, "unheard": -0.25}, bias=0.1, threshold=0.2, verify_below=0.4, fit=FIT
)
FULL = TenantSettings(
    gate=GATE,
    dormancy=DormancyPolicy(mode=DormancyMode.OFF, archive_days="never", second_look=True),
    expiry=ExpiryPolicy(days=3.5),
    learning=LearningSwitch(on=True),
    schedule=Schedule(every_hours=1.5, daily_at="03:30"),
    trial=Trial(strategy=CHOICE.strategy, options=CHOICE.options, share=0.25),
    promoted=(CHOICE, Choice(strategy="dense")),
)


async def test_settings_come_back_as_they_were_given_and_go(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    given: dict[str, Any] = {**asdict(FULL), "gate": gate_values(GATE)}
    assert await set_settings(graph, tenant, **given) == FULL
    store = SettingsStore(graph)
    assert (await store.find(tenant)).settings == FULL
    assert (await store.find(other_tenant)).settings == TenantSettings()
    lexicon = await EpisodeReader(graph).lexicon(tenant, [], [])
    assert lexicon.profile.gate == GATE
    assert (await ScheduleStore(graph).find(tenant)).own == FULL.schedule
    reset: dict[str, Any] = dict.fromkeys(given)
    await set_settings(graph, tenant, **reset)
    own = await store.find(tenant)
    assert (own.settings, own.keys) == (TenantSettings(), ())


async def test_a_field_is_changed_and_reset_alone(graph: Graph, tenant: TenantId) -> None:
    await set_settings(graph, tenant, dormancy={"budget": 5, "second_look": True})
    await set_settings(graph, tenant, dormancy={"budget": None, "quiet_days": 1.0})
    own = await SettingsStore(graph).find(tenant)
    assert own.settings.dormancy == DormancyPolicy(second_look=True, quiet_days=1.0)
    assert own.keys == ("dormancy.quiet_days", "dormancy.second_look")


async def test_a_gate_is_replaced_as_a_whole(graph: Graph, tenant: TenantId) -> None:
    await set_settings(graph, tenant, gate=gate_values(GATE))
    other = replace(GATE, weights={"gap": 1.0}, fit=None)
    assert (await set_settings(graph, tenant, gate=gate_values(other))).gate == other


async def test_changes_at_the_same_time_lose_none(graph: Graph, tenant: TenantId) -> None:
    patches: list[dict[str, Any]] = [
        {"dormancy": {"budget": 5}}, {"dormancy": {"quiet_days": 1.0}}, {"expiry": {"days": 9.0}},
        {"learning": {"on": True}}, {"schedule": {"every_hours": 2.0}},
        {"schedule": {"every_episodes": 3}}, {"gate": gate_values(GATE)},
    ]  # fmt: skip
    await asyncio.gather(*(set_settings(graph, tenant, **patch) for patch in patches))
    assert (await SettingsStore(graph).find(tenant)).settings == TenantSettings(
        gate=GATE,
        dormancy=DormancyPolicy(budget=5, quiet_days=1.0),
        expiry=ExpiryPolicy(days=9.0),
        learning=LearningSwitch(on=True),
        schedule=Schedule(every_hours=2.0, every_episodes=3),
    )


async def test_what_a_change_raises_leaves_the_settings(graph: Graph, tenant: TenantId) -> None:
    await set_settings(graph, tenant, expiry={"days": 9.0})
    store = SettingsStore(graph)

    def refuse(_: object) -> dict[str, object]:
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        await store.change(tenant, refuse, NOW)
    assert (await store.find(tenant)).settings.expiry.days == 9.0


async def test_nobody_has_no_settings(graph: Graph) -> None:
    nobody = TenantId(fresh_id())
    with pytest.raises(NotFound):
        await SettingsStore(graph).find(nobody)
    with pytest.raises(NotFound):
        await set_settings(graph, nobody, expiry={"days": 9.0})
