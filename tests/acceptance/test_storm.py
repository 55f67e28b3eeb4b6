"""A storm: the service and its Neo4j are killed at random moments while everything runs.

Writers, an eraser, a reader and a keeper (sleep, archive, restore, wake, consolidation) work while
SIGKILL ends the service process or the Neo4j that it supervises. After each recovery the test
compares the store with every acknowledged effect: nothing is lost, doubled or back from erasure,
and the doctor and the archive's scrub find nothing. `ECPHORIA_TEST_KILLS` sets how many kills.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.acceptance.conftest import Owner
from tests.acceptance.process import KEY, PROGRAM
from tests.acceptance.writers import stored
from tests.conftest import CACHE, QUICK_JAVA

pytestmark = [pytest.mark.engine, pytest.mark.outage]

KILLS = int(os.environ.get("ECPHORIA_TEST_KILLS", "6"))  # noqa: TID251
SEED = int(os.environ.get("ECPHORIA_TEST_SEED", "1"))  # noqa: TID251
NEEDED = {"write": 6, "erase": 3, "read": 3, "keep": 2}
"""Answers of each role between two kills, so that there is something to lose."""
NAMES = ("Marek Novak", "Ilse Brandt", "Tomas Rivera", "Novak Marek")


class House:
    """A service process on a Neo4j of its own, which it starts and supervises."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._log = home / "service.log"
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        environment = {
            **{name: text for name, text in os.environ.items() if "ECPHORIA" not in name},  # noqa: TID251
            "ECPHORIA_HOME": str(self._home),
            "ECPHORIA_CACHE": str(CACHE),
            "ECPHORIA_ENGINE__JAVA_OPTIONS": QUICK_JAVA,
            "ECPHORIA_ENGINE__HEAP_MB": "768",
            "ECPHORIA_ENGINE__PAGE_CACHE_MB": "128",
            "ECPHORIA_AUTH__BOOTSTRAP_KEY": KEY,
            "ECPHORIA_SERVER__PORT": "0",
            "ECPHORIA_LOG__LEVEL": "warning",
            "ECPHORIA_LOG__FORMAT": "json",
            "ECPHORIA_JOBS__LEASE_S": "5",
            "ECPHORIA_JOBS__ATTEMPTS": "100",
            "ECPHORIA_TEST_JOBS__PAUSE_S": "1",
            "ECPHORIA_TEST_NEO4J__RETRY_S": "5",
        }
        with self._log.open("a") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://"), self._log.read_text()

    def kill_service(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill_neo4j(self) -> None:
        """Kill the Java process of this home; the service has to notice and start it again."""
        (server,) = servers_of(self._home)
        os.kill(server.pid, signal.SIGKILL)

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        for server in servers_of(self._home):
            server.wait(timeout=60)


def servers_of(home: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if line and "java" in line[0] and any(str(home) in part for part in line):
            found.append(process)
    return found


class Crew:
    """Callers that go on whatever happens, and note what was acknowledged.

    An effect whose call got no answer may or may not have happened: `unsure` has those episodes.
    """

    def __init__(self, house: House, secret: str) -> None:
        self._house = house
        self.written: dict[str, tuple[str, str]] = {}
        self.erased: set[str] = set()
        self.unsure: set[str] = set()
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._client = httpx.Client(headers={"Authorization": f"Bearer {secret}"}, timeout=90)
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._rest = threading.Event()
        self._resting = threading.Semaphore(0)
        self._go_on = threading.Event()
        roles: list[Callable[[random.Random], None]] = [
            self.write, self.write, self.erase, self.read, self.keep,
        ]  # fmt: skip
        self.number, self.roles = len(roles), {role.__name__ for role in roles}
        self._pool = ThreadPoolExecutor(self.number)
        self._work = [
            self._pool.submit(self._go, role, random.Random(f"{SEED} {place}"))  # noqa: S311
            for place, role in enumerate(roles)
        ]

    def wait_for_work(self, then_s: float) -> None:
        """Wait until every role got answers: a Neo4j that just started plans every query."""
        before, deadline = Counter(self.done), time.monotonic() + 300
        while any(self.done[role] - before[role] < NEEDED[role] for role in self.roles):
            assert self.faults == []
            assert time.monotonic() < deadline, self.done - before
            time.sleep(0.05)
        time.sleep(then_s)

    def pause(self) -> None:
        """Let everybody end the call that is under way."""
        self._go_on.clear()
        self._rest.set()
        for _ in range(self.number):
            assert self._resting.acquire(timeout=300)

    def resume(self) -> None:
        self._rest.clear()
        self._go_on.set()

    def stop(self) -> None:
        self._over.set()
        self._rest.clear()
        self._go_on.set()
        self._pool.shutdown()
        for one in self._work:
            one.result()
        self._client.close()

    def _go(self, role: Callable[[random.Random], None], chance: random.Random) -> None:
        while not self._over.is_set():
            if self._rest.is_set():
                self._resting.release()
                self._go_on.wait()
            try:
                role(chance)
            except httpx.TransportError:
                self.refused[role.__name__] += 1
                time.sleep(0.05)
            except Exception as error:  # noqa: BLE001 (reported by the test, which waits for it)
                self.faults.append(f"{role.__name__}: {error!r}")
                self._over.set()
            else:
                self.done[role.__name__] += 1

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response:
        answer = self._client.request(method, self._house.url + path, **more)
        if answer.status_code in {429, 503}:  # without effect; it says why, and when to ask again
            raise httpx.TransportError(answer.text)
        return answer

    def write(self, chance: random.Random) -> None:
        time.sleep(chance.uniform(0.1, 0.4))  # so that the store stays small enough to examine
        keys = [f"{chance.getrandbits(64):x}" for _ in range(3)]
        items = [
            {
                "text": f"{chance.choice(NAMES)} painted the boat. Note {key}.",
                "session": f"s{chance.randrange(6)}",
                "speaker": chance.choice(NAMES),
                "occurred_at": f"2024-03-{chance.randrange(1, 28):02}T10:00:00Z",
                "idempotency_key": key,
            }
            for key in keys
        ]
        answer = self._call("POST", "/v1/episodes/batch", json={"episodes": items})
        assert answer.status_code == 200, answer.text
        results = answer.json()["results"]
        with self._lock:
            for item, result in zip(items, results, strict=True):
                self.written[result["id"]] = (item["idempotency_key"], item["text"])

    def erase(self, chance: random.Random) -> None:
        with self._lock:
            left = sorted(self.written.keys() - self.erased - self.unsure)
            if len(left) < 12:
                ident = None
            else:
                ident = chance.choice(left)
                self.unsure.add(ident)
        if ident is None:
            time.sleep(0.1)
            return
        answer = self._call("DELETE", f"/v1/episodes/{ident}")
        assert answer.status_code == 204, answer.text
        with self._lock:
            self.unsure.discard(ident)
            self.erased.add(ident)

    def read(self, chance: random.Random) -> None:
        time.sleep(chance.uniform(0.0, 0.1))
        with self._lock:
            gone = set(self.erased)
        body = {"cue": f"What did {chance.choice(NAMES)} paint?", "k": 50}
        answer = self._call("POST", "/v1/recall", json=body)
        assert answer.status_code == 200, answer.text
        hits = {hit["episode"]["id"] for hit in answer.json()["hits"]}
        assert not hits & gone, "an erased memory was woken"

    def keep(self, chance: random.Random) -> None:
        """Put to sleep, archive, restore, wake, consolidate."""
        time.sleep(chance.uniform(0.0, 0.3))
        with self._lock:
            known = sorted(self.written.keys() - self.erased)
        ids = {"ids": chance.sample(known, min(len(known), 5))}
        what = chance.randrange(8)
        if not known:
            time.sleep(0.1)
            return
        if what == 0 or len(known) < 10:
            answer = self._call("POST", "/v1/dormancy/sleep", json=ids)
        elif what in {1, 2}:
            answer = self._call("POST", "/v1/archive", json={"days": 0})
        elif what in {3, 4}:
            answer = self._call("POST", "/v1/archive/restore", json=ids)
        elif what in {5, 6}:
            answer = self._call("POST", "/v1/dormancy/wake", json=ids)
        else:
            answer = self._call("POST", "/v1/consolidation", json={})
        assert answer.is_success, answer.text


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.start()
    yield made
    made.stop()


@contextmanager
def operator_of(house: House) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=house.url, headers=headers, timeout=60) as client:
        yield client


def wait_ready(house: House) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{house.url}/readyz", timeout=10).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("it does not come back")


def quiet(owner: Owner) -> None:
    """Wait until no job runs, so that the doctor looks at a graph at rest."""
    deadline = time.monotonic() + 300
    while True:
        jobs = owner.get("/v1/jobs").json()["items"]
        if not [job for job in jobs if job["state"] in {"queued", "running"}]:
            break
        assert time.monotonic() < deadline, jobs[0]
        time.sleep(0.2)
    assert {job["state"] for job in jobs} <= {"done"}, [job["fault"] for job in jobs]


def compare(owner: Owner, crew: Crew) -> None:
    """Hold what is stored against what was acknowledged."""
    assert crew.faults == []
    found = stored(owner)
    assert len(found) == len(set(found)), "doubled"
    must = crew.written.keys() - crew.erased - crew.unsure
    assert must <= set(found), "lost"
    assert not crew.erased & set(found), "back from erasure"
    for ident in sorted(crew.unsure):
        # No answer came: it is gone whole, or it is there whole and erased now.
        answer = owner.delete(f"/v1/episodes/{ident}")
        assert answer.status_code in {204, 404}, answer.text
    crew.erased |= crew.unsure
    crew.unsure = set()
    sent = [
        {"text": "Anything else.", "idempotency_key": crew.written[ident][0]}
        for ident in sorted(crew.erased)
    ]
    if sent:
        again = owner.post("/v1/episodes/batch", json={"episodes": sent[-1_000:]}).json()
        assert (again["created"], again["existed"]) == (0, 0), "an erased key is taken again"
    stats = owner.get("/v1/stats").json()
    assert stats["episodes"] == len(stored(owner))
    for ident in [one for one in crew.written if one in must][-3:]:
        episode = owner.get(f"/v1/episodes/{ident}").json()
        if episode["state"] != "archived":
            assert episode["text"] == crew.written[ident][1]
        if episode["state"] == "live":
            assert crew.written[ident][1] in owner.recalled(crew.written[ident][0], k=50)
    scrubbed = owner.post("/v1/archive/scrub").json()
    assert scrubbed["damaged"] == [], scrubbed
    examined = owner.get("/v1/doctor").json()
    assert examined["is_healthy"], examined["findings"]


@pytest.mark.timeout(240 * KILLS + 300)
def test_what_was_acknowledged_outlives_a_storm(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)  # noqa: S311 (so that a storm can be repeated)
    with operator_of(house) as operator:
        name = "storm"
        assert operator.post("/v1/tenants", json={"name": name}).status_code == 201
        issued = operator.post(
            "/v1/keys",
            json={"name": "crew", "scopes": ["read", "write", "admin"]},
            headers={"Ecphoria-Tenant": name},
        ).json()
    crew = Crew(house, issued["secret"])
    begun, killed = time.monotonic(), {"service": 0, "neo4j": 0}
    try:
        for number in range(KILLS):
            crew.wait_for_work(chance.uniform(0.0, 4.0))
            what = ("service", "neo4j")[number % 2]
            killed[what] += 1
            if what == "service":
                house.kill_service()
                house.start()
            else:
                house.kill_neo4j()
                time.sleep(1.0)
            wait_ready(house)
            crew.wait_for_work(chance.uniform(0.0, 2.0))
            crew.pause()
            with Owner(house.url, name, issued["secret"]) as owner:
                quiet(owner)
                compare(owner, crew)
            crew.resume()
    finally:
        crew.stop()
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{KILLS} kills {killed} in {time.monotonic() - begun:.0f} s;"
            f" answered {dict(crew.done)}, not answered {dict(crew.refused)};"
            f" {len(crew.written)} episodes written, {len(crew.erased)} erased"
        )
    assert crew.refused.total() > 0
    assert len(crew.erased) > 0
