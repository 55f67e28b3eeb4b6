"""Near copies are the same words of the same speaker, and nothing else."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from ecphoria.recall.answer import load_shown, same_words
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import Superseded
from ecphoria.recall.walk import Walk
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId
from ecphoria.text.tokens import stems
from tests.unit.recall.builders import episode


class Store:
    """Gives episodes, and remembers what it was asked for."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.known = {one.id: one for one in episodes}
        self.asked: list[list[EpisodeId]] = []

    async def episodes(self, _: str, ids: Sequence[EpisodeId]) -> list[Episode]:
        self.asked.append(list(ids))
        return [self.known[one] for one in ids if one in self.known]


async def shown(
    episodes: Sequence[Episode],
    *,
    k: int = 5,
    collapse: bool = True,
    behind: Mapping[EpisodeId, Superseded] | None = None,
    outside: Sequence[EpisodeId] = (),
    cue: str = "",
) -> tuple[Ranked, Store]:
    """Rank the episodes as listed; those `outside` are no candidates."""
    store = Store(episodes)
    inside = [one for one in episodes if one.id not in outside]
    frame = SimpleNamespace(
        stems=tuple(stems(cue)),
        terms=tuple(" ".join(stems(one.text)) for one in inside),
        speaker=tuple(one.speaker for one in inside),
        title=tuple(one.title for one in inside),
        row={e.id: row for row, e in enumerate(inside)},
    )
    search = SimpleNamespace(store=store, tenant="t", frame=frame)
    ranked = Ranked(
        ids=tuple(one.id for one in episodes),
        parts=np.linspace(1.0, 0.1, len(episodes))[:, None],
        part_names=("text",), walk=Walk(), path=lambda _: (), superseded=behind or {},
    )  # fmt: skip
    found = await load_shown(cast("Search", search), ranked, k=k, collapse=collapse)
    return found, store


def texts(found: Ranked, k: int = 5) -> list[str]:
    return [found.episodes[one].text for one in found.ids[:k]]


def told(*said: str) -> list[Episode]:
    return [episode(text, turn=turn) for turn, text in enumerate(said, 1)]


async def test_copies_become_one_hit_and_the_list_is_filled_up() -> None:
    others = [f"Memory number {number}." for number in range(6)]
    found, _ = await shown(told(*["I like espresso."] * 8, *others))
    assert texts(found) == ["I like espresso.", *others[:4]]
    assert found.copies == {"e1": tuple(f"e{turn}" for turn in range(2, 9))}
    assert list(found.score) == sorted(found.score, reverse=True)
    assert found.parts[:, 0].tolist() == found.score.tolist()


async def test_the_best_ranked_copy_is_shown_and_the_newest_stands_last() -> None:
    said = [episode("Yes, tea!", turn=turn, day=day) for turn, day in ((1, 4), (2, 9), (3, 2))]
    found, _ = await shown(said)
    assert found.ids == ("e1",)
    assert found.copies == {"e1": ("e3", "e2")}


async def test_without_collapse_every_copy_is_a_hit() -> None:
    found, _ = await shown(told(*["I like espresso."] * 8), collapse=False)
    assert len(found.ids) == 8
    assert found.copies == {}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like espresso.", "i like  Espresso!"),
        ("I like espresso", "Oh, hi, I like espresso..."),
        ("I like espresso.", "I really, truly like espresso."),
        ("She said “no”.", 'She said "no"'),
        ("I don\u2019t know.", "I don't know"),
        ("When is it??", "When is it?"),
        ("我喜欢浓缩咖啡。", "我喜欢浓缩咖啡。"),
    ],
)
def test_case_and_punctuation_do_not_matter(first: str, second: str) -> None:
    assert same_words(first) == same_words(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The train leaves at 5 pm.", "The train leaves at 6 pm."),
        ("It was -5 degrees.", "It was 5 degrees."),
        ("It costs 5.5 euros.", "It costs 55 euros."),
        ("It costs €5.", "It costs $5."),
        ("I like espresso.", "I do not like espresso."),
        ("I don't like espresso.", "I don't really like espresso."),
        ("We moved from Bath to Bristol.", "We moved from Bristol to Bath."),
        ("You like espresso.", "You like espresso?"),
        ("I feel 😀", "I feel 😢"),
        ("Ich mag Käse", "Ich mag Köse"),
        ("x == 1", "x != 1"),
        ("oh", "hey"),
    ],
)
def test_another_meaning_is_no_copy(first: str, second: str) -> None:
    assert same_words(first) != same_words(second)


async def test_other_speakers_roles_and_titles_are_no_copies() -> None:
    same = "I like espresso."
    said = [
        episode(same, turn=1), episode(same, turn=2, speaker="Bo"),
        episode(same, turn=3, speaker=None), episode(same, turn=4, speaker=None, role="assistant"),
        episode(same, turn=5, speaker=None, title="A"),
        episode(same, turn=6, speaker=None, title="B"),
    ]  # fmt: skip
    found, _ = await shown(said, k=6)
    assert len(found.ids) == 6
    spelled = [episode(same, turn=1, speaker="ana"), episode(same, turn=2, speaker="Ana")]
    found, _ = await shown(spelled)
    assert found.copies == {"e1": ("e2",)}


async def test_today_on_another_day_is_another_event() -> None:
    text = "I ran ten miles today."
    found, _ = await shown([episode(text, turn=turn, day=day) for turn, day in ((1, 1), (2, 2))])
    assert len(found.ids) == 2
    found, _ = await shown([episode(text, turn=turn) for turn in (1, 2)])
    assert len(found.ids) == 1


async def test_an_outdated_memory_and_a_current_one_are_no_copies() -> None:
    late = Superseded(at=datetime(2025, 1, 1, tzinfo=UTC), by=(), keys=frozenset())
    said = told("I live in Bath.", "I live in Bath.", "I live in Bath.")
    found, _ = await shown(said, behind={EpisodeId("e2"): late})
    assert found.ids == ("e1", "e2")
    assert found.copies == {"e1": ("e3",)}


async def test_stems_alike_with_other_words_stay_apart() -> None:
    said = told("I like espresso.", "I do not like espresso.", "I like espresso!")
    found, _ = await shown(said)
    assert found.ids == ("e1", "e2")
    assert found.copies == {"e1": ("e3",)}


async def test_only_the_texts_of_hits_and_suspects_are_fetched() -> None:
    said = told(*(f"Memory number {number}." for number in range(50)), "Memory number 1.")
    _, store = await shown(said, k=5)
    assert len(store.asked) == 1
    assert set(store.asked[0]) == {*(f"e{turn}" for turn in range(1, 9)), "e51"}


async def test_copies_beyond_the_candidates_are_found_and_the_list_is_filled_up() -> None:
    said = told(*["I like espresso."] * 7, *(f"Memory number {number}." for number in range(9)))
    outside = [EpisodeId(f"e{turn}") for turn in range(2, 8)]
    found, store = await shown(said, k=5, outside=outside)
    assert texts(found) == ["I like espresso.", *(f"Memory number {n}." for n in range(4))]
    assert len(store.asked) <= 3


async def test_a_deleted_memory_is_left_out() -> None:
    said = told("One.", "Two.")
    found, store = await shown(said)
    del store.known[EpisodeId("e1")]
    found, _ = await shown(said[1:])
    assert texts(found) == ["Two."]


def output(number: int, *, end: str = "all tests passed", changed: int = 2) -> str:
    """Write a long output that differs from others in `changed` words."""
    lines = [
        f"step {each} of the build compiled unit {each * 7} of the tree" for each in range(40)
    ]
    for each in range(changed):
        lines[each] += f" in {number + each} ms"
    return "\n".join((*lines, end))


async def test_almost_the_same_long_outputs_are_one_hit_that_names_the_others() -> None:
    runs = [episode(output(n), turn=n, speaker="agent", role="tool") for n in range(1, 5)]
    found, _ = await shown([*runs, episode("A word.", turn=9)], k=2)
    assert found.ids[:2] == ("e1", "e9")
    assert found.copies == {"e1": ("e2", "e3", "e4")}


async def test_long_outputs_with_another_outcome_or_more_changes_are_apart() -> None:
    told = [output(1), output(2, end="one test failed"), output(3, changed=30)]
    runs = [episode(text, turn=n, role="tool") for n, text in enumerate(told, 1)]
    found, _ = await shown(runs)
    assert found.ids == ("e1", "e2", "e3")


async def test_long_outputs_of_two_speakers_or_with_titles_are_apart() -> None:
    told = [
        episode(output(1), turn=1, speaker="a"), episode(output(2), turn=2, speaker="b"),
        episode(output(3), turn=3, title="Build"), episode(output(4), turn=4, title="Build"),
    ]  # fmt: skip
    found, _ = await shown(told)
    assert len(found.ids) == len(told)


async def test_a_word_of_the_cue_keeps_long_outputs_apart() -> None:
    told = [
        episode(output(1, end="on macbook"), turn=1),
        episode(output(1, end="on thinkpad"), turn=2),
    ]
    apart, _ = await shown(told, cue="What ran on the thinkpad?")
    assert apart.ids == ("e1", "e2")
    joined, _ = await shown(told, cue="What was compiled?")
    assert joined.ids == ("e1",)


async def test_short_texts_must_be_the_same() -> None:
    told = "I walked along the river with Tom and saw {} swans near the old mill on the left bank."
    found, _ = await shown([episode(told.format(n), turn=n) for n in (1, 2, 3)])
    assert found.ids == ("e1", "e2", "e3")


async def test_without_collapse_long_outputs_are_hits_of_their_own() -> None:
    runs = [episode(output(n), turn=n) for n in (1, 2)]
    found, _ = await shown(runs, collapse=False)
    assert found.ids == ("e1", "e2")


async def test_many_near_copies_leave_room_for_other_memories() -> None:
    runs = [episode(output(n), turn=n) for n in range(1, 41)]
    others = [episode(f"Word number {n}.", turn=n) for n in range(50, 60)]
    found, _ = await shown([*runs, *others], k=5)
    assert found.ids[:5] == ("e1", "e50", "e51", "e52", "e53")
    assert all(one in found.episodes for one in found.ids[:5])
