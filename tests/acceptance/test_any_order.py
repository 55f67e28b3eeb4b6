"""Calls in any order leave the memory that a simple model of it predicts.

Hypothesis makes up histories of one tenant: appends, repeats of keys, recalls, erasures, sleep,
archive, consolidation, merges, decisions, feedback, restarts of the service. After every step the
lists, the counts and a recall of unique words are compared with the model, and the doctor looks. A
history that fails is shrunk and printed as a program. `ECPHORIA_TEST_STEPS=2000` makes a long run;
`ECPHORIA_TEST_SEED` chooses other histories.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ecphoria.app import STRATEGIES
from ecphoria.settings import JobsSettings, Settings
from tests.acceptance.answers import ended
from tests.acceptance.conftest import Owner, RunningService, problem, running, settings_for
from tests.conftest import Server

STEPS = int(os.environ.get("ECPHORIA_TEST_STEPS", "0"))  # noqa: TID251
SEED = os.environ.get("ECPHORIA_TEST_SEED", "5")  # noqa: TID251
LENGTH = 100 if STEPS else 24
HISTORIES = -(-STEPS // LENGTH) if STEPS else 5
EXAMINED = 1 if STEPS else 3
"""The doctor comes after so many steps."""

NAMES = ("Marek Novak", "Ilse Brandt", "Novak Marek", "Tomas Rivera")
SESSIONS = ("harbour", "mill")
KEYS = tuple(f"key-{number}" for number in range(8))
THINGS = ("the old boat", "the boat house by the pier", "the hotel kitchen")
CYCLE = (
    "expire", "embed", "merge", "engrams", "associate", "prior", "decay", "prune", "dormancy",
    "archive", "supersede", "replay", "clusters",
)  # fmt: skip
RELATIONS = ("lives in", "works at")
PLACES = ("Trieste", "Bergen", "Lisbon")

Body = dict[str, Any]


@dataclass
class Kept:
    """What the model knows of one episode."""

    id: str
    marker: str
    body: Body
    state: str = "live"
    pinned: bool = False


@dataclass
class Model:
    """What must be stored.

    Attributes:
        kept: Episodes by id, in the order of their appends.
        keys: Body and id by the idempotency key that was used last.
        refused: Keys of erased episodes.
        erased: Markers of erased episodes.
    """

    kept: dict[str, Kept] = field(default_factory=dict)
    keys: dict[str, tuple[Body, str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    erased: list[str] = field(default_factory=list)

    def ids(self, *states: str) -> set[str]:
        return {one.id for one in self.kept.values() if one.state in states}

    def erase(self, ident: str) -> None:
        gone = self.kept.pop(ident)
        self.erased.append(gone.marker)
        key = gone.body.get("idempotency_key")
        if key is not None:
            self.refused.add(key)


class House:
    """A service that can be restarted, and what was done to it."""

    def __init__(self, wanted: Settings) -> None:
        self._settings = wanted
        self._running: AbstractContextManager[RunningService] | None = None
        self._service: RunningService | None = None
        self.steps: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.tenants = 0

    @property
    def url(self) -> str:
        assert self._service is not None
        return self._service.url

    @property
    def key(self) -> str:
        assert self._service is not None
        return self._service.key

    def start(self) -> None:
        self._running = running(self._settings)
        self._service = self._running.__enter__()

    def stop(self) -> None:
        assert self._running is not None
        self._running.__exit__(None, None, None)

    def operator(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def open_tenant(self, name: str) -> Owner:
        with self.operator() as operator:
            made = operator.post("/v1/tenants", json={"name": name})
            assert made.status_code == 201, made.text
            issued = operator.post(
                "/v1/keys",
                json={"name": "test", "scopes": ["read", "write", "admin"]},
                headers={"Ecphoria-Tenant": name},
            )
            assert issued.status_code == 201, issued.text
        return Owner(self.url, name, issued.json()["secret"])

    def erase_tenant(self, name: str) -> dict[str, int]:
        with self.operator() as operator:
            answer = operator.delete(f"/v1/tenants/{name}")
            assert answer.status_code == 200, answer.text
            return dict(answer.json()["removed"])


hours = st.integers(0, 60)
bodies = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "other": st.sampled_from(NAMES),
        "thing": st.sampled_from(THINGS),
        "shape": st.sampled_from(("turn", "turn", "turn", "note", "page", "long")),
        "session": st.sampled_from(SESSIONS),
        "hour": hours,
        "fact": st.none() | st.tuples(st.sampled_from(RELATIONS), st.sampled_from(PLACES)),
        "key": st.none() | st.sampled_from(KEYS),
    }
)
places = st.integers(0, 2**16)
"""One of what there is, by its place; counted round."""
several = st.lists(places, min_size=1, max_size=4)
cues = st.fixed_dictionaries(
    {
        "who": st.sampled_from(NAMES),
        "strategy": st.sampled_from(sorted(STRATEGIES)),
        "wake": st.booleans(),
        "as_of": st.none() | hours,
        "speaker": st.none() | st.sampled_from(NAMES),
    }
)
policies = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(("off", "budget", "threshold")),
        "budget": st.integers(1, 12),
        "quiet_days": st.just(0),
        "archive_days": st.sampled_from(("never", 0, 90)),
        "second_look": st.booleans(),
    }
).map(lambda policy: {"dormancy": policy})
switches = st.booleans().map(lambda on: {"learning": {"on": on}})
classes = st.tuples(
    st.sampled_from(RELATIONS), st.sampled_from(("functional", "immutable", "multi"))
).map(lambda drawn: (f"predicates/{drawn[0]}", {"predicate_class": drawn[1]}))


class AnyOrder(RuleBasedStateMachine):
    """One tenant's history."""

    house: ClassVar[House]

    def __init__(self) -> None:
        super().__init__()
        self.house.tenants += 1
        self.name = f"any-order-{self.house.tenants}-{time.time_ns():x}"
        self.owner = self.house.open_tenant(self.name)
        self.model = Model()
        # A history may depend on nothing but itself, or it could not be repeated and shrunk.
        self.steps: Counter[str] = Counter()
        self.appended = 0
        self.traces: list[tuple[str, list[str]]] = []
        self.decisions: list[str] = []
        self.second_look = False
        self.step = "initialize"
        self.begun = time.monotonic()

    # What the rules share.

    def did(self, what: str) -> None:
        self.step = what
        self.steps[what] += 1
        self.house.steps[what] += 1

    def seldom(self, what: str) -> bool:
        return self.steps[what] * 40 < sum(self.steps.values())

    def one_of(self, place: int) -> Kept:
        found = list(self.model.kept.values())
        return found[place % len(found)]

    def some_of(self, chosen: Sequence[int]) -> list[str]:
        return sorted({self.one_of(place).id for place in chosen})

    def call(self, method: str, path: str, expected: int, **more: Any) -> Any:
        answer = self.owner.request(method, path, **more)
        assert answer.status_code == expected, (method, path, more, answer.text)
        return answer.json() if answer.content else None

    def made(self, drawn: Body) -> Body:
        """Write an episode that no other is like, of words that all share."""
        self.appended += 1
        marker, name = f"zq{self.appended}xv", drawn["name"]
        text = f"{name} painted {drawn['thing']}; {drawn['other']} helped. {marker}"
        body: Body = {
            "text": text,
            "occurred_at": f"2024-03-{1 + drawn['hour'] // 24:02}T{drawn['hour'] % 24:02}:00:00Z",
            "metadata": {"marker": marker},
        }
        if drawn["shape"] in {"turn", "long"}:
            body |= {"session": drawn["session"], "speaker": name, "role": "user"}
        if drawn["shape"] == "page":
            body["title"] = name
        if drawn["shape"] == "long":
            body["text"] = f"{drawn['other']} looked after {drawn['thing']} all day. " * 40 + text
        if drawn["fact"] is not None:
            predicate, thing = drawn["fact"]
            stated = {"subject": name, "predicate": predicate, "object": thing}
            body["extraction"] = {"names": [name, thing], "facts": [stated]}
        if drawn["key"] is not None:
            body["idempotency_key"] = drawn["key"]
        return body

    def sent(self, body: Body) -> int:
        """Predict the status of an append."""
        key = body.get("idempotency_key")
        if key in self.model.refused:
            return 410
        if key not in self.model.keys:
            return 201
        return 200 if self.model.keys[key][0] == body else 409

    def stored(self, body: Body, ident: str) -> None:
        assert ident not in self.model.kept
        self.model.kept[ident] = Kept(ident, body["metadata"]["marker"], body)
        if (key := body.get("idempotency_key")) is not None:
            self.model.keys[key] = (body, ident)

    def send(self, body: Body) -> None:
        expected = self.sent(body)
        told = self.call("POST", "/v1/episodes", expected, json=body)
        if expected == 201:
            assert told["outcome"] == "created"
            self.stored(body, told["id"])
        elif expected == 200:
            assert (told["id"], told["outcome"]) == (
                self.model.keys[body["idempotency_key"]][1], "existed",
            )  # fmt: skip
        self.thawed()

    def thawed(self) -> None:
        """Adopt what a change of a session brought back from the archive: its neighbours."""
        for one in self.model.kept.values():
            if one.state == "archived":
                now = self.call("GET", f"/v1/episodes/{one.id}", 200)["state"]
                assert now in {"archived", "dormant"}
                one.state = now

    def erase(self, idents: Sequence[str]) -> None:
        for ident in idents:
            self.call("DELETE", f"/v1/episodes/{ident}", 204)
            self.model.erase(ident)
            problem(self.owner.get(f"/v1/episodes/{ident}"), 404, "not-found")
            problem(self.owner.delete(f"/v1/episodes/{ident}"), 404, "not-found")
            assert self.call("POST", "/v1/dormancy/wake", 200, json={"ids": [ident]})["ids"] == []
        self.thawed()

    # Writing and erasing.

    @initialize(drawn=st.lists(bodies, min_size=2, max_size=5))
    def begin(self, drawn: list[Body]) -> None:
        for one in drawn:
            self.send(self.made(one))

    @rule(drawn=bodies)
    def append(self, drawn: Body) -> None:
        self.did("append")
        self.send(self.made(drawn))

    @rule(drawn=st.lists(bodies, min_size=1, max_size=4))
    def append_a_batch(self, drawn: list[Body]) -> None:
        self.did("batch")
        items = [self.made(one) for one in drawn]
        told = self.call("POST", "/v1/episodes/batch", 200, json={"episodes": items})
        for body, result in zip(items, told["results"], strict=True):
            expected = self.sent(body)
            if expected == 201:
                assert result["outcome"] == "created", result
                self.stored(body, result["id"])
            else:
                assert result["problem"]["status"] == expected, result
        self.thawed()

    @precondition(lambda self: self.model.keys)
    @rule(place=places, changed=st.booleans())
    def repeat_a_key(self, place: int, changed: bool) -> None:
        self.did("repeat a key")
        found = list(self.model.keys.values())
        body = found[place % len(found)][0]
        self.send(body | {"text": body["text"] + " Again."} if changed else body)

    @precondition(lambda self: self.model.kept)
    @rule(place=places)
    def erase_one(self, place: int) -> None:
        self.did("erase one")
        self.erase([self.one_of(place).id])

    @rule(whose=st.sampled_from((*SESSIONS, *NAMES)))
    def erase_a_session_or_a_speaker(self, whose: str) -> None:
        """There is one call for an episode: who erases more of them lists them first."""
        named = "session" if whose in SESSIONS else "speaker"
        self.did(f"erase a {named}")
        found = [one.id for one in self.model.kept.values() if one.body.get(named) == whose]
        if named == "session":
            query: dict[str, str | int] = {"session": whose, "limit": 1000}
            listed = self.call("GET", "/v1/episodes", 200, params=query)["items"]
            assert [one["id"] for one in listed] == found
        self.erase(found)

    @precondition(lambda self: self.appended > 8 and self.seldom("erase the tenant"))
    @rule()
    def erase_the_tenant(self) -> None:
        self.did("erase the tenant")
        removed = self.house.erase_tenant(self.name)
        assert (removed["episodes"], removed["remaining"]) == (len(self.model.kept), 0)
        problem(self.owner.get("/v1/stats"), 401, "unauthenticated")
        self.owner.close()
        self.owner = self.house.open_tenant(self.name)
        erased = [*self.model.erased, *(one.marker for one in self.model.kept.values())]
        self.model = Model(erased=erased)
        self.traces, self.decisions, self.second_look = [], [], False

    # Sleeping.

    @precondition(lambda self: self.model.kept)
    @rule(chosen=several)
    def sleep(self, chosen: list[int]) -> None:
        self.did("sleep")
        asked = self.some_of(chosen)
        slept = self.call("POST", "/v1/dormancy/sleep", 200, json={"ids": asked})["ids"]
        kept = self.model.kept
        assert slept == [
            one for one in asked if kept[one].state == "live" and not kept[one].pinned
        ]
        for one in slept:
            kept[one].state = "dormant"

    @precondition(lambda self: self.model.kept)
    @rule(chosen=several)
    def wake(self, chosen: list[int]) -> None:
        self.did("wake")
        asked = self.some_of(chosen)
        woken = self.call("POST", "/v1/dormancy/wake", 200, json={"ids": asked})["ids"]
        assert woken == [one for one in asked if self.model.kept[one].state != "live"]
        for one in woken:
            self.model.kept[one].state = "live"

    @precondition(lambda self: self.model.kept)
    @rule(place=places, pinned=st.booleans())
    def pin(self, place: int, pinned: bool) -> None:
        self.did("pin")
        one = self.one_of(place)
        self.call("PUT" if pinned else "DELETE", f"/v1/episodes/{one.id}/pin", 204)
        one.pinned = pinned

    @precondition(lambda self: self.model.kept)
    @rule()
    def archive(self) -> None:
        self.did("archive")
        dormant = self.model.ids("dormant")
        told = self.call("POST", "/v1/archive", 200, json={"days": 0})
        assert told == {"archived": len(dormant)}
        for one in dormant:
            self.model.kept[one].state = "archived"

    @precondition(lambda self: self.model.kept)
    @rule(chosen=several)
    def restore(self, chosen: list[int]) -> None:
        self.did("restore")
        asked = self.some_of(chosen)
        told = self.call("POST", "/v1/archive/restore", 200, json={"ids": asked})
        archived = [one for one in asked if self.model.kept[one].state == "archived"]
        assert told == {"restored": archived, "damaged": []}
        for one in archived:
            self.model.kept[one].state = "dormant"

    # Consolidation, and what is decided by hand.

    @rule(
        steps=st.just(()) | st.lists(st.sampled_from(CYCLE), min_size=1, max_size=2),
        dry_run=st.sampled_from((False, False, False, True)),
    )
    def consolidate(self, steps: Sequence[str], dry_run: bool) -> None:
        self.did("dry run" if dry_run else f"consolidate {'in part' if steps else 'all'}")
        body = {"steps": sorted(set(steps)), "dry_run": dry_run}
        queued = self.owner.post("/v1/consolidation", json=body)
        assert queued.status_code == 202, queued.text
        job = ended(self.owner, queued.headers["Location"])
        assert job["state"] == "done", job
        ran = {step["name"]: step for step in job["report"]["steps"]}
        assert set(ran) == set(steps or CYCLE)
        assert {step["status"] for step in ran.values()} == {"done"}
        if not dry_run:
            told = [ran.get(step, {"counts": {}})["counts"] for step in ("dormancy", "archive")]
            expected = (told[0].get("dormant", 0), told[1].get("archived", 0))
            assert self.forgotten() == expected

    def forgotten(self) -> tuple[int, int]:
        """Adopt what a cycle put to sleep and archived, and count it."""
        slept = archived = 0
        for one in self.model.kept.values():
            now = self.call("GET", f"/v1/episodes/{one.id}", 200)["state"]
            slept += one.state == "live" and now != "live"
            archived += one.state != "archived" and now == "archived"
            if now != one.state:
                assert (one.state, now) in {
                    ("live", "dormant"), ("live", "archived"), ("dormant", "archived"),
                }, one  # fmt: skip
                assert not (one.pinned and one.state == "live"), one
            one.state = now
        return slept, archived

    @rule(place=places, choice=st.integers(0, 2), which=st.sampled_from(("merge", "fact", "undo")))
    def decide(self, place: int, choice: int, which: str) -> None:
        """Decide about a merge or a fact, or take a decision back, if there is any."""
        if which == "merge":
            self.decide_about_a_merge(place, ("accepted", "rejected", "proposed")[choice])
        elif which == "fact":
            self.correct_a_fact(place, ("retract", "set_interval", "set_interval")[choice])
        elif self.decisions:
            answer = self.owner.post(f"/v1/decisions/{self.decisions.pop()}/undo", json={})
            # A decision goes with the facts that it was about.
            assert answer.status_code in {201, 404}, answer.text
            self.did("undo")

    def decide_about_a_merge(self, place: int, status: str) -> None:
        found = self.call("GET", "/v1/merges", 200)["items"]
        if found:
            self.did("merge")
            pair = {name: found[place % len(found)][name] for name in ("one", "other")}
            decided = self.call("PUT", "/v1/merges", 200, json={**pair, "status": status})
            assert decided["status"] == status

    def correct_a_fact(self, place: int, ruling: str) -> None:
        found = self.call("GET", "/v1/facts", 200)["items"]
        if found:
            self.did("correct a fact")
            body = {"ruling": ruling, "why": "so it is"}
            if ruling == "set_interval":
                body |= {"valid_from": "2024-03-01T00:00:00Z", "valid_to": "2024-03-02T00:00:00Z"}
            fact = found[place % len(found)]["id"]
            made = self.call("POST", f"/v1/facts/{fact}/decisions", 201, json=body)
            self.decisions.append(made["id"])

    @rule(wanted=policies | switches)
    def change_settings(self, wanted: Body) -> None:
        self.did(f"set {', '.join(wanted)}")
        found = self.call("PATCH", "/v1/settings", 200, json=wanted)
        self.second_look = found["dormancy"]["second_look"]

    @rule(wanted=classes)
    def set_class(self, wanted: tuple[str, Body]) -> None:
        path, body = wanted
        self.did("set predicates")
        self.call("PUT", f"/v1/{path}", 200, json=body)

    # Recall.

    @rule(asked=cues)
    def recall(self, asked: Body) -> None:
        self.wake_by_a_cue(asked, include_dormant=False)

    @rule(asked=cues)
    def recall_what_sleeps(self, asked: Body) -> None:
        self.wake_by_a_cue(asked, include_dormant=True)

    @rule(asked=cues, useful=places)
    def recall_and_judge(self, asked: Body, useful: int) -> None:
        self.wake_by_a_cue(asked, include_dormant=False)
        self.judge(*self.traces[-1], useful)

    def wake_by_a_cue(self, asked: Body, *, include_dormant: bool) -> None:
        who, strategy, wake = asked["who"], asked["strategy"], asked["wake"]
        as_of, speaker = asked["as_of"], asked["speaker"]
        self.did(f"recall by {strategy}")
        body: Body = {
            "cue": f"What did {who} paint, and where does {who} live?", "strategy": strategy,
            "include_dormant": include_dormant, "wake": wake, "k": 200,
        }  # fmt: skip
        instant = None
        if as_of is not None:
            instant = f"2024-03-{1 + as_of // 24:02}T{as_of % 24:02}:00:00Z"
            body["as_of"] = instant
        if speaker is not None:
            body["filters"] = {"speaker": speaker}
        told = self.call("POST", "/v1/recall", 200, json=body)
        states = {"live", "dormant"} if include_dormant or self.second_look else {"live"}
        found = self.known(told["hits"], states)
        for ident in found:
            hit = self.model.kept[ident].body
            assert instant is None or hit["occurred_at"] <= instant
            assert speaker is None or hit.get("speaker") == speaker
        may_wake = wake or told["second_look"]
        assert set(told["woken"]) <= (self.model.ids("dormant") if may_wake else set())
        for ident in told["woken"]:
            self.model.kept[ident].state = "live"
        self.traces.append((told["trace_id"], found))

    def known(self, hits: Sequence[Body], states: set[str]) -> list[str]:
        """Check that every hit is a stored episode, whole; the copies of a hit too."""
        for hit in hits:
            one = self.model.kept[hit["episode"]["id"]]
            assert hit["episode"]["text"] == one.body["text"]
            assert one.state in states, one
            assert set(hit["copies"]) <= self.model.kept.keys()
        found = [hit["episode"]["id"] for hit in hits]
        assert len(found) == len(set(found))
        return found

    @precondition(lambda self: self.traces)
    @rule(place=places, useful=places)
    def judge_an_earlier_recall(self, place: int, useful: int) -> None:
        self.judge(*self.traces[place % len(self.traces)], useful)

    def judge(self, trace: str, hits: Sequence[str], useful: int) -> None:
        hits = [one for one in hits if one in self.model.kept]
        if hits:
            self.did("feedback")
            named = {"useful": [hits[useful % len(hits)]], "not_useful": []}
            answer = self.owner.post(f"/v1/traces/{trace}/feedback", json=named)
            # A second judgement of a hit is refused only if it contradicts the first.
            assert answer.status_code == 200, answer.text
            assert [one["episode"] for one in answer.json()["episodes"]] == named["useful"]

    @precondition(lambda self: self.seldom("restart"))
    @rule()
    def restart(self) -> None:
        self.did("restart")
        self.owner.close()
        self.house.stop()
        self.house.start()
        self.owner = Owner(self.house.url, self.name, self.owner.key)

    # What holds after every step.

    @invariant()
    def the_memory_is_the_models(self) -> None:
        begun = time.monotonic()
        self.house.seconds[self.step] += begun - self.begun  # type: ignore[assignment]
        self.the_lists_are_right()
        self.the_counts_are_right()
        self.unique_words_find_what_lives()
        self.facts_have_their_evidence()
        looked = time.monotonic()
        if sum(self.house.steps.values()) % EXAMINED == 0:
            self.the_doctor_finds_nothing()
        self.begun = time.monotonic()
        self.house.seconds["comparing"] += looked - begun  # type: ignore[assignment]
        self.house.seconds["doctor"] += self.begun - looked  # type: ignore[assignment]

    def the_doctor_finds_nothing(self) -> None:
        examined = self.call("GET", "/v1/doctor", 200)
        assert examined["is_healthy"], (self.step, examined["findings"])

    def the_lists_are_right(self) -> None:
        listed = self.call("GET", "/v1/episodes", 200, params={"limit": 1000})["items"]
        kept = list(self.model.kept.values())
        assert [one["id"] for one in listed] == [one.id for one in kept], self.step
        for found, one in zip(listed, kept, strict=True):
            assert found["state"] == one.state, (self.step, one)
            for name in ("session", "speaker", "title", "role"):
                assert found.get(name) == one.body.get(name), self.step
            if one.state != "archived":
                for name in ("text", "metadata"):
                    assert found[name] == one.body[name], self.step
        asleep = self.call("GET", "/v1/dormancy", 200, params={"limit": 1000})["items"]
        assert {one["id"] for one in asleep} == self.model.ids("dormant"), self.step

    def the_counts_are_right(self) -> None:
        stats = self.call("GET", "/v1/stats", 200)
        told = [stats[name] for name in ("episodes", "dormant", "archived")]
        ids = self.model.ids
        expected = [len(self.model.kept), len(ids("dormant")), len(ids("archived"))]
        assert told == expected, self.step
        turns = Counter(
            one.body["session"] for one in self.model.kept.values() if "session" in one.body
        )
        sessions = self.call("GET", "/v1/sessions", 200)["items"]
        assert {one["name"]: one["episodes"] for one in sessions} == turns, self.step

    def unique_words_find_what_lives(self) -> None:
        """Recall by the words of the newest living, the newest asleep and the last erased."""
        for state in ("live", "dormant", "archived"):
            found = [one for one in self.model.kept.values() if one.state == state]
            if found:
                hits = self.recalled(found[-1].marker)
                assert (found[-1].id in hits) is (state == "live"), (self.step, found[-1])
        for marker in self.model.erased[-1:]:
            self.recalled(marker)

    def recalled(self, marker: str) -> list[str]:
        body = {"cue": marker, "strategy": "lexical", "k": 200, "record": False}
        told = self.call("POST", "/v1/recall", 200, json=body)
        return self.known(told["hits"], {"live", "dormant"} if self.second_look else {"live"})

    def facts_have_their_evidence(self) -> None:
        for fact in self.call("GET", "/v1/facts", 200, params={"limit": 1000})["items"]:
            assert fact["episodes"], self.step
            assert set(fact["episodes"]) <= self.model.kept.keys(), self.step

    def teardown(self) -> None:
        self.the_doctor_finds_nothing()
        self.owner.close()
        removed = self.house.erase_tenant(self.name)
        assert removed["remaining"] == 0


@pytest.fixture
def house(neo4j_server: Server, tmp_path: Path) -> Iterator[House]:
    """A service with a worker and an archive of its own."""
    jobs = JobsSettings(workers=1, schedule_s=60)
    made = House(settings_for(neo4j_server, tmp_path, jobs=jobs))
    made.start()
    yield made
    made.stop()


@pytest.mark.timeout(3_600)
def test_calls_in_any_order_leave_what_the_model_predicts(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = type("AnyOrder", (AnyOrder,), {"house": house})
    begun = time.monotonic()
    run_state_machine_as_test(
        seed(int(SEED))(machine),
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=LENGTH,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    done = sum(house.steps.values())
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{done} steps in {house.tenants} histories, {time.monotonic() - begun:.0f} s: "
            + ", ".join(f"{what} {number}" for what, number in house.steps.most_common())
            + "; seconds: "
            + ", ".join(f"{what} {spent:.1f}" for what, spent in house.seconds.most_common())
        )
    assert done >= 0.8 * (STEPS or HISTORIES * LENGTH)
