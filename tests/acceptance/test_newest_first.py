"""What changed stands first: a later memory is lifted above the one that it makes outdated."""

from typing import Any

import pytest

from tests.acceptance.conftest import Owner

DAYS = ("2025-01-10T10:00Z", "2025-03-10T10:00Z", "2025-06-10T10:00Z")
CUE = "How much is my rent?"


def tell(owner: Owner, *texts: str, speaker: str = "Ana", **more: Any) -> list[str]:
    return [
        owner.remember(
            text, speaker=speaker, role="user", session=f"s{place}", occurred_at=DAYS[place],
            **more,
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip


def recall(owner: Owner, cue: str = CUE, **body: object) -> dict[str, Any]:
    answer = owner.post("/v1/recall", json={"cue": cue, "asker": "Ana", **body})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def order(told: dict[str, Any]) -> list[str]:
    return [hit["episode"]["id"] for hit in told["hits"]]


def marks(told: dict[str, Any]) -> dict[str, str]:
    return {
        hit["episode"]["id"]: hit["outdated_by"]
        for hit in told["hits"]
        if hit.get("outdated_by") is not None
    }


@pytest.mark.parametrize("strategy", ["ecphoria", "fusion", "lexical"])
def test_the_newest_value_stands_above_and_the_older_one_is_marked(
    owner: Owner, strategy: str
) -> None:
    old, new = tell(owner, "My rent is 800 euros.", "The landlord raised my rent to 950 euros.")
    told = recall(owner, strategy=strategy)
    assert order(told) == [new, old]
    assert marks(told) == {old: new}
    assert "800 euros. [outdated by 1]" in told["context"]
    assert "Hit 2 is outdated by hit 1." in told["reasons"]
    for hit in told["hits"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-9)
    plain = recall(owner, strategy=strategy, newest_first=False)
    assert marks(plain) == {}
    assert "outdated" not in plain["context"]
    unraised = sorted(hit["score"] - hit["parts"].get("newest", 0.0) for hit in told["hits"])
    assert sorted(hit["score"] for hit in plain["hits"]) == pytest.approx(unraised, abs=1e-9)


def test_a_change_in_another_language_is_found_below_the_first_hits(owner: Owner) -> None:
    old, new = tell(owner, "J'habite à Lille, près du canal.", "Nous avons déménagé à Metz.")
    for place in range(30):
        tell(owner, f"La cigogne {place} habite où coule le canal numéro {place}.")
    told = recall(owner, "J'habite où ?", k=40, collapse=False)
    assert marks(told) == {old: new}
    assert order(told).index(new) < order(told).index(old)


def test_a_cue_about_the_past_keeps_the_order_and_the_marks(owner: Owner) -> None:
    old, new = tell(owner, "My rent is 800 euros.", "They raised my rent to 950 euros.")
    cue = "How has my rent changed, 800 euros?"
    told, plain = recall(owner, cue), recall(owner, cue, newest_first=False)
    assert order(told) == order(plain) == [old, new]
    assert marks(told) == {old: new}


@pytest.mark.parametrize(
    ("cue", "wanted"),
    [
        ("What was my old rent, not 1100 euros?", 1),
        ("What did my rent use to be, before 1100 euros?", 1),
        ("What was my rent originally, not 1100 euros?", 0),
        ("How old is the contract with a rent of 800 euros?", 2),
    ],
)
def test_a_cue_for_the_former_value_gets_it_first(owner: Owner, cue: str, wanted: int) -> None:
    values = tell(
        owner, "My rent is 800 euros.", "My rent is 950 euros.", "My rent is 1100 euros."
    )
    told = recall(owner, cue)
    place = {one: at for at, one in enumerate(order(told))}
    assert place[values[wanted]] <= place[values[2]]
    assert marks(told) == {values[0]: values[2], values[1]: values[2]}
    for hit in told["hits"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-9)


def test_the_newest_of_several_values_outdates_all_others(owner: Owner) -> None:
    first, second, third = tell(
        owner, "My rent is 800 euros.", "My rent is 950 euros.", "My rent is 1100 euros."
    )
    told = recall(owner)
    assert order(told)[0] == third
    assert marks(told) == {first: third, second: third}


def test_only_what_the_cue_asks_for_is_outdated(owner: Owner) -> None:
    old, new = tell(
        owner, "My landlord is Bo Lind; my rent is 800 euros.", "They raised my rent to 950 euros."
    )
    assert marks(recall(owner)) == {old: new}
    told = recall(owner, "Who is my landlord?")
    assert order(told)[0] == old
    assert marks(told) == {}


def test_a_cue_that_asks_as_much_for_what_holds_moves_nothing(owner: Owner) -> None:
    both, new = tell(
        owner, "My sister Ines lives in Graz and works as a vet.", "Ines moved to Linz in March."
    )
    assert marks(recall(owner, "Where does Ines live?")) == {both: new}
    assert marks(recall(owner, "What does my sister do?")) == {}


def test_a_value_that_is_said_again_is_not_outdated(owner: Owner) -> None:
    _, second, third = tell(
        owner, "My rent is 800 euros.", "My rent is 950 euros.", "My rent is 800 euros."
    )
    told = recall(owner)
    (outdated,) = marks(told)
    assert outdated == second
    kept = next(hit for hit in told["hits"] if hit["episode"]["id"] != second)
    assert third in (kept["episode"]["id"], *kept["copies"])


def test_another_speaker_changes_nothing(owner: Owner) -> None:
    tell(owner, "My rent is 800 euros.")
    tell(owner, "I said so.", "They raised my rent to 950 euros.", speaker="Ben")
    assert marks(recall(owner)) == {}


def test_lists_and_events_change_nothing(owner: Owner) -> None:
    tell(owner, "I bought a lamp.", "I bought a chair.", "I bought a rug.")
    assert marks(recall(owner, "What did I buy?")) == {}


@pytest.mark.parametrize("hide", ["exclude", "before", "session", "as_of", "erased"])
def test_a_hidden_memory_outdates_nothing(owner: Owner, hide: str) -> None:
    old, new = tell(owner, "My rent is 800 euros.", "They raised my rent to 950 euros.")
    views: dict[str, dict[str, Any]] = {
        "exclude": {"filters": {"exclude": [new]}},
        "before": {"filters": {"occurred_before": "2025-02-01T00:00Z"}},
        "session": {"filters": {"session": "s0"}},
        "as_of": {"as_of": "2025-02-01T00:00Z"},
        "erased": {},
    }
    if hide == "erased":
        owner.delete(f"/v1/episodes/{new}")
    told = recall(owner, **views[hide])
    assert order(told) == [old]
    assert marks(told) == {}
    assert new not in str(told)
    assert "outdated" not in told["context"]


def test_facts_decide_where_there_are_facts(owner: Owner) -> None:
    def lives(city: str) -> dict[str, Any]:
        return {"facts": [{"subject": "Ana", "predicate": "lives in", "object": city}]}

    (old,) = tell(owner, "Oslo is my town.", extraction=lives("Oslo"))
    new = owner.remember(
        "So it is Bergen.", speaker="Ana", role="user", session="s9", occurred_at=DAYS[2],
        extraction=lives("Bergen"),
    )  # fmt: skip
    told = recall(owner, "Which is my town, Oslo or Bergen?")
    assert marks(told) == {old: new}
    assert order(told).index(new) < order(told).index(old)
