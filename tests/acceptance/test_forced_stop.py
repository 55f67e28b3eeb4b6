"""SIGTERM ends a service within its time, whatever its threads do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.acceptance.process import KEY
from tests.conftest import CACHE, Server

PROGRAM = """
import asyncio, contextlib, sys
from ecphoria import runtime
from ecphoria.cli import serve as serving
from ecphoria.settings import read_settings

def spin():
    while True:
        sum(range(1_000))

async def main():
    runtime.work_for("a tenant")
    stuck = {
        "text": lambda: runtime.run_text(spin, 10**9),
        "thread": lambda: asyncio.to_thread(spin),
    }[sys.argv[1]]
    keep = asyncio.create_task(stuck())
    await serving.serve(read_settings())

with contextlib.suppress(asyncio.CancelledError):
    runtime.run(main())
"""
SHUTDOWN_S = 3


@pytest.mark.parametrize("stuck", ["text", "thread"])
def test_work_that_never_ends_holds_up_neither_others_nor_the_end(
    neo4j_server: Server, tmp_path: Path, stuck: str
) -> None:
    log = tmp_path / "log"
    environment = {
        **{name: text for name, text in os.environ.items() if "ECPHORIA" not in name},  # noqa: TID251
        "ECPHORIA_HOME": str(tmp_path),
        "ECPHORIA_CACHE": str(CACHE),
        "ECPHORIA_NEO4J__URI": neo4j_server.uri,
        "ECPHORIA_NEO4J__USER": neo4j_server.user,
        "ECPHORIA_NEO4J__PASSWORD": neo4j_server.password,
        "ECPHORIA_AUTH__BOOTSTRAP_KEY": KEY,
        "ECPHORIA_SERVER__PORT": "0",
        "ECPHORIA_SERVER__SHUTDOWN_S": str(SHUTDOWN_S),
        "ECPHORIA_JOBS__WORKERS": "0",
    }
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, stuck],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            said = process.stdout.readline().split()
            assert said[:1] == ["service"], log.read_text()
            headers = {"Authorization": f"Bearer {KEY}"}
            answer = httpx.get(f"{said[1]}/v1/tenants", headers=headers, timeout=30)
            assert answer.status_code == 200
            process.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            process.wait(timeout=SHUTDOWN_S + 10)
            assert time.monotonic() - begun < SHUTDOWN_S + 3  # the rest is the machine's load
        finally:
            process.kill()
