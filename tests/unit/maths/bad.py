"""One test of arguments that a kernel cannot use."""

from collections.abc import Callable

import pytest


def refused(
    *calls: Callable[[], object], saying: str = "must"
) -> Callable[[Callable[[], object]], None]:
    """Make a test that each call is refused by a message like this."""

    @pytest.mark.parametrize("call", calls)
    def test(call: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match=saying):
            call()

    return test
