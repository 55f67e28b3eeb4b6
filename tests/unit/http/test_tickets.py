"""Tickets that sign a browser in."""

from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.errors import StoreUnavailable, Unauthenticated
from ecphoria.http.explorer.tickets import Ticket, Tickets
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Scope

MINE, READ = TenantId("m"), frozenset({Scope.READ})
START = datetime(2026, 1, 1, tzinfo=UTC)


class Counted:
    """A clock that a test moves, and random bytes that never repeat."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._made = 0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def entropy(self, size: int) -> bytes:
        assert size == 32, "256 bits"
        self._made += 1
        return self._made.to_bytes(size, "big")


@pytest.fixture
def world() -> Counted:
    return Counted()


@pytest.fixture
def tickets(world: Counted) -> Tickets:
    return Tickets(clock=world, entropy=world.entropy)


def take(tickets: Tickets, secret: str) -> Ticket:
    with tickets.taken(secret) as ticket:
        return ticket


def test_a_ticket_is_taken_once(tickets: Tickets) -> None:
    secret, made = tickets.issue(MINE, READ)
    assert len(secret) == 43
    assert take(tickets, secret) == made
    assert (made.tenant, made.scopes) == (MINE, READ)
    with pytest.raises(Unauthenticated, match="ecphoria explore"):
        take(tickets, secret)


def test_a_ticket_whose_use_fails_is_taken_again(tickets: Tickets) -> None:
    secret, made = tickets.issue(MINE, READ)

    def use() -> None:
        with tickets.taken(secret):
            with pytest.raises(Unauthenticated):
                take(tickets, secret)
            raise StoreUnavailable("Neo4j does not answer.")

    with pytest.raises(StoreUnavailable):
        use()
    assert take(tickets, secret) == made


@pytest.mark.parametrize(("seconds", "works"), [(119.9, True), (120.0, False), (1e6, False)])
def test_a_ticket_lives_for_two_minutes(
    tickets: Tickets, world: Counted, seconds: float, *, works: bool
) -> None:
    secret, made = tickets.issue(MINE, READ)
    assert made.expires_at == START + timedelta(minutes=2)
    world.seconds = seconds
    if works:
        assert take(tickets, secret) == made
        return
    with pytest.raises(Unauthenticated):
        take(tickets, secret)


def test_an_unknown_ticket_takes_no_other(tickets: Tickets) -> None:
    secret, made = tickets.issue(MINE, READ)
    for wrong in ("", "A" * 43, secret[:-1], secret + "A", secret.swapcase()):
        with pytest.raises(Unauthenticated):
            take(tickets, wrong)
    assert take(tickets, secret) == made


def test_beyond_a_hundred_open_tickets_the_oldest_ends(tickets: Tickets) -> None:
    first, second, *_ = [tickets.issue(MINE, READ)[0] for _ in range(101)]
    with pytest.raises(Unauthenticated):
        take(tickets, first)
    take(tickets, second)
