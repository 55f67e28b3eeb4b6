import pytest

from ecphoria.consolidation.merge import compatible


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        ("black sea", "sea black", True),
        ("north school", "north schools", True),
        ("boeing 737", "boeing 747", False),
        ("boeing 747", "boeing 747 jet", True),
        ("boeing", "boeing 747", False),
        ("model 3b red", "model red", False),
    ],
)
def test_a_word_with_a_digit_in_one_name_alone_forbids_a_merge(
    one: str, other: str, may: bool
) -> None:
    assert compatible(one, other) is may
    assert compatible(other, one) is may
