"""What a command loads: a start costs processor time at every call."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ecphoria.cli.extras import EXTRAS
from tests.each import for_each
from tests.unit.cli.answers import answer, episode
from tests.unit.cli.conftest import StubService
from tests.unit.cli.leaves import LEAVES, fillers

RUN = """
import contextlib, io, json, sys
from ecphoria.cli.main import run

told = []
for call in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            run(call)
        except SystemExit as ended:
            told.append([call, ended.code, sorted(sys.modules)])
print(json.dumps(told))
"""
LOCAL = re.compile("(serve|worker|demo|neo4j|status|mcp|eval|backup|tenants (ex|im)port).*")
"""Commands that run parts of the service in their own process."""
HOME = "platformdirs"
"""It tells where the key of a local service is; an installation without it does without."""
SHARED = {
    "wire": {"base"},
    "records": {
        "answered",
        "ask",
        "asked",
        "forms",
        "conditions",
        "episode",
        "history",
        "ids",
        "recall",
        "traced",
    },
    "client": {"connections", "defaults", "exchange", "filters"},
}
"""Modules that a recall needs of the packages that all commands share."""


def loaded(calls: Sequence[Sequence[str]], url: str, home: Path) -> list[tuple[int, set[str]]]:
    """Run commands one after the other in one process; give how each ended, and its modules."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(calls)],
        capture_output=True, text=True, check=False, timeout=120,
        env={"ECPHORIA_URL": url, "ECPHORIA_HOME": str(home), "PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(code, set(modules)) for _, code, modules in json.loads(done.stdout)]


def test_a_command_of_the_client_loads_no_library_of_the_service(
    service: StubService, tmp_path: Path
) -> None:
    file = tmp_path / "in.json"
    file.write_text("[]", encoding="utf-8")
    names = [name for name in LEAVES if not LOCAL.fullmatch(name)]
    calls = [[*name.split(), *fillers(LEAVES[name], file)] for name in names]
    known: set[str] = {HOME}
    for name, (_, modules) in zip(names, loaded(calls, service.url, tmp_path), strict=True):
        found = (modules & EXTRAS.keys()) - known
        known |= found
        assert not found, f"{name} loads {found}"


@for_each({"help": ["--help"], "version": ["--version"]})
def test_the_list_and_the_version_load_nothing(call: list[str]) -> None:
    ((code, modules),) = loaded([call], "http://127.0.0.1:9", Path("/nowhere"))
    heavy = {"pydantic", "httpx", "asyncio", "ecphoria.client", "ecphoria.records"}
    assert (code, modules & (heavy | EXTRAS.keys())) == (0, set())


@pytest.mark.parametrize("more", [[], ["--json"], ["--explain"]])
def test_a_recall_loads_what_it_sends_and_reads(
    service: StubService, tmp_path: Path, more: list[str]
) -> None:
    service.routes["POST /v1/recall"] = 200, answer()
    service.routes[f"GET /v1/episodes/{'c' * 32}"] = 200, episode("c", "A tick bit me.")
    ((code, modules),) = loaded([["recall", "hi", *more]], service.url, tmp_path)
    assert code == 0
    assert modules & {"asyncio", "click", "pygments", "rich.live", *EXTRAS} - {HOME} == set()
    for package, wanted in SHARED.items():
        start = f"ecphoria.{package}."
        there = {name.removeprefix(start) for name in modules if name.startswith(start)}
        assert {name for name in there - wanted if not name.startswith("sync_")} == set(), package
    assert not [name for name in modules if name.startswith(("ecphoria.imports", "ecphoria.mcp"))]


AT_ONCE = """
import sys, threading
from ecphoria.records.asked import read_as, to_body
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import RecallRequest
from ecphoria.wire.episodes import BatchRequest

sys.setswitchinterval(1e-6)
together, failed = threading.Barrier(12), []

def use() -> None:
    together.wait()
    try:
        to_body(BatchRequest(episodes=(NewEpisode(text="x"),)))
        read_as(RecallRequest, {"cue": "x"})
    except BaseException as error:
        failed.append(error)

threads = [threading.Thread(target=use) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed)
"""


def test_threads_may_use_a_body_first_at_the_same_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
