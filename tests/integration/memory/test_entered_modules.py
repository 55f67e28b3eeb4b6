"""How many modules a default recall enters: what a reader must open to follow one."""

import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ecphoria
from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from tests.integration.memory.talks import turns

PACKAGE = str(Path(ecphoria.__file__).parent)
# A recall of a chat or of documents; the store, the text rules and the arithmetic are part of it.
# Four read other languages and names of code, and four compare memories in time.
MOST_MODULES = 49


class Watch:
    """Record the modules of the package that calls enter, and the moves between them."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.moves = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(PACKAGE):
            return
        self.modules.add(name.removeprefix(PACKAGE)[1:])
        caller = frame.f_back
        self.moves += caller is not None and caller.f_code.co_filename != name


async def watched(call: Callable[[], Awaitable[object]]) -> Watch:
    """Record what one call enters."""
    watch = Watch()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        await call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return watch


async def test_a_default_recall_enters_few_modules(
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    capsys: pytest.CaptureFixture[str],
) -> None:
    documents = [
        NewEpisode(title="Turku", text="A town by the river Aura, founded by monks."),
        NewEpisode(title="Aura", text="A river that flows through Turku to the sea."),
    ]
    await ingest.append_batch(tenant, [*turns(), *documents])
    cue = Cue(text="What did Ana see in Turku?")
    await recalls.recall(tenant, cue, RecallOptions())
    # Some caches are read again after a time, so the shortest of several recalls counts.
    watches = [
        await watched(lambda: recalls.recall(tenant, cue, RecallOptions())) for _ in range(5)
    ]
    watch = min(watches, key=lambda each: len(each.modules))
    with capsys.disabled():
        told = f"a default recall enters {len(watch.modules)} modules by {watch.moves} moves:"
        print("", told, *sorted(watch.modules), sep="\n")  # noqa: T201 (for a reader)
    assert len(watch.modules) <= MOST_MODULES
