"""Turns that leave a matter open: their speaker asks or has not decided."""

from itertools import product

import pytest

from ecphoria.text.asking import leaves_open

MATTERS = ("chi or gin", "a name for the boat", "the blue tent")
UNDECIDED = (
    "I can't decide about {}.",
    "I haven\u2019t decided on {} yet.",
    "We are still choosing {}.",
    "I'm torn between {}, honestly.",
    "I don't know yet whether it will be {}.",
    "I'm not sure which to take: {}.",
    "Ich kann mich nicht entscheiden: {}.",
    "Ich weiß noch nicht, ob es gut ist: {}.",
)
ASKING = ("Should I take {}?", "I looked around. Would you pick {}? :)", "{}\uff1f")
DECIDED = (
    "OK, {} it is.",
    "We decided on {}.",
    "Why {}? Because I liked it.",
    "I chose {} in the end!",
    "Ich habe mich für {} entschieden.",
)


@pytest.mark.parametrize(("pattern", "matter"), list(product(UNDECIDED + ASKING, MATTERS)))
def test_an_open_matter(pattern: str, matter: str) -> None:
    assert leaves_open(pattern.format(matter))
    assert leaves_open(f"{'We talked about it for a long time. ' * 40}{pattern.format(matter)}")


@pytest.mark.parametrize(("pattern", "matter"), list(product(DECIDED, MATTERS)))
def test_a_decided_matter(pattern: str, matter: str) -> None:
    assert not leaves_open(pattern.format(matter))
