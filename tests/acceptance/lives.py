"""Two tenants that lived the same life, and a sample of a call of every route.

What both say is the same, down to names, sessions and idempotency keys, except a mark: a word of
its own that each tenant has in its texts, speakers, titles, metadata and facts.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ecphoria.records.episode import State
from ecphoria.records.tenant import EVIDENCE_NAMES
from tests.acceptance.answers import ended
from tests.acceptance.conftest import Owner

Body = dict[str, Any]
Call = tuple[str, Body]
"""A path, and what `httpx.Client.request` takes besides."""
Route = tuple[str, str]

NAMES = ("Marek Novak", "Ilse Brandt", "Tomas Rivera", "Novak Marek")
THINGS = ("the old boat", "the boat house by the pier", "the hotel kitchen")
QUESTIONS = {
    "samples": [
        {"evidence": dict.fromkeys(EVIDENCE_NAMES, place / 20), "answerable": place > 9}
        for place in range(20)
    ]
}
"""Questions that a gate can be fitted on."""
CUE = "Who painted the old boat, and where does Marek Novak live?"
TURNS = 16
OPERATORS = frozenset({
    ("get", "/v1/tenants"), ("post", "/v1/tenants"), ("delete", "/v1/tenants/{name}"),
    ("post", "/v1/embedding"), ("get", "/v1/embedding"), ("delete", "/v1/embedding"),
    ("get", "/v1/disk"),
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Life:
    """A tenant after its life, and ids of what is there.

    Attributes:
        spare: Episodes to erase.
        facts: Two that exclude each other.
        key: One to revoke.
    """

    owner: Owner
    mark: str
    awake: str
    dormant: str
    archived: str
    spare: tuple[str, ...]
    facts: tuple[str, str]
    concepts: tuple[str, ...]
    decision: str
    trace: str
    hit: str
    job: str
    key: str

    @property
    def ids(self) -> frozenset[str]:
        return frozenset((
            self.awake, self.dormant, self.archived, *self.spare, *self.facts, self.decision,
            self.trace, self.job, self.key, *self.concepts,
        ))  # fmt: skip


def said(mark: str) -> list[Body]:
    """What a tenant appends; every third turn holds its mark where a caller may put a word."""
    items: list[Body] = [
        {
            "text": f"{NAMES[n % 4]} painted {THINGS[n % 3]}; {NAMES[(n + 1 + n // 6) % 4]} "
            + (f"helped. So says {mark}." if n % 3 == 0 else "helped."),
            "speaker": f"Tamsin {mark}" if n % 3 == 0 else NAMES[n % 2],
            "role": ("user", "assistant")[n % 2],
            "session": f"harbour of {mark}" if n % 6 == 0 else f"harbour {n // 8}",
            "occurred_at": f"2024-03-0{1 + n // 8}T{n % 8:02}:00:00Z",
            "idempotency_key": f"key-{n}",
            "metadata": {"mark": mark, "n": n},
            "source": f"chat of {mark}",
        }
        for n in range(TURNS)
    ]  # fmt: skip
    homes = [
        {"subject": "Marek Novak", "predicate": "lives in", "object": place}
        for place in ("Trieste", f"Port {mark}")
    ]
    items[1]["extraction"] = {
        "names": ["Trieste", {"name": "Marek Novak", "kind": "person", "cognitive": "identity",
                              "description": f"a painter of {mark}", "importance": 5}],
        "facts": homes[:1],
    }  # fmt: skip
    items[2]["kind"] = "procedural"
    items[3]["extraction"] = {"names": ["Marek Novak", f"Port {mark}"], "facts": homes[1:]}
    long = "Ilse Brandt looked after the boat house by the pier and painted the old boat. " * 40
    return [
        *items,
        {"title": f"Marek Novak and {mark}", "text": f"Marek Novak paints boats, {mark}."},
        {"title": "Marek Novak", "text": "He paints boats in Trieste."},
        {"text": long + f"Also {mark}.", "session": "harbour 0", "speaker": "Ilse Brandt",
         "extraction": {"names": ["Ilse Brandt"], "facts": [
             {"subject": "Ilse Brandt", "predicate": "looks after", "object": "the boat house"}]}},
        {"text": f"The spare oar of {mark} is in the boat house.", "idempotency_key": "spare",
         "expires_at": "2100-01-01T00:00:00Z"},
        {"text": long + f"Once more, {mark}.", "session": "harbour 1", "speaker": "Ilse Brandt",
         "idempotency_key": "spare-2", "extraction": {"names": ["Spare Oar"], "facts": [
             {"subject": "Spare Oar", "predicate": "lies in", "object": f"Port {mark}"}]}},
    ]  # fmt: skip


def live(owner: Owner, mark: str) -> Life:
    """Live a life that leaves one of everything."""
    assert owner.patch("/v1/settings", json={"learning": {"on": True}}).status_code == 200
    told = owner.post("/v1/episodes/batch", json={"episodes": said(mark)}).json()
    assert told["refused"] == 0, told
    ids = [result["id"] for result in told["results"]]
    gone = owner.remember(f"Of {mark} nothing stays.", idempotency_key="gone")
    assert owner.delete(f"/v1/episodes/{gone}").status_code == 204
    recalled = owner.post("/v1/recall", json={"cue": CUE, "explain": True}).json()
    trace, hit = recalled["trace_id"], recalled["hits"][0]["episode"]["id"]
    judged = owner.post(f"/v1/traces/{trace}/feedback", json={"useful": [hit]})
    assert judged.status_code == 200, judged.text
    policy = {"mode": "off", "quiet_days": 0, "second_look": True}
    assert owner.patch("/v1/settings", json={"dormancy": policy}).status_code == 200
    owner.post("/v1/dormancy/sleep", json={"ids": ids[12:14]})
    done = ended(owner, owner.post("/v1/consolidation").headers["Location"])
    assert done["state"] == "done", done
    owner.post("/v1/dormancy/wake", json={"ids": [ids[13]]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    assert owner.post("/v1/dormancy/sleep", json={"ids": [ids[9]]}).json() == {"ids": [ids[9]]}
    found = owner.get("/v1/facts", params={"predicate": "lives in"}).json()["items"]
    facts = (found[0]["id"], found[1]["id"])
    made = owner.post(f"/v1/facts/{facts[0]}/decisions",
                      json={"ruling": "keep_open", "other": facts[1], "why": mark})  # fmt: skip
    assert made.status_code == 201, made.text
    item = {"value": {"mark": mark}, "key": "note"}
    kept = [{**item, "namespace": ["notes", of], "ttl_s": 1e6} for of in ("harbour", mark)]
    assert owner.put("/v1/items", json={"items": kept}).status_code == 200
    key = owner.post("/v1/keys", json={"name": f"spare of {mark}", "scopes": ["read"]}).json()
    settled(owner)
    concepts = owner.get("/v1/concepts", params={"q": mark}).json()["items"]
    assert concepts
    return Life(
        owner=owner, mark=mark, awake=ids[0], dormant=ids[9], archived=ids[12],
        spare=(ids[-1], ids[-2]), facts=facts,
        concepts=tuple(one["id"] for one in concepts),
        decision=made.json()["id"], trace=trace, hit=hit, job=done["id"], key=key["id"],
    )  # fmt: skip


def settled(owner: Owner) -> None:
    """Wait until every recall was learned from."""
    time.sleep(0.7)  # Traces are stored within half a second of an answer.
    deadline = time.monotonic() + 30
    while owner.get("/v1/stats").json()["recalls_pending"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def samples(of: Life) -> Mapping[Route, Sequence[Call]]:
    """Give calls of every route with this life's ids; what erases comes last."""
    every = [of.awake, of.dormant, of.archived]
    of_all: Body = {"json": {"ids": every}}
    instants = {"as_of": "2024-03-02T00:00:00Z", "known_at": "2100-01-01T00:00:00Z"}
    times = {"occurred_from": "2024-03-01T00:00:00Z", "occurred_before": "2024-03-03T00:00:00Z"}
    gate = {"weights": {"share": 1.0}, "bias": 0.0, "threshold": 0.2, "verify_below": 0.4}
    own = {"session": f"harbour of {of.mark}"}
    fact, other = of.facts
    pair = {"one": "marek novak", "other": "novak marek"}
    return {
        ("get", "/v1/episodes/{episode}"): [(f"/v1/episodes/{one}", {}) for one in every],
        ("get", "/v1/episodes"): [
            ("/v1/episodes", {}),
            ("/v1/episodes", {"params": {"session": f"harbour of {of.mark}", **times}}),
            ("/v1/episodes", {"params": {"session": "harbour 0"}}),
            ("/v1/episodes", {"params": {"order": "newest", "role": "user"}}),
            ("/v1/episodes", {"params": {"metadata": f'{{"mark": "{of.mark}"}}'}}),
            ("/v1/episodes", {"params": {"order": "newest", "speaker": f"Tamsin {of.mark}"}}),
            ("/v1/episodes", {"params": {"concept": "marek novak", "session": "harbour 0"}}),
            ("/v1/episodes", {"params": {"concept": f"port {of.mark}"}}),
            ("/v1/episodes", {"params": {"cursor": 3, "limit": 5}}),
            ("/v1/episodes", {"params": {"ids": every, "as_of": "2100-01-01T00:00:00Z"}}),
            *(("/v1/episodes", {"params": {"state": state}}) for state in State),
        ],
        ("post", "/v1/episodes"): [
            ("/v1/episodes", {"json": {"text": "The same.", "idempotency_key": "same"}}),
            ("/v1/episodes", {"json": {"text": "Marek Novak sat on the old boat again.",
                                       "session": "harbour 0", "speaker": "Ilse Brandt"}}),
        ],
        ("post", "/v1/episodes/batch"): [
            ("/v1/episodes/batch", {"json": {"episodes": [
                {"text": "The same.", "idempotency_key": "same"},
                {"text": "Ilse Brandt came by.", "session": "harbour 1",
                 "occurred_at": "2024-03-01T03:30:00Z"},
            ]}}),
        ],
        ("post", "/v1/recall"): [
            ("/v1/recall", {"json": body | {"record": False}}) for body in cues(of)
        ],
        **{
            ("post", path): [
                (path, {"json": {"question": f"{CUE} What does {of.mark} say?", "record": False}}),
            ]
            for path in ("/v1/ask", "/v1/ask/stream")
        },
        ("get", "/v1/context"): [
            ("/v1/context", {"params": {"token_budget": 100_000}}),
            ("/v1/context", {"params": {"session": f"harbour of {of.mark}"}}),
            ("/v1/context", {"params": {"speaker": f"tamsin {of.mark}"}}),
        ],
        ("get", "/v1/traces/{trace}"): [(f"/v1/traces/{of.trace}", {})],
        ("get", "/v1/traces"): [
            ("/v1/traces", {}),
            ("/v1/traces", {"params": {"verdict": "answer", "strategy": "ecphoria", "limit": 2}}),
            ("/v1/traces", {"params": {"cursor": f"{10**17}.{of.trace}"}}),
        ],
        ("get", "/v1/concepts"): [
            ("/v1/concepts", {"params": {"limit": 1000}}),
            ("/v1/concepts", {"params": {"q": of.mark, "sort": "name"}}),
            ("/v1/concepts", {"params": {"sort": "last", "cursor": f"0.port {of.mark}"}}),
        ],
        ("get", "/v1/concepts/{concept}"): [
            (f"/v1/concepts/{concept}", {}) for concept in of.concepts
        ],
        ("get", "/v1/graph"): [
            ("/v1/graph", {"params": {"around": around, "hops": 2, "limit": 2000} | more})
            for around in (
                *of.concepts, of.awake, of.hit, f"concept:port {of.mark}",
                f"session:harbour of {of.mark}",
            )
            for more in ({}, {"kinds": ["concept"], "as_of": "2100-01-01T00:00:00Z"})
        ],
        ("get", "/v1/strategies"): [("/v1/strategies", {})],
        ("get", "/v1/sessions"): [
            ("/v1/sessions", {}),
            ("/v1/sessions", {"params": {"cursor": "harbour 0"}}),
        ],
        ("get", "/v1/engrams"): [
            ("/v1/engrams", {"params": {"limit": 1000}}),
            ("/v1/engrams", {"params": {"kind": "session"}}),
        ],
        ("get", "/v1/stats"): [("/v1/stats", {})],
        ("get", "/v1/facts"): [
            ("/v1/facts", {}),
            ("/v1/facts", {"params": instants}),
            ("/v1/facts", {"params": {"concept": f"port {of.mark}", "predicate": "lives in"}}),
            ("/v1/facts", {"params": {"concept": "marek novak"}}),
            ("/v1/facts", {"params": {"cursor": f"0.{min(of.facts)}"}}),
            ("/v1/facts", {"params": {"sort": "time", "standing": "held", "limit": 1}}),
        ],
        ("get", "/v1/facts/{fact}/history"): [
            (f"/v1/facts/{fact}/history", {}),
            (f"/v1/facts/{other}/history", {"params": instants}),
        ],
        ("post", "/v1/items/find"): [
            ("/v1/items/find", {"json": {"refresh": True, "keys": [
                {"namespace": ["notes", place], "key": "note"} for place in ("harbour", of.mark)
            ]}}),
        ],
        ("post", "/v1/items/search"): [
            ("/v1/items/search", {"json": body})
            for body in ({}, {"query": of.mark}, {"namespace": ["notes"], "filter": {}})
        ],
        ("post", "/v1/items/namespaces"): [
            ("/v1/items/namespaces", {"json": {}}),
            ("/v1/items/namespaces", {"json": {"prefix": ["notes", "*"]}}),
        ],
        ("get", "/v1/decisions"): [
            ("/v1/decisions", {}), ("/v1/decisions", {"params": {"cursor": 10**17}}),
        ],
        ("get", "/v1/timeline"): [
            ("/v1/timeline", {"params": {"by": by}}) for by in ("session", "day", "month")
        ] + [("/v1/timeline", {"params": {"by": "session", "speaker": f"Tamsin {of.mark}",
                                          "cursor": "0.harbour", "limit": 1}})],
        ("get", "/v1/predicates"): [("/v1/predicates", {})],
        ("get", "/v1/consolidation"): [("/v1/consolidation", {})],
        ("get", "/v1/dormancy"): [
            ("/v1/dormancy", {}), ("/v1/dormancy", {"params": {"limit": 1}}),
        ],
        ("get", "/v1/expiring"): [
            ("/v1/expiring", {}),
            ("/v1/expiring", {"params": {"cursor": "1." + "0" * 32, "limit": 1}}),
        ],
        ("post", "/v1/dormancy/preview"): [
            ("/v1/dormancy/preview", {}),
            ("/v1/dormancy/preview", {"json": {"mode": "budget", "budget": 1, "quiet_days": 0.0}}),
        ],
        ("get", "/v1/doctor"): [("/v1/doctor", {})],
        ("get", "/v1/jobs"): [("/v1/jobs", {}), ("/v1/jobs", {"params": {"state": "done"}})],
        ("get", "/v1/jobs/{job}"): [(f"/v1/jobs/{of.job}", {})],
        ("get", "/v1/keys"): [("/v1/keys", {})],
        ("get", "/v1/me"): [("/v1/me", {})],
        ("delete", "/v1/me"): [("/v1/me", {})],
        ("post", "/v1/explorer/tickets"): [("/v1/explorer/tickets", {"json": {"write": True}})],
        ("post", "/explorer/redeem"): [("/explorer/redeem", {"json": {"ticket": "A" * 43}})],
        ("get", "/v1/merges"): [
            ("/v1/merges", {}), ("/v1/merges", {"params": {"status": "proposed"}}),
        ],
        ("get", "/healthz"): [("/healthz", {})],
        ("get", "/readyz"): [("/readyz", {})],
        ("get", "/metrics"): [("/metrics", {})],
        ("get", "/errors/{code}"): [("/errors/not-found", {})],
        ("get", "/v1/browser"): [("/v1/browser", {})],
        ("get", "/browser-guide/{file}"): [("/browser-guide/ecphoria.grass", {})],
        ("get", "/v1/settings"): [("/v1/settings", {})],
        ("get", "/v1/strategies/trial"): [("/v1/strategies/trial", {})],
        ("patch", "/v1/episodes/{episode}"): [
            (f"/v1/episodes/{one}", {"json": change})
            for one in (of.awake,)  # the others may be in the archive by now, and are refused
            for change in (
                {"metadata": {"seen": of.mark}},
                {"metadata": {"seen": None}},
                {"expires_at": "2100-01-01T00:00:00Z"},
                {"expires_at": None},
            )
        ],
        ("get", "/v1/archive"): [
            ("/v1/archive", {}), ("/v1/archive", {"params": {"limit": 1, "speaker": "ana"}}),
        ],
        ("post", "/v1/archive/scrub"): [("/v1/archive/scrub", {})],
        ("put", "/v1/episodes/{episode}/extraction"): [
            (f"/v1/episodes/{one}/extraction", {"json": {"names": [
                {"name": "Marek Novak", "description": of.mark}], "facts": [
                {"subject": "Marek Novak", "predicate": "lives in", "object": "Bergen"}]}})
            for one in (of.awake,)
        ],
        ("put", "/v1/episodes/{episode}/pin"): [(f"/v1/episodes/{one}/pin", {}) for one in every],
        ("delete", "/v1/episodes/{episode}/pin"): [
            (f"/v1/episodes/{one}/pin", {}) for one in every
        ],
        ("post", "/v1/archive/restore"): [("/v1/archive/restore", of_all)],
        ("post", "/v1/dormancy/wake"): [("/v1/dormancy/wake", of_all)],
        ("post", "/v1/dormancy/sleep"): [("/v1/dormancy/sleep", of_all)],
        ("post", "/v1/archive"): [("/v1/archive", {}), ("/v1/archive", {"json": {"days": 0}})],
        ("post", "/v1/traces/{trace}/feedback"): [
            (f"/v1/traces/{of.trace}/feedback", {"json": {"useful": [of.hit]}}),
        ],
        ("post", "/v1/facts/{fact}/decisions"): [
            (f"/v1/facts/{fact}/decisions", {"json": {"ruling": "keep_open", "other": other}}),
            (f"/v1/facts/{other}/decisions", {"json": {"ruling": "retract"}}),
        ],
        ("post", "/v1/decisions/{decision}/undo"): [
            (f"/v1/decisions/{of.decision}/undo", {"json": {}}),
        ],
        ("put", "/v1/predicates/{predicate}"): [
            ("/v1/predicates/lives%20in", {"json": {"predicate_class": "functional"}}),
        ],
        ("put", "/v1/merges"): [
            ("/v1/merges", {"json": {**pair, "status": status}})
            for status in ("accepted", "rejected", "proposed")
        ],
        ("post", "/v1/consolidation"): [
            ("/v1/consolidation", {"json": {"dry_run": True}}), ("/v1/consolidation", {}),
        ],
        ("post", "/v1/extraction/reset"): [("/v1/extraction/reset", {})],
        ("post", "/v1/jobs/{job}/cancel"): [(f"/v1/jobs/{of.job}/cancel", {})],
        ("post", "/v1/jobs/{job}/retry"): [(f"/v1/jobs/{of.job}/retry", {})],
        ("post", "/v1/gate/calibrations"): [("/v1/gate/calibrations", {"json": {"memories": 10}})],
        ("post", "/v1/gate/fits"): [("/v1/gate/fits", {"json": QUESTIONS})],
        ("patch", "/v1/settings"): [
            ("/v1/settings", {"json": change})
            for change in (
                {"expiry": {"days": 9.5}},
                {"schedule": {"every_hours": 8000.0}},
                {"dormancy": {"mode": "off"}, "gate": gate},
                {"expiry": None, "schedule": None, "gate": None},
                {"trial": {"strategy": "synapse", "share": 1.0}},
            )
        ],
        ("post", "/v1/strategies/promotions"): [("/v1/strategies/promotions", {})],
        ("delete", "/v1/strategies/promotions/latest"): [
            ("/v1/strategies/promotions/latest", {}),
        ],
        ("post", "/v1/keys"): [("/v1/keys", {"json": {"name": "another", "scopes": ["read"]}})],
        ("delete", "/v1/keys/{key}"): [(f"/v1/keys/{of.key}", {})],
        ("put", "/v1/items"): [
            ("/v1/items", {"json": {"items": [
                {"namespace": ["notes", "harbour"], "key": "note", "value": value}
            ]}})
            for value in ({"replaced": True}, None)
        ],
        ("delete", "/v1/episodes/{episode}"): [
            (f"/v1/episodes/{one}", {}) for one in (*of.spare, of.archived)
        ],
        ("post", "/v1/episodes/erase"): [
            ("/v1/episodes/erase", {"json": {"filters": own, "dry_run": dry_run}})
            for dry_run in (True, False)
        ],
        ("get", "/v1/tenants"): [("/v1/tenants", {})],
        ("get", "/v1/disk"): [("/v1/disk", {})],
        ("post", "/v1/tenants"): [("/v1/tenants", {"json": {"name": "never-made"}})],
        ("post", "/v1/embedding"): [
            ("/v1/embedding", {"json": {"model": "no such model", "provider": "local"}}),
        ],
        ("get", "/v1/embedding"): [("/v1/embedding", {})],
        ("delete", "/v1/embedding"): [("/v1/embedding", {})],
        ("delete", "/v1/tenants/{name}"): [(f"/v1/tenants/{of.owner.name}", {})],
    }  # fmt: skip


def cues(of: Life) -> list[Body]:
    """Ask in every way that a request knows, for the mark and the ids of this life."""
    cue = f"{CUE} What does {of.mark} say?"
    vector = [1.0, *[0.0] * 383]
    return [
        {"cue": cue},
        {"cue": cue, "k": 200, "collapse": False, "token_budget": 20_000, "explain": True},
        {"cue": of.mark},
        {"cue": f"tenant:{of.owner.name} OR {of.mark}"},
        {"vector": vector, "k": 200},
        {"cue": cue, "include_dormant": True, "k": 200},
        {"cue": cue, "wake": True},
        {"cue": cue, "as_of": "2024-03-02T00:00:00Z"},
        {"cue": cue, "known_at": "2100-01-01T00:00:00Z"},
        {"cue": cue, "asker": f"Tamsin {of.mark}"},
        {"cue": cue, "min_confidence": 1.0},
        {"cue": cue, "filters": {"session": f"harbour of {of.mark}"}},
        {"cue": cue, "filters": {"session": "harbour 0"}},
        {"cue": cue, "filters": {"sessions": ["harbour 0", f"harbour of {of.mark}"]}},
        {"cue": cue, "filters": {"metadata": {"mark": of.mark}}, "include_dormant": True},
        {"cue": cue, "filters": {"speaker": f"Tamsin {of.mark}"}, "include_dormant": True},
        {"cue": cue, "filters": {"occurred_from": "2024-03-01T02:00:00Z"}},
        {"cue": cue, "filters": {"exclude": [of.awake, of.dormant]}},
        {"cue": f'"{of.mark}" +{of.mark}', "match": "phrase", "include_dormant": True},
        {"cue": cue, "strategy": "synapse", "options": {"window": 5}},
        {"cue": cue, "engrams": 50, "include_dormant": True},
        {
            "cue": cue,
            "strategy": "actr",
            "options": {"preset": "paper", "session": f"harbour of {of.mark}"},
        },
        *(
            {"cue": cue, "strategy": name, "options": {"preset": "paper"}}
            for name in ("synapse", "cls")
        ),
    ]


def without_question(answer: httpx.Response) -> str:
    """Write an answer without the cue that it repeats, and without the reasons, which quote it."""
    return json.dumps(_without(answer.json(), {"cue", "reasons"}))


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(part, names) for name, part in value.items() if name not in names}
    return [_without(part, names) for part in value] if isinstance(value, list) else value
