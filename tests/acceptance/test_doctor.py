"""The doctor over HTTP."""

from tests.acceptance.conftest import Owner, problem


def test_a_tenant_is_examined_by_its_admin(owner: Owner) -> None:
    owner.remember("I keep bees behind the mill.", speaker="Ada", session="s")
    found = owner.get("/v1/doctor").json()
    assert (found["is_healthy"], found["episodes"], found["findings"]) == (True, 1, [])


def test_a_reader_may_not(owner: Owner) -> None:
    issued = owner.post("/v1/keys", json={"name": "reader", "scopes": ["read"]}).json()
    refused = owner.get("/v1/doctor", headers={"Authorization": f"Bearer {issued['secret']}"})
    problem(refused, 403, "forbidden")
