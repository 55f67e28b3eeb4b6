"""How often Python looks for reference cycles in a process that serves."""

import gc

__all__ = ["look_seldom"]

_NEW_OBJECTS, _YOUNG_PASSES, _OLD_PASSES = 100_000, 20, 20


def look_seldom() -> None:
    """Leave what start-up made alone, and look at the rest after 100,000 objects, not 700.

    A batch makes and drops a million objects, nearly all without cycles, beside tables that live
    as long as the process; walking these again and again took an eighth of an append.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_PASSES, _OLD_PASSES)
