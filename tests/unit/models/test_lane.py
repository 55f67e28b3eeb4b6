"""An embedder's thread, while it is closed with work at hand and work that waits."""

import asyncio
import threading
from functools import partial

import pytest

from ecphoria.errors import EncoderUnavailable
from ecphoria.models.onnx import LocalEmbedder
from ecphoria.models.weights import Weights
from ecphoria.runtime import Lane


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
