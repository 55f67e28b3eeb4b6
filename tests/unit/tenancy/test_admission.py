"""Admission: bounded, fair between tenants, and never a slot lost."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import TooManyRequests
from ecphoria.settings import LimitsSettings
from ecphoria.tenancy.admission import Admission, resting, slots_of


class Hand:
    """A clock that only the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def worker(
    admission: Admission, started: list[str], ends: asyncio.Event
) -> Callable[[str], Coroutine[Any, Any, None]]:
    async def work(tenant: str) -> None:
        async with admission.admit(tenant, None, bulk=False):
            started.append(tenant)
            await ends.wait()

    return work


def test_one_tenant_alone_may_use_every_slot_and_no_more() -> None:
    async def check() -> None:
        started: list[str] = []
        ends = asyncio.Event()
        work = worker(Admission(LimitsSettings(concurrent=3), monotonic=Hand()), started, ends)
        tasks = [asyncio.create_task(work("a")) for _ in range(10)]
        await settle()
        assert started == ["a"] * 3
        ends.set()
        await asyncio.gather(*tasks)
        assert started == ["a"] * 10

    run(check())


@pytest.mark.parametrize(("cores", "slots"), [(1, 2), (2, 2), (16, 16)])
def test_a_service_works_as_many_requests_at_once_as_it_has_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, slots: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert slots_of(LimitsSettings()) == slots


def test_the_next_slot_goes_to_who_has_the_fewest_running() -> None:
    async def check() -> None:
        admission = Admission(LimitsSettings(concurrent=2), monotonic=Hand())
        started: list[str] = []
        first, rest = asyncio.Event(), asyncio.Event()
        flood = worker(admission, started, first)
        tasks = [asyncio.create_task(flood("flood")) for _ in range(2)]
        await settle()
        later = worker(admission, started, rest)
        tasks += [asyncio.create_task(later("flood")) for _ in range(50)]
        tasks += [asyncio.create_task(later(one)) for one in ("b", "c")]
        await settle()
        # No tenant has all slots, so one other is served at once.
        assert started == ["flood", "flood", "b"]
        first.set()
        await settle()
        assert started[3:] == ["c", "flood"]
        rest.set()
        await asyncio.gather(*tasks)
        assert len(started) == 54

    run(check())


def test_a_tenant_keeps_its_share_for_a_second_after_its_last_request() -> None:
    async def check() -> None:
        clock = Hand()
        admission = Admission(LimitsSettings(concurrent=4), monotonic=clock)
        started: list[str] = []
        ends = asyncio.Event()
        async with admission.admit("other", None, bulk=False):
            pass
        work = worker(admission, started, ends)
        tasks = [asyncio.create_task(work("flood")) for _ in range(8)]
        await settle()
        assert started == ["flood"] * 3
        clock.now = 2.0
        tasks.append(asyncio.create_task(work("flood")))
        await settle()
        assert started == ["flood"] * 4
        ends.set()
        await asyncio.gather(*tasks)

    run(check())


def test_a_full_queue_and_a_long_wait_are_refused() -> None:
    async def check() -> None:
        limits = LimitsSettings(concurrent=1, waiting=2, wait_s=0.05)
        admission = Admission(limits, monotonic=Hand())
        started: list[str] = []
        ends = asyncio.Event()
        work = worker(admission, started, ends)
        tasks = [asyncio.create_task(work("a")) for _ in range(3)]
        await settle()
        with pytest.raises(TooManyRequests, match="wait already"):
            await work("a")
        answers = await asyncio.gather(*tasks[1:], return_exceptions=True)
        assert [type(one) for one in answers] == [TooManyRequests] * 2
        ends.set()
        await tasks[0]
        await work("a")
        assert started == ["a", "a"]

    run(check())


def test_bulk_requests_leave_the_slots_of_short_ones_alone() -> None:
    async def check() -> None:
        admission = Admission(LimitsSettings(concurrent=1, bulk=1), monotonic=Hand())
        async with admission.admit("a", None, bulk=True), admission.admit("a", None, bulk=False):
            pass

    run(check())


@pytest.mark.parametrize(
    "limits",
    [LimitsSettings(tenant_rate=5.0), LimitsSettings(key_rate=5.0)],
    ids=["tenant", "key"],
)
def test_a_rate_allows_a_burst_and_then_says_when_to_come_again(limits: LimitsSettings) -> None:
    async def check() -> None:
        clock = Hand()
        admission = Admission(limits, monotonic=clock, burst_s=2.0)

        async def call(tenant: str, key: str) -> None:
            async with admission.admit(tenant, key, bulk=False):
                pass

        for _ in range(10):
            await call("a", "k")
        with pytest.raises(TooManyRequests, match="5 requests a second") as refused:
            await call("a", "k")
        assert refused.value.fields["retry_after_s"] == 1
        await call("b", "l")
        clock.now = 0.2
        await call("a", "k")
        with pytest.raises(TooManyRequests):
            await call("a", "k")

    run(check())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30), st.integers(1, 4))
def test_no_slot_is_lost_whoever_is_cancelled(calls: list[tuple[str, bool]], slots: int) -> None:
    async def check() -> None:
        limits = LimitsSettings(concurrent=slots, waiting=5, wait_s=5)
        admission = Admission(limits, monotonic=Hand())
        running = 0

        async def work(tenant: str) -> None:
            nonlocal running
            async with admission.admit(tenant, None, bulk=False):
                running += 1
                assert running <= slots
                try:
                    await asyncio.sleep(0)
                finally:
                    running -= 1

        tasks = []
        for tenant, cancelled in calls:
            task = asyncio.create_task(work(tenant))
            tasks.append(task)
            await asyncio.sleep(0)
            if cancelled:
                tasks[len(tasks) // 2].cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, TooManyRequests):
                await task
        held = [admission.admit(f"t{place}", None, bulk=False) for place in range(slots)]
        for one in held:
            await asyncio.wait_for(one.__aenter__(), 1)
        for one in held:
            await one.__aexit__(None, None, None)

    run(check())


def test_who_rests_lets_others_work_and_goes_on_at_once() -> None:
    async def main() -> None:
        admission = Admission(LimitsSettings(concurrent=1), monotonic=Hand())
        answered, other_runs, other_ends = (asyncio.Event() for _ in range(3))
        order: list[str] = []

        async def asks() -> None:
            async with admission.admit("a", None, bulk=False):
                order.append("asks")
                async with resting():
                    await answered.wait()
                order.append("goes on")

        async def recalls() -> None:
            async with admission.admit("b", None, bulk=False):
                order.append("other")
                other_runs.set()
                await other_ends.wait()

        asking = asyncio.create_task(asks())
        await asyncio.sleep(0)
        recalling = asyncio.create_task(recalls())
        await other_runs.wait()
        late = asyncio.create_task(recalls())
        answered.set()
        await asking  # although the other one still has the only slot
        assert order == ["asks", "other", "goes on"]
        assert not late.done()
        other_ends.set()
        await asyncio.gather(recalling, late)
        assert order[-1] == "other"
        # Nothing was lost or given twice: one works at a time again.
        other_runs.clear()
        other_ends.clear()
        both = [asyncio.create_task(recalls()) for _ in range(2)]
        await other_runs.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert order.count("other") == 3
        other_ends.set()
        await asyncio.gather(*both)

    asyncio.run(main())


def test_what_a_request_left_running_gives_no_slot_away() -> None:
    async def main() -> None:
        admission = Admission(LimitsSettings(concurrent=1), monotonic=Hand())
        ended, running, ends = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def left() -> None:
            await ended.wait()
            async with resting():
                await asyncio.sleep(0)

        async with admission.admit("a", None, bulk=False):
            behind = asyncio.create_task(left())
        ended.set()
        await behind
        async with resting():  # outside a request
            pass
        started = 0

        async def works() -> None:
            nonlocal started
            async with admission.admit("b", None, bulk=False):
                started += 1
                running.set()
                await ends.wait()

        tasks = [asyncio.create_task(works()) for _ in range(2)]
        await running.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert started == 1
        ends.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())


def test_the_rate_of_the_caller_silent_longest_is_forgotten_and_no_other() -> None:
    async def check() -> None:
        clock = Hand()
        admission = Admission(LimitsSettings(tenant_rate=1e-6), monotonic=clock, burst_s=1.0)

        async def call(tenant: int) -> None:
            clock.now += 2.0  # so that no earlier tenant counts as active
            async with admission.admit(str(tenant), None, bulk=False):
                pass

        for tenant in range(10_001):
            await call(tenant)
        for known in (1, 10_000):
            with pytest.raises(TooManyRequests):
                await call(known)
        await call(0)  # the first was forgotten, and may call again
        with pytest.raises(TooManyRequests):
            await call(0)

    run(check())
