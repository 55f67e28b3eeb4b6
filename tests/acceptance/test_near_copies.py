"""Almost the same long outputs are one hit that names the others; nothing of them is lost."""

from typing import Any

from tests.acceptance.conftest import Owner

RUNS = 4


def output(number: int, host: str) -> str:
    """Write a long output; runs differ in their times, and in the name of the host."""
    lines = [f"step {each} of the nightly build compiled unit {each * 7}" for each in range(40)]
    lines[3] += f" in {number + 200} ms"
    return "\n".join((*lines, f"the build ran on {host}"))


def recall(owner: Owner, cue: str, **body: object) -> list[dict[str, Any]]:
    answer = owner.post("/v1/recall", json={"cue": cue, **body})
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def test_outputs_of_one_job_are_one_hit_unless_the_cue_tells_them_apart(owner: Owner) -> None:
    hosts = ["heron"] * (RUNS - 1) + ["osprey"]
    runs = [
        owner.remember(output(number, host), speaker="builder", role="tool", session="s")
        for number, host in enumerate(hosts)
    ]
    other = owner.remember("The nightly build is slow.", speaker="Ana", role="user", session="s")
    joined = {hit["episode"]["id"]: hit["copies"] for hit in recall(owner, "Nightly build?")}
    assert other in joined
    assert len(joined) == 2
    (best,) = set(joined) & set(runs)
    assert {best, *joined[best]} == set(runs)
    assert joined[other] == []
    apart = [hit["episode"]["id"] for hit in recall(owner, "Did the build run on osprey?")]
    assert runs[-1] in apart
    assert len(set(apart) & set(runs)) == 2
    every = recall(owner, "Nightly build?", collapse=False)
    assert len(every) == RUNS + 1
    assert all(hit["copies"] == [] for hit in every)
