"""An embedder's thread, while it is closed with work at hand and work that waits."""

import asyncio
import threading
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import EncoderUnavailable
from ecphoria.models.onnx import LocalEmbedder
from ecphoria.models.weights import Weights
from ecphoria.runtime import CallerGone, Lane, groups, run_text, work_for


async def test_work_is_done_in_its_order_off_the_loop() -> None:
    lane, done = Lane("test"), list[int]()

    def work(number: int) -> str:
        done.append(number)
        return threading.current_thread().name

    where = await asyncio.gather(*(lane.run(partial(work, number)) for number in range(3)))
    assert (done, where) == ([0, 1, 2], ["test_0"] * 3)
    lane.close()


async def test_a_fault_of_the_work_is_told_as_it_is() -> None:
    def fail() -> None:
        raise RuntimeError("its own")

    lane = Lane("test")
    with pytest.raises(RuntimeError, match="its own"):
        await lane.run(fail)
    lane.close()


async def test_closed_it_finishes_what_runs_and_refuses_what_waits_and_comes() -> None:
    lane, begun, go_on = Lane("test"), threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait(5)
        return "done"

    running = asyncio.create_task(lane.run(work))
    await asyncio.to_thread(begun.wait, 5)
    waiting = asyncio.create_task(lane.run(work))
    await asyncio.sleep(0)
    lane.close()
    with pytest.raises(EncoderUnavailable, match="stopping"):
        await waiting
    with pytest.raises(EncoderUnavailable, match="stopping"):
        await lane.run(work)
    go_on.set()
    assert await running == "done"


async def test_who_is_cancelled_is_not_told_that_the_lane_was_closed() -> None:
    lane, go_on = Lane("test"), threading.Event()
    waiting = asyncio.create_task(lane.run(lambda: go_on.wait(5)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    lane.close()


async def test_a_closed_encoder_is_unavailable(weights: Weights) -> None:
    encoder = LocalEmbedder(weights, threads=1)
    under_way = [asyncio.create_task(encoder.embed([f"text {n}" * 50])) for n in range(8)]
    await asyncio.sleep(0)
    await encoder.close()
    ends = await asyncio.gather(*under_way, return_exceptions=True)
    assert {type(one) for one in ends} == {EncoderUnavailable}
    with pytest.raises(EncoderUnavailable, match="stopping"):
        await encoder.embed(["text"])


@given(st.lists(st.integers(1, 12), min_size=2, max_size=4), st.integers(0, 3))
def test_callers_take_turns_however_much_each_asks(asks: list[int], first: int) -> None:
    async def check() -> None:
        lane, go_on, order = Lane("test"), threading.Event(), list[int]()

        async def ask(caller: int) -> None:
            work_for(str(caller))
            await lane.run(partial(order.append, caller))

        holding = asyncio.create_task(lane.run(lambda: go_on.wait(5)))
        await asyncio.sleep(0)
        callers = [*range(len(asks))]
        turned = callers[first % len(asks) :] + callers[: first % len(asks)]
        tasks = [asyncio.create_task(ask(each)) for each in turned for _ in range(asks[each])]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(holding, *tasks)
        lane.close()
        # Until a caller has all it wants, nobody is more than one turn ahead of it.
        for place in range(len(order)):
            done = [order[: place + 1].count(each) for each in callers]
            for each in callers:
                assert done[each] == asks[each] or max(done) <= done[each] + 1

    asyncio.run(check())


async def test_urgent_work_goes_before_all_that_waits() -> None:
    lane, go_on, order = Lane("test"), threading.Event(), list[str]()
    holding = asyncio.create_task(lane.run(lambda: go_on.wait(5)))
    await asyncio.sleep(0)
    tasks: list[asyncio.Task[None]] = []
    for name, is_urgent in (("slice", False), ("slice", False), ("cue", True)):
        work = partial(order.append, name)
        tasks.append(asyncio.create_task(lane.run(work, is_urgent=is_urgent)))
        await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(holding, *tasks)
    assert order == ["cue", "slice", "slice"]
    lane.close()


async def test_a_text_that_never_ends_holds_up_only_its_own_caller() -> None:
    never = threading.Event()

    async def stuck() -> None:
        requester = work_for("stuck")
        asyncio.get_running_loop().call_later(0.1, requester.leave)
        await run_text(never.wait, 0)

    async def other(number: int) -> int:
        work_for("other")
        return await run_text(lambda: number, 0)

    held = [asyncio.create_task(stuck()) for _ in range(9)]
    assert await asyncio.gather(*map(other, range(9))) == [*range(9)]
    # Nobody waits for what its caller has left, though its thread goes on.
    ends = await asyncio.gather(*held, return_exceptions=True)
    assert {type(one) for one in ends} == {CallerGone}
    assert await other(1) == 1
    never.set()


async def test_an_end_waits_for_the_work_that_runs_but_not_for_ever() -> None:
    lane, begun, go_on = Lane("test"), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(timeout=20)

    running = asyncio.create_task(lane.run(work))
    await asyncio.to_thread(begun.wait, 20)
    lane.close()
    await lane.ended(within_s=0.05)
    assert not running.done()
    waiting = asyncio.create_task(lane.ended(within_s=20))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    go_on.set()
    await waiting
    await running


@given(st.lists(st.integers(min_value=0, max_value=40)), st.integers(min_value=1, max_value=100))
def test_groups_hold_each_text_once_and_are_bounded_when_padded(
    lengths: list[int], most: int
) -> None:
    made = list(groups(lengths, most))
    assert sorted(place for group in made for place in group) == list(range(len(lengths)))
    for group in made:
        longest = max(lengths[place] for place in group)
        assert len(group) == 1 or len(group) * longest <= most
    for former, group in pairwise(made):
        assert (len(former) + 1) * lengths[group[0]] > most
