"""Limit the number of concurrent requests, and share it fairly between tenants."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ecphoria.errors import TooManyRequests
from ecphoria.runtime import Bounded, Requester, usable_cores, work_for
from ecphoria.settings import LimitsSettings

_FEWEST = 2
"""Concurrent requests even on one core: while one waits for the store, another computes."""

_KEPT_FREE = 1
"""Slots that no single tenant gets, so that others are served while its requests take long
(decision 0041)."""

_RECENT_S = 1.0
"""Seconds for which a tenant stays active after its last request. Clients pause between requests,
and must not lose their share of the slots in each pause."""

_REMEMBERED = 10_000
"""Number of callers whose rate is remembered; the longest silent caller is dropped first."""


def slots_of(limits: LimitsSettings) -> int:
    """Count the slots for short requests of one tenant: the number of cores, at least 2.

    All tenants together have one slot more, so that no tenant has all (decision 0041). More slots
    would raise the total rate by 20 %, but every request would wait for a tenant that sends very
    many.
    """
    return limits.concurrent or max(_FEWEST, usable_cores())


@dataclass(slots=True)
class _Slot:
    """The slot of a request.

    Attributes:
        is_held: Whether the request runs: false while it rests and after its end.
    """

    turns: "_Turns"
    group: "_Group"
    is_held: bool = True


_SLOT: ContextVar[_Slot | None] = ContextVar("slot", default=None)


@asynccontextmanager
async def resting() -> AsyncIterator[None]:
    """Release the request's slot in the block, while it waits for another service.

    After the block it continues at once, even if all slots are taken, because it was admitted
    before. Outside a request, and in tasks that outlive a request, nothing happens.
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
    """Admits each request in turn, or refuses it."""

    def __init__(
        self,
        limits: LimitsSettings,
        *,
        monotonic: Callable[[], float],
        waited: Callable[[str, float], None] = lambda *_: None,
        burst_s: float = 10.0,
    ) -> None:
        """Build the admission of a service.

        `waited` is called with the kind of each admitted request and its wait in seconds. A burst
        is as large as a rate in `burst_s` seconds.
        """
        self._monotonic = monotonic
        self._waited = waited
        self._turns = {
            "bulk": _Turns(limits.bulk, limits, monotonic),
            "short": _Turns(slots_of(limits), limits, monotonic),
        }
        self._tenants = _Rates(limits.tenant_rate, burst_s, monotonic)
        self._keys = _Rates(limits.key_rate, burst_s, monotonic)

    @asynccontextmanager
    async def admit(self, tenant: str, key: str | None, *, bulk: bool) -> AsyncIterator[Requester]:
        """Admit one request for the length of the block, when it is the tenant's turn.

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
            yield work_for(tenant)


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
    """Fair turns: an equal share of slots for each active tenant, the rest for any that wait.

    A tenant that sends very many requests delays only itself. There is one slot more than one
    tenant may have, for the others (decision 0041).
    """

    def __init__(self, slots: int, limits: LimitsSettings, monotonic: Callable[[], float]) -> None:
        # Two appends with long texts once held both slots, and all other tenants were refused
        # (decision 0041).
        self._free = slots + _KEPT_FREE
        self._slots = slots + _KEPT_FREE
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
        """Release a slot of this group for another request."""
        self._free += 1
        group.running -= 1
        group.seen = self._monotonic()
        self._dispatch()

    def take(self, group: _Group) -> None:
        """Take a slot again without waiting; the number of free slots may fall below 0."""
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
        # If this tenant alone waits for its own share, no other request's end would start it.
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

        The tenant with the fewest running requests is first; of equals, the one served longest
        ago.
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
        """Compute the number of slots that one tenant may hold now."""
        now = self._monotonic()
        for tenant, group in list(self._groups.items()):
            if not group.busy and now - group.seen > _RECENT_S:
                del self._groups[tenant]
        share = math.ceil(self._slots / max(1, len(self._groups)))
        return max(1, min(share, self._slots - _KEPT_FREE))


class _Rates:
    """A rate for each caller, with bursts (the leaky bucket as a meter; GCRA)."""

    def __init__(self, rate: float | None, burst_s: float, monotonic: Callable[[], float]) -> None:
        self._rate = rate
        self._burst_s = burst_s
        self._monotonic = monotonic
        self._due = Bounded[str, float](_REMEMBERED)

    def spend(self, caller: str) -> None:
        """Count one request.

        Raises:
            TooManyRequests: The caller exceeds its rate; the error tells when to retry.
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
