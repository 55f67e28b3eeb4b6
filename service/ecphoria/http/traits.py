"""Traits of routes: the slots they use, the size of their bodies, and how long they may take."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.routing import BaseRoute, Match
from starlette.types import Scope

SMALL = 256_000
"""Bytes of a body that holds no memories; a recall with a long vector has a tenth of it."""

_NAME = "__ecphoria_traits__"
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the service needs to know about a route before it is called.

    Attributes:
        is_bulk: It may take seconds, so it uses the slots of bulk requests.
        is_read: It writes nothing that the caller waits for, so it may be given up at any moment.
        is_large: Its body holds memories or items.
    """

    is_bulk: bool = False
    is_read: bool = False
    is_large: bool = False


def having(
    *, is_bulk: bool = False, is_read: bool = False, is_large: bool = False
) -> Callable[[_Endpoint], _Endpoint]:
    """Give an endpoint traits; without this, a `GET` is a read and all else has none."""
    traits = Traits(is_bulk=is_bulk, is_read=is_read, is_large=is_large)

    def give(endpoint: _Endpoint) -> _Endpoint:
        setattr(endpoint, _NAME, traits)
        return endpoint

    return give


def traits_of(route: BaseRoute) -> Traits:
    """Tell the traits of a route."""
    endpoint = getattr(route, "endpoint", None)
    is_get = "GET" in (getattr(route, "methods", None) or ())
    found: Traits = getattr(endpoint, _NAME, Traits(is_read=is_get))
    return found


def takes_large(routes: Iterable[BaseRoute], scope: Scope) -> bool:
    """Tell whether the route of a request takes a body with memories or items.

    It takes .1 ms, because each route compares its own pattern with the path.
    """
    return any(
        traits_of(route).is_large and route.matches(scope)[0] is Match.FULL for route in routes
    )
