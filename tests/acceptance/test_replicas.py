"""Three services on one Neo4j behind HAProxy, killed in turn while callers write and read.

Nothing acknowledged is lost or doubled, a memory is found by whichever service is asked next, and
each job is done once. The proxy's file is the one that the docs give.
"""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.acceptance.conftest import Owner, new_owner
from tests.acceptance.process import KEY, Child, child
from tests.acceptance.writers import stored
from tests.conftest import Server, free_ports

pytestmark = pytest.mark.outage

CONFIG = Path(__file__).parents[2] / "docker" / "haproxy.cfg"
REPLICAS = 3
KILLS = 4
BETWEEN = 25
"""Memories that callers write and find between two kills."""
CALLERS = 4
PASSING = {502, 503, 504}
"""What the proxy, or a service that ends, answers while another could serve."""


class Replicas:
    """The services, each on a port of its own, so that a new one takes the place of a dead one."""

    def __init__(self, neo4j: Server, home: Path) -> None:
        self._neo4j = neo4j
        self._homes = [home / str(number) for number in range(REPLICAS)]
        own, *self.ports = free_ports(1 + REPLICAS)
        self.listen = f"127.0.0.1:{own}"
        self._running: list[tuple[ExitStack, Child] | None] = [None] * REPLICAS

    def start(self, number: int) -> None:
        home = self._homes[number]
        home.mkdir(exist_ok=True)
        stack = ExitStack()
        service = child(
            self._neo4j, home,
            ECPHORIA_SERVER__PORT=str(self.ports[number]),
            ECPHORIA_JOBS__LEASE_S="5",
            ECPHORIA_JOBS__ATTEMPTS="20",
        )  # fmt: skip
        self._running[number] = stack, stack.enter_context(service)

    def kill(self, number: int) -> None:
        running = self._running[number]
        assert running is not None
        stack, service = running
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
        self._running[number] = None
        stack.close()

    def stop(self) -> None:
        for running in self._running:
            if running is not None:
                running[0].close()


@contextmanager
def proxy(listen: str, ports: list[int]) -> Iterator[str]:
    program = shutil.which("haproxy")
    assert program, "this test drives a real proxy: apt-get install haproxy"
    services = {f"SERVICE_{place}": f"127.0.0.1:{port}" for place, port in enumerate(ports, 1)}
    environment = {**os.environ, "LISTEN": listen, **services}  # noqa: TID251
    with subprocess.Popen([program, "-f", str(CONFIG), "-db"], env=environment) as process:
        try:
            yield f"http://{listen}"
        finally:
            process.terminate()


class Callers:
    """Each writes a memory until that is acknowledged, then asks for it at once.

    `acknowledged` tells the id by key, `elsewhere` counts memories that another service found than
    the one that stored them, `tried_again` calls that met a service that was ending.
    """

    def __init__(self, owner: Owner) -> None:
        self.acknowledged: dict[str, str] = {}
        self.elsewhere = self.tried_again = 0
        self._owner = owner
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(CALLERS)
        self._work = [self._pool.submit(self._go, who) for who in range(CALLERS)]

    def wait_for_more(self) -> None:
        before, deadline = len(self.acknowledged), time.monotonic() + 120
        while len(self.acknowledged) < before + BETWEEN:
            for one in self._work:
                if one.done():
                    one.result()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def stop(self) -> None:
        self._over.set()
        self._pool.shutdown()
        for one in self._work:
            one.result()

    def _go(self, who: int) -> None:
        chance = random.Random(who)  # noqa: S311
        while not self._over.is_set():
            word = "note" + "".join(chance.choices("bcdfghklmnprstvz", k=12))
            written = self._answered(
                "/v1/episodes",
                {"text": f"The log has {word}.", "session": f"s{who}", "idempotency_key": word},
            )
            found = self._answered("/v1/recall", {"cue": f"What has {word}?", "record": False})
            assert word in found.json()["hits"][0]["episode"]["text"]
            with self._lock:
                self.acknowledged[word] = written.json()["id"]
                self.elsewhere += written.headers["Served-By"] != found.headers["Served-By"]

    def _answered(self, path: str, body: dict[str, object]) -> httpx.Response:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                answer = self._owner.post(path, json=body)
            except httpx.TransportError:
                pass
            else:
                if answer.status_code not in PASSING:
                    assert answer.status_code in {200, 201}, answer.text
                    return answer
            with self._lock:
                self.tried_again += 1
            time.sleep(0.05)
        raise AssertionError(f"{path} was not answered for a minute")


def test_replicas_behind_a_proxy_lose_nothing_when_they_are_killed(
    neo4j_server: Server, tmp_path: Path
) -> None:
    replicas = Replicas(neo4j_server, tmp_path)
    headers = {"Authorization": f"Bearer {KEY}"}
    try:
        for number in range(REPLICAS):
            replicas.start(number)
        with (
            proxy(replicas.listen, replicas.ports) as url,
            httpx.Client(base_url=url, headers=headers, timeout=60) as operator,
        ):
            wait_for_proxy(operator)
            with new_owner(operator) as owner:
                callers, jobs = Callers(owner), list[str]()
                try:
                    for kill in range(KILLS):
                        callers.wait_for_more()
                        jobs.append(a_cycle(owner))
                        replicas.kill(kill % REPLICAS)
                        callers.wait_for_more()
                        replicas.start(kill % REPLICAS)
                finally:
                    callers.stop()
                wait_for_proxy(operator)  # it finds a service ready some checks after the start
                require_all_once(owner, callers)
                for job in jobs:
                    require_done(owner, job)
    finally:
        replicas.stop()


def wait_for_proxy(operator: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if operator.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the proxy answers nothing")


def a_cycle(owner: Owner) -> str:
    """Ask for a consolidation, so that the killed service may hold a job; give its address."""
    accepted = owner.post("/v1/consolidation", json={"steps": ["prior"]})
    assert accepted.status_code == 202, accepted.text
    return str(accepted.headers["Location"])


def require_all_once(owner: Owner, callers: Callers) -> None:
    found = stored(owner)
    assert len(found) == len(set(found))
    assert set(callers.acknowledged.values()) <= set(found)
    # What each caller wrote last may be stored and not yet found when it was told to stop.
    assert len(found) - len(callers.acknowledged) <= CALLERS
    # Two of three memories are asked of another service than the one that stored them.
    assert callers.elsewhere > len(callers.acknowledged) / 3


def require_done(owner: Owner, job: str) -> None:
    deadline = time.monotonic() + 120
    while (told := owner.get(job).json())["state"] in {"queued", "running"}:
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    assert told["state"] == "done", told
