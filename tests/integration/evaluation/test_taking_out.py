"""Evidence taken out of a real store and put back; several sets at once; a gate without labels."""

import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput
from ecphoria.records.calibration import Sample
from ecphoria.records.episode import Episode
from ecphoria_eval.datasets.dataset import Dataset, Suite
from ecphoria_eval.datasets.told_apart import load_any
from ecphoria_eval.evaluate import Wanted, domains, evaluate
from ecphoria_eval.measures import figures
from ecphoria_eval.report import BASELINES, Report
from ecphoria_eval.rows import read_rows, write_rows
from ecphoria_eval.run import Connect, Outcome, own_tenant
from tests.integration.evaluation.conftest import unwatched

SAID = (
    ("user", "I planted forty lavender bushes along the garden wall in Almere."),
    ("assistant", "Water the lavender twice a week until the roots hold."),
    ("user", "My neighbour Tilde lent me her copper watering can."),
    ("assistant", "A copper can keeps algae away, so rinse it only now and then."),
    ("user", "The greenhouse heater failed during the frost on Sunday."),
    ("assistant", "Replace the thermostat first; it is the part that fails most often."),
    ("user", "My neighbour Tilde lent me her copper watering can!"),
    ("assistant", "You mentioned the can before; shall I note when to return it?"),
)
ASKED: tuple[tuple[str, int, list[str], str], ...] = (
    ("Whose watering can did I borrow?", 4, ["D1:3"], "extraction"),
    ("How many lavender bushes did I plant, and how often do they need water?", 1,
     ["D1:1", "D1:2"], "several"),
    ("When did the heater of the greenhouse fail?", 2, ["D1:5"], "time"),
    ("What is the name of my parrot?", 5, [], "abstention"),
)  # fmt: skip


def chat() -> dict[str, Any]:
    turns = [
        {"speaker": speaker, "dia_id": f"D1:{number}", "text": text}
        for number, (speaker, text) in enumerate(SAID, start=1)
    ]
    asked = [
        {"question": text, "category": category, "evidence": evidence, "kind": kind}
        for text, category, evidence, kind in ASKED
    ]
    when = {"session_1_date_time": "9:00 am on 05 April, 2024", "session_1": turns}
    return {"sample_id": "garden", "conversation": when, "qa": asked}


def pool() -> str:
    passages = [
        {"id": 1, "title": "Orlen Mill", "chunk": "A mill built by Vesna Kolar in a valley."},
        {"id": 2, "title": "Vesna Kolar", "chunk": "A builder who was born in Tarn Hollow."},
        {"id": 3, "title": "Tarn Hollow", "chunk": "A village with a salt museum."},
        {"id": 4, "title": "Salt", "chunk": "A mineral used in kitchens."},
    ]
    asked = {
        "id": "q1",
        "question": "Where was the builder of Orlen Mill born?",
        "chunks": passages,
        "supporting_facts": passages[:2],
    }
    return json.dumps(asked)


@pytest.fixture
def data(tmp_path: Path) -> Mapping[str, Dataset]:
    (tmp_path / "garden.json").write_text(json.dumps([chat()]), encoding="utf-8")
    (tmp_path / "mill.jsonl").write_text(pool(), encoding="utf-8")
    return {
        "garden": load_any(tmp_path / "garden.json"),
        "mill": load_any(tmp_path / "mill.jsonl"),
    }


async def measured(
    dataset: Dataset, connect: Connect, *, keep: bool = False
) -> tuple[Report, Outcome]:
    wanted = Wanted(strategies=BASELINES, with_default=True, take_out=True, keep=keep)
    name = f"test-{secrets.token_hex(4)}"
    return await evaluate(
        dataset, wanted, connect, unwatched, name=name, monotonic=time.perf_counter
    )


async def stored(client: AsyncClient) -> list[Episode]:
    return [one async for one in client.list(page_size=1_000)]


async def test_evidence_is_gone_while_it_is_asked_for_and_back_afterwards(
    connect: Connect, data: Mapping[str, Dataset], tmp_path: Path
) -> None:
    dataset = data["garden"]
    assert dataset.suite is Suite.CHATS
    report, outcome = await measured(dataset, connect, keep=True)
    (tenant,) = outcome.tenants
    try:
        without = {row.question: row for row in outcome.rows if row.taken_out}
        assert set(without) == {"0", "1", "2"}
        for row in without.values():
            assert row.error is None
            assert row.ranked
            assert not set(row.ranked) & set(row.gold)
        # The second message about the can says the same: it is evidence, too.
        assert "D1:7" not in without["0"].ranked
        before = next(
            row
            for row in outcome.rows
            if (row.strategy, row.question, row.taken_out) == (report.default, "0", False)
        )
        assert {"D1:3", "D1:7"} <= set(before.ranked)

        async with connect(tenant) as client:
            episodes = await stored(client)
            assert sorted(one.text for one in episodes) == sorted(text for _, text in SAID)
            ordered = sorted(episodes, key=lambda one: (one.ordinal is None, one.ordinal))
            assert [one.text for one in ordered] == [text for _, text in SAID]
            assert {(one.speaker, one.role) for one in episodes} == {
                ("user", "user"), ("assistant", "assistant"),
            }  # fmt: skip
            again = await client.recall(ASKED[0][0], k=50, record=False)
            assert SAID[2][1] in {hit.episode.text for hit in again.hits}
    finally:
        async with connect(None) as operator:
            await operator.admin.erase_tenant(tenant)

    rows_file = tmp_path / "rows.jsonl"
    write_rows(rows_file, outcome.rows)
    rows = list(read_rows(rows_file))
    for name, found in report.strategies.items():
        own = [row for row in rows if row.strategy == name]
        assert figures(own, Suite.CHATS).entry() == found.entry()
    judged = report.strategies[report.default].abstention
    assert judged is not None
    assert judged.taken_out is not None
    assert judged.taken_out.n == 3
    assert set(report.strategies["ecphoria"].by_kind or {}) == {"extraction", "several", "time"}


async def test_several_sets_are_measured_together(
    connect: Connect, data: Mapping[str, Dataset]
) -> None:
    reports = {name: (await measured(one, connect))[0] for name, one in data.items()}
    found = domains(reports)
    gains = [one.gain for one in found if one.gain is not None]
    assert len(gains) == 2
    assert gains == sorted(gains)
    pools = reports["mill"].strategies["ecphoria"].abstention
    assert pools is not None
    assert (pools.auroc, pools.taken_out is not None) == (None, True)
    assert reports["mill"].strategies["dense"].abstention is None


async def test_a_pool_is_whole_again_after_its_passages_were_taken_out(
    connect: Connect, data: Mapping[str, Dataset]
) -> None:
    _, outcome = await measured(data["mill"], connect, keep=True)
    (tenant,) = outcome.tenants
    try:
        (row,) = [row for row in outcome.rows if row.taken_out]
        assert set(row.ranked) == {"2", "3"}
        async with connect(tenant) as client:
            titles = sorted(str(one.title) for one in await stored(client))
            assert titles == ["Orlen Mill", "Salt", "Tarn Hollow", "Vesna Kolar"]
    finally:
        async with connect(None) as operator:
            await operator.admin.erase_tenant(tenant)


async def test_excluded_episodes_neither_come_up_nor_help_others(connect: Connect) -> None:
    name = f"test-{secrets.token_hex(4)}"
    async with own_tenant(connect, name) as client:
        for place, (speaker, text) in enumerate(SAID):
            await client.remember(text, speaker=speaker, role=speaker, session="s", position=place)
        ids = {one.text: one.id for one in await stored(client)}
        cue = "Who lent me the copper watering can?"
        both = [ids[SAID[2][1]], ids[SAID[6][1]]]
        for strategy in await client.strategies():
            found = await client.recall(
                cue, strategy=strategy.name, k=50, record=False, collapse=False, exclude=both
            )
            assert found.hits, strategy.name
            assert not {hit.episode.id for hit in found.hits} & set(both), strategy.name
        with_them = await client.recall(cue, k=50, record=False, collapse=False)
        without = await client.recall(cue, k=50, record=False, collapse=False, exclude=both)
        later = await client.recall(
            cue, k=50, record=False, collapse=False, exclude=both, include_dormant=True,
            as_of=max(one.recorded_at for one in await stored(client)),
        )  # fmt: skip
        assert not {hit.episode.id for hit in later.hits} & set(both)

        raw = {hit.episode.id: hit for hit in with_them.hits}
        assert set(both) <= set(raw)
        assert without.evidence != with_them.evidence
        assert without.confidence < with_them.confidence
        unknown = await client.recall(cue, k=50, record=False, collapse=False, exclude=["0" * 32])
        assert [hit.episode.id for hit in unknown.hits] == [
            hit.episode.id for hit in with_them.hits
        ]
        with pytest.raises(InvalidInput, match="exclude"):
            await client.recall(cue, exclude=["0" * 32] * 1_001)
        with pytest.raises(InvalidInput, match="exclude"):
            await client.recall(cue, exclude=["not an id"])
        assert len(await stored(client)) == len(SAID)


async def test_a_store_makes_its_own_questions_and_keeps_its_memories(connect: Connect) -> None:
    things = [
        "kayak",
        "lantern",
        "orchard",
        "chimney",
        "violin",
        "ferry",
        "cactus",
        "helmet",
        "kettle",
        "anchor",
    ]
    places = [
        "Oslo",
        "Ghent",
        "Porto",
        "Turin",
        "Malmo",
        "Graz",
        "Leeds",
        "Brno",
        "Cadiz",
        "Split",
    ]
    name = f"test-{secrets.token_hex(4)}"
    async with own_tenant(connect, name) as client:
        for number, (thing, place) in enumerate(zip(things, places, strict=True)):
            for _ in range(3):
                await client.remember(
                    f"My cousin repaired the old {thing} and sold it quickly in {place}.",
                    speaker="user", role="user", session=f"s{number}",
                )  # fmt: skip
            await client.remember("Thanks!", speaker="user", role="user", session=f"s{number}")
        before = [(one.id, one.text) for one in await stored(client)]
        found = await client.admin.calibrate(memories=100, seed=1, judged=True)
        assert [one.answerable for one in found.judged] == [True, False] * 30
        assert found.findings == {}
        pairs = list(zip(found.judged[0::2], found.judged[1::2], strict=True))
        assert all(one.evidence != other.evidence for one, other in pairs)
        # Of a memory that was stored three times, no copy answers the question.
        assert found.auroc > 0.9
        assert [(one.id, one.text) for one in await stored(client)] == before
        assert not (await client.settings.get()).own
        samples = [
            Sample(evidence=one.evidence, answerable=one.answerable) for one in found.judged
        ]
        again = await client.admin.fit_gate(samples)
        assert (again.gate.weights, again.auroc) == (found.gate.weights, found.auroc)
        assert again.judged == ()
        with pytest.raises(InvalidInput, match="here are 9 and 30"):
            await client.admin.fit_gate([*samples[0:18:2], *samples[1::2]])
