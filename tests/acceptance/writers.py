"""Callers that write on while what they write to is killed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.acceptance.conftest import Owner

BATCH = 3


class Writers:
    """Each writes batches, every body with its key, until told to stop.

    `acknowledged` tells the id by key; `refused` counts batches that were answered otherwise, or
    not at all.
    """

    def __init__(self, owner: Owner, number: int) -> None:
        self.acknowledged: dict[str, str] = {}
        self.refused = 0
        self._owner = owner
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(number)
        self._work = [self._pool.submit(self._write, who) for who in range(number)]

    def wait_for(self, number: int) -> None:
        deadline = time.monotonic() + 120
        while len(self.acknowledged) < number:
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def wait_for_a_refusal(self) -> None:
        deadline = time.monotonic() + 60
        while not self.refused:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def stop(self) -> None:
        self._over.set()
        self._pool.shutdown()
        for one in self._work:
            one.result()

    def _write(self, who: int) -> None:
        turn = 0
        while not self._over.is_set():
            keys = [f"{who}-{turn}-{item}" for item in range(BATCH)]
            body = {"episodes": [body_of(key) for key in keys]}
            turn += 1
            try:
                answer = self._owner.post("/v1/episodes/batch", json=body)
            except httpx.TransportError:
                self.refused += 1
                continue
            if answer.status_code == 200:
                results = answer.json()["results"]
                self.acknowledged |= {
                    key: one["id"] for key, one in zip(keys, results, strict=True)
                }
            else:
                assert answer.json()["type"] == "/errors/store-unavailable", answer.text
                self.refused += 1


def body_of(key: str) -> dict[str, str]:
    return {"text": f"Note {key} of the log.", "session": key[0], "idempotency_key": key}


def stored(owner: Owner) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = owner.get("/v1/episodes", params={"limit": "1000", **cursor}).json()
        found += [episode["id"] for episode in page["items"]]
        if not page.get("next_cursor"):
            return found
        cursor = {"cursor": page["next_cursor"]}


def require_once(owner: Owner, writers: Writers) -> None:
    """Everything acknowledged is stored once, every other batch whole or not at all."""
    found = stored(owner)
    assert len(found) == len(set(found))
    assert set(writers.acknowledged.values()) <= set(found)
    assert len(found) % BATCH == 0
    sent = [body_of(key) for key in writers.acknowledged]
    repeated = owner.post("/v1/episodes/batch", json={"episodes": sent}).json()
    assert (repeated["existed"], repeated["created"]) == (len(sent), 0)
    assert owner.get("/v1/stats").json()["episodes"] == len(found)
