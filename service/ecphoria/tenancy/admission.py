"""Limit the requests worked on at once, and share them fairly between tenants."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ecphoria.errors import TooManyRequests
from ecphoria.runtime import usable_cores

_FEWEST = 2
"""Requests worked at once even on one core: while one waits for the store, another goes on."""

_RECENT_S = 1.0
"""A tenant stays active for so long after its last request. A client pauses between two requests;
it must not lose its share of the slots in each pause."""

_REMEMBERED = 10_000
"""Callers whose rate is remembered; the one that has been silent longest is forgotten first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on requests.

    Attributes:
        concurrent: Requests worked at once; as many as cores, at least 2. More would be 20 %
            faster in all, but each would wait for those of a tenant that sends very much.
        bulk: Of requests that take seconds: batches, exports, checks.
        waiting: Requests of one tenant that may wait.
        wait_s: Longest a request waits.
        tenant_rate, key_rate: Requests a second, on average; None for no limit.
        burst_s: Seconds of that rate that may come at once.
    """

    concurrent: int = field(default_factory=lambda: max(_FEWEST, usable_cores()))
    bulk: int = 2
    waiting: int = 256
    wait_s: float = 10.0
    tenant_rate: float | None = None
    key_rate: float | None = None
    burst_s: float = 10.0


@dataclass(slots=True)
class _Slot:
    """The slot of a request.

    Attributes:
        is_held: Whether the request works; not while it rests, nor after its end.
    """

    turns: "_Turns"
    group: "_Group"
    is_held: bool = True


_SLOT: ContextVar[_Slot | None] = ContextVar("slot", default=None)


@asynccontextmanager
async def resting() -> AsyncIterator[None]:
    """Give the request's slot to others in the block, while it waits for another service.

    It goes on at once after the block, also if all slots are taken then: it was admitted before.
    Outside a request, and in what a request left running, nothing happens.
    """
    slot = _SLOT.get()
    if slot is None or not slot.is_held:
        yield
        return
    slot.is_held = False
    slot.turns.give_back(slot.group)
    try:
        yield
    finally:
        slot.turns.take(slot.group)
        slot.is_held = True


class Admission:
    """Gives each request its turn, or refuses it."""

    def __init__(
        self,
        limits: Limits,
        *,
        monotonic: Callable[[], float],
        waited: Callable[[str, float], None] = lambda *_: None,
    ) -> None:
        """Share out the service.

        Args:
            limits: How many requests may run, wait and arrive.
            monotonic: Tells seconds.
            waited: Told the kind of each request admitted, and the seconds it waited.
        """
        self._monotonic = monotonic
        self._waited = waited
        self._turns = {
            "bulk": _Turns(limits.bulk, limits, monotonic),
            "short": _Turns(limits.concurrent, limits, monotonic),
        }
        self._tenants = _Rates(limits.tenant_rate, limits.burst_s, monotonic)
        self._keys = _Rates(limits.key_rate, limits.burst_s, monotonic)

    @asynccontextmanager
    async def admit(self, tenant: str, key: str | None, *, bulk: bool) -> AsyncIterator[None]:
        """Work one request in the block, once it is the tenant's turn.

        Args:
            tenant: Whose request it is.
            key: Name of the key that sent it.
            bulk: It may take seconds.

        Raises:
            TooManyRequests: The rate or the queue is over its limit, or no turn came in time.
        """
        self._tenants.spend(tenant)
        if key is not None:
            self._keys.spend(key)
        kind = "bulk" if bulk else "short"
        started = self._monotonic()
        async with self._turns[kind].turn(tenant):
            self._waited(kind, self._monotonic() - started)
            yield


@dataclass(slots=True)
class _Group:
    """The requests of one tenant."""

    running: int = 0
    queue: deque[asyncio.Future[None]] = field(default_factory=deque)
    seen: float = 0.0
    served: int = 0

    @property
    def busy(self) -> bool:
        return bool(self.running or self.queue)


class _Turns:
    """Fair turns: an equal share of the slots for each active tenant, the rest to whoever waits.

    A tenant that sends very much waits behind itself, not in front of others.
    """

    def __init__(self, slots: int, limits: Limits, monotonic: Callable[[], float]) -> None:
        self._free = slots
        self._slots = slots
        self._limits = limits
        self._monotonic = monotonic
        self._groups: OrderedDict[str, _Group] = OrderedDict()
        self._started = 0

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        group = self._groups.setdefault(tenant, _Group())
        group.seen = self._monotonic()
        self._groups.move_to_end(tenant)
        if self._free > 0 and not group.queue and group.running < self._share():
            self._start(group)
        else:
            await self._wait(group)
        slot = _Slot(self, group)
        _SLOT.set(slot)
        try:
            yield
        finally:
            slot.is_held = False
            self.give_back(group)

    def give_back(self, group: _Group) -> None:
        """Let another request use the slot of one of this group."""
        self._free += 1
        group.running -= 1
        group.seen = self._monotonic()
        self._dispatch()

    def take(self, group: _Group) -> None:
        """Take a slot again without waiting; there may be fewer than none free then."""
        self._free -= 1
        group.running += 1

    async def _wait(self, group: _Group) -> None:
        if len(group.queue) >= self._limits.waiting:
            raise TooManyRequests(
                f"{self._limits.waiting:,} requests of this tenant wait already; send fewer at "
                "once.",
                retry_after_s=math.ceil(self._limits.wait_s),
            )
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        group.queue.append(mine)
        # A tenant may stand alone behind its own share: nobody else's end would start it.
        self._dispatch()
        try:
            async with asyncio.timeout(self._limits.wait_s):
                await mine
        except BaseException as stopped:
            if mine.done() and not mine.cancelled():  # its turn came at the same moment
                self._free += 1
                group.running -= 1
                self._dispatch()
            else:
                group.queue.remove(mine)
            if isinstance(stopped, TimeoutError):
                raise TooManyRequests(
                    "The service is busy with earlier requests; send this one again.",
                    retry_after_s=1,
                ) from None
            raise

    def _start(self, group: _Group) -> None:
        self._free -= 1
        group.running += 1
        self._started += 1
        group.served = self._started

    def _dispatch(self) -> None:
        """Start waiting requests while there are slots.

        First of the tenant with the fewest running; of several, the one served longest ago.
        """
        while self._free > 0:
            waiting = [group for group in self._groups.values() if group.queue]
            if not waiting:
                break
            share = self._share()
            least = min(waiting, key=lambda group: (group.running, group.served))
            if least.running >= share:
                break
            self._start(least)
            least.queue.popleft().set_result(None)

    def _share(self) -> int:
        """Count the slots that one tenant may hold now."""
        now = self._monotonic()
        for tenant, group in list(self._groups.items()):
            if not group.busy and now - group.seen > _RECENT_S:
                del self._groups[tenant]
        return max(1, math.ceil(self._slots / max(1, len(self._groups))))


class _Rates:
    """A rate for each caller, with bursts (the leaky bucket as a meter; GCRA)."""

    def __init__(self, rate: float | None, burst_s: float, monotonic: Callable[[], float]) -> None:
        self._rate = rate
        self._burst_s = burst_s
        self._monotonic = monotonic
        self._due: OrderedDict[str, float] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Count one request.

        Raises:
            TooManyRequests: The caller is over its rate; says when to come again.
        """
        if self._rate is None:
            return
        now = self._monotonic()
        due = max(now, self._due.get(caller, now))
        over = due + 1 / self._rate - now - max(self._burst_s, 1 / self._rate)
        if over > 0:
            raise TooManyRequests(
                f"{self._rate:g} requests a second are allowed; send fewer.",
                retry_after_s=math.ceil(over),
            )
        self._due[caller] = due + 1 / self._rate
        self._due.move_to_end(caller)
        while len(self._due) > _REMEMBERED:
            self._due.popitem(last=False)
