"""One test over many files: it counts once, and tells every file that fails."""

from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["for_each"]

T = TypeVar("T")


def for_each(items: Mapping[str, T]) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Make one test of a check of one item.

    >>> @for_each({"one": 1, "two": 2})
    ... def test_it_is_odd(number: int) -> None:
    ...     assert number % 2, "it is even"
    >>> test_it_is_odd()
    Traceback (most recent call last):
    ...
    AssertionError: two: it is even
    """
    assert items

    def looped(check: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            failed = []
            for name, item in items.items():
                try:
                    check(item)
                except AssertionError as error:
                    failed.append(f"{name}: {error}")
            if failed:
                raise AssertionError("\n".join(failed))

        test.__doc__ = check.__doc__
        return test

    return looped
