"""A service in memory that ranks by shared words, behind the real client."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from ecphoria.client import AsyncClient, Retries
from ecphoria.records.tenant import EVIDENCE_NAMES

MOMENT = "2026-01-01T00:00:00Z"


def option(name: str, default: object, low: float | None = None) -> dict[str, object]:
    return {"name": name, "default": default, "doc": "", "unit": "", "source": "", "low": low}


STRATEGIES = [
    {
        "name": "ecphoria",
        "doc": "",
        "presets": ["default"],
        "parameters": [
            option("w_words", 1.0, 0.0),
            option("w_off", 0.0, 0.0),
            option("next_spreading", default=True),
            option("steps", 3, 1),
        ],
        "mechanisms": {
            "words": {"w_words": 0.0},
            "off": {"w_off": 0.0},
            "spreading": {"next_spreading": False},
            "both": {"w_off": 0.0, "next_spreading": False},
        },
    },
    {"name": "fusion", "doc": "", "presets": ["default"], "parameters": []},
    {
        "name": "walk",
        "doc": "",
        "presets": ["default", "paper"],
        "parameters": [option("fan", 1.0, 0.0), option("bend", default="off")],
        "mechanisms": {"fan effect": {"fan": 0.0}, "bend": {"bend": "off"}},
    },
    {"name": "nightly", "doc": "", "presets": ["default"], "parameters": []},
]

READINESS = {
    "status": "ready", "degraded": [], "neo4j": "2026.01.4", "gds": "2.26.0", "model": "minilm",
    "dimension": 384,
}  # fmt: skip

_TRACE = {
    "id": "t", "cue": "", "strategy": "ecphoria", "options": {}, "created_at": MOMENT, "seeds": [],
    "waves": [], "hits": [], "truncated": False, "verdict": "answer", "confidence": 0.5,
    "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4}, "evidence": {},
    "reasons": [], "k": 10, "filters": {}, "cypher": "",
}  # fmt: skip

_FIXED = {"/v1/strategies": {"items": STRATEGIES}, "/readyz": READINESS, "/v1/traces/t": _TRACE}


@dataclass
class TinyService:
    """Tenants of episodes; `refuse` names texts that may not be stored or asked.

    A batch with a text of `slow` takes too long.

    `skipped` tells why consolidation skips its step; `consolidated` notes for each cycle how many
    questions were asked before, `steps` what it was asked to do, `present` for each question the
    texts that were stored; it is gone after `recalls` of them. `kept` notes what each tenant held
    that is erased. `recorded` has the tenants and cues of recorded recalls, which stand nowhere
    else.
    """

    refuse: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    slow: frozenset[str] = frozenset()
    tenants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    recorded: list[tuple[str, str]] = field(default_factory=list)
    skipped: str = ""
    consolidated: list[tuple[str, int]] = field(default_factory=list)
    steps: list[list[str]] = field(default_factory=list)
    present: list[list[str]] = field(default_factory=list)
    kept: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    made: int = 0
    recalls: int | None = None
    under_way: int = 0
    most_under_way: int = 0

    def connect(self, tenant: str | None) -> AsyncClient:
        transport = httpx.MockTransport(self._answer)
        return AsyncClient(
            "http://tiny", "key", tenant=tenant, transport=transport, retries=Retries(limit=0)
        )

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        tenant = request.headers.get("Ecphoria-Tenant", "")
        path = request.url.path
        if request.method == "DELETE":
            return self._erase(tenant, path)
        if path in {"/v1/consolidation", "/v1/jobs/j"}:
            return self._consolidate(request.method, tenant, body)
        if path.startswith("/v1/episodes"):
            return self._episodes(request.method, tenant, body)
        if path == "/v1/tenants":
            self.tenants[body["name"]] = []
            return httpx.Response(
                201, json={"id": "t", "name": body["name"], "created_at": MOMENT}
            )
        if path in _FIXED:
            return httpx.Response(200, json=_FIXED[path])
        assert path == "/v1/recall"
        return self._recall(tenant, body)

    def _episodes(self, method: str, tenant: str, body: dict[str, Any]) -> httpx.Response:
        if method == "POST":
            return self._store(tenant, body["episodes"])
        return httpx.Response(200, json={"items": [*map(_episode, self.tenants[tenant])]})

    def _erase(self, tenant: str, path: str) -> httpx.Response:
        ident = path.rpartition("/")[2]
        if path.startswith("/v1/tenants/"):
            self.kept[ident] = self.tenants.pop(ident)
            return httpx.Response(200, json={"removed": {}})
        stored = self.tenants[tenant]
        (erased,) = [one for one in stored if one["id"] == ident]
        stored.remove(erased)
        return httpx.Response(204)

    def _consolidate(self, method: str, tenant: str, body: dict[str, Any]) -> httpx.Response:
        """Queue the cycle, and when asked how it stands say that it is done."""
        if method == "POST":
            if "misspelt" in body.get("steps", []):
                return httpx.Response(422, json=_problem(422, "invalid-input"))
            if not body.get("dry_run"):
                self.consolidated.append((tenant, len(self.asked)))
                self.steps.append(body.get("steps", []))
            return httpx.Response(202, json=_job(state="queued"))
        report = _consolidation(self.skipped)
        return httpx.Response(200, json=_job(state="done", report=report))

    def _store(self, tenant: str, episodes: list[dict[str, Any]]) -> httpx.Response:
        if any(episode["text"] in self.slow for episode in episodes):
            return httpx.Response(504, json=_problem(504, "timeout"))
        results: list[dict[str, Any]] = []
        for index, episode in enumerate(episodes):
            if episode["text"] in self.refuse:
                results.append(
                    {"index": index, "problem": _problem(*self.refuse[episode["text"]])}
                )
                continue
            stored = self.tenants[tenant]
            fields = ("text", "speaker", "role", "session", "position", "occurred_at")
            told = {name: episode[name] for name in fields if name in episode}
            stored.append({"id": f"e{self.made:03d}", **told})
            self.made += 1
            results.append({"index": index, "id": stored[-1]["id"], "outcome": "created"})
        refused = sum("problem" in one for one in results)
        created = len(results) - refused
        answer = {"created": created, "existed": 0, "refused": refused, "results": results}
        return httpx.Response(200, json=answer)

    def _recall(self, tenant: str, body: dict[str, Any]) -> httpx.Response:
        if body.get("record", True):
            self.recorded.append((tenant, body["cue"]))
            return httpx.Response(200, json=_answer([], confidence=0.5))
        self.asked.append((tenant, body))
        left_out = body.get("filters", {}).get("exclude", [])
        there = [one for one in self.tenants[tenant] if one["id"] not in left_out]
        self.present.append([one["text"] for one in there])
        if len(self.asked) == self.recalls:
            self.refuse = {body["cue"]: (503, "unavailable")}
        if body["cue"] in self.refuse:
            status, code = self.refuse[body["cue"]]
            return httpx.Response(
                status,
                json=_problem(status, code),
                headers={"Content-Type": "application/problem+json"},
            )
        words = set(body["cue"].lower().split())
        sign = -1 if body.get("strategy") == "fusion" or body.get("options") else 1
        ranked = sorted(
            there,
            key=lambda one: (-sign * len(words & set(one["text"].lower().split())), one["id"]),
        )
        hits = [
            {"rank": rank, "score": 1.0 / rank, "parts": {}, "path": [], "episode": _episode(one)}
            for rank, one in enumerate(ranked[: body.get("k", 10)], start=1)
        ]
        return httpx.Response(200, json=_answer(hits, confidence=len(words) / 10))


def _consolidation(skipped: str) -> dict[str, Any]:
    status = "skipped" if skipped else "done"
    step = {"name": "prior", "status": status, "seconds": 0.5, "counts": {}, "reason": skipped}
    return {"cycle": "c", "started_at": MOMENT, "seconds": 1.0, "steps": [step]}


def _job(**changed: object) -> dict[str, Any]:
    progress = {"place": "", "done": 0, "total": 0}
    return {
        "id": "j", "kind": "consolidation", "trigger": "request", "steps": [], "attempts": 1,
        "created_at": MOMENT, "cancelling": False, "progress": progress, **changed,
    }  # fmt: skip


def _answer(hits: list[dict[str, Any]], confidence: float) -> dict[str, Any]:
    return {
        "hits": hits,
        "strategy": "ecphoria",
        "verdict": "answer",
        "answerable": True,
        "confidence": confidence,
        "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4},
        "evidence": dict.fromkeys(EVIDENCE_NAMES, 0.0) | {"share": confidence - 0.5},
        "reasons": [],
        "misses": [],
        "context": "",
        "context_tokens": 12,
        "timings_ms": {"encode": 2.0, "seeds": 3.0, "spread": 1.0, "rank": 1.0, "total": 7.0},
        "trace_id": "t",
        "degraded": [],
    }


def _episode(stored: dict[str, Any]) -> dict[str, Any]:
    return stored | {
        "turn": 1,
        "occurred_at": MOMENT,
        "recorded_at": MOMENT,
        "importance": 0.5,
        "kind": "episodic",
        "state": "live",
    }


def _problem(status: int, code: str) -> dict[str, Any]:
    return {
        "type": f"/errors/{code}",
        "title": code.replace("-", " "),
        "status": status,
        "detail": "told so",
        "instance": "/",
    }
