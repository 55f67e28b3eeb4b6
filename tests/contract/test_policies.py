import pytest

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.shadow import Policies
from ecphoria.records.recall import Choice, Policy, Shadow
from ecphoria.tenancy.store import Tenants
from tests.contract.tenants import a_tenant

CHOICE = Choice(strategy="synapse", options={"preset": "paper", "steps": 3, "row_guard": False})


async def test_a_policy_comes_back_as_it_was_given_and_goes(graph: Graph) -> None:
    tenants, policies, made, other = Tenants(graph), Policies(graph), a_tenant(), a_tenant()
    for one in (made, other):
        await tenants.create(one)
    for policy in (
        Policy(shadow=Shadow(choice=CHOICE, share=0.25)),
        Policy(promoted=(CHOICE, Choice(strategy="dense"))),
        Policy(shadow=Shadow(choice=CHOICE, share=1.0), promoted=(CHOICE,)),
        Policy(),
    ):
        await policies.save(made.id, policy)
        assert await policies.find(made.id) == policy
        assert await policies.find(other.id) == Policy()
    for one in (made, other):
        await tenants.erase(one.id)
    with pytest.raises(NotFound):
        await policies.find(made.id)
    with pytest.raises(NotFound):
        await policies.save(made.id, Policy())
