import pytest

from ecphoria.consolidation.merge import NearNames, compatible, judged


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        ("black sea", "sea black", True),
        ("north school", "north schools", True),
        ("boeing 737", "boeing 747", False),
        ("boeing 747", "boeing 747 jet", True),
        ("boeing", "boeing 747", False),
        ("model 3b red", "model red", False),
        ("henry", "henry i", False),
        ("henry iv", "henry viii", False),
        ("chapter xl", "chapter lxi", False),
        ("samuel l jackson", "samuel jackson", True),
        ("mix tape", "tape", True),
        ("henry iv of england", "english henry iv", True),
    ],
)
def test_a_number_in_one_name_alone_forbids_a_merge(one: str, other: str, may: bool) -> None:
    assert compatible(one, other) is may
    assert compatible(other, one) is may


@pytest.mark.parametrize(
    ("one", "other", "kinds", "reason"),
    [
        ("vienna", "wien", ("place", "place"), "their vectors have a cosine of 0.95"),
        ("vienna", "wien", ("topic", "topic"), "their vectors have a cosine of 0.95"),
        ("vienna", "wien", ("place", "topic"), ""),
        ("apollo 11", "apollo 13", ("topic", "topic"), ""),
        ("apollo 11", "moon landing", ("topic", "topic"), ""),
        ("1999", "2001", ("time", "time"), ""),
        (
            "apollo 11",
            "11 apollo mission",
            ("topic", "topic"),
            "their vectors have a cosine of 0.95",
        ),
    ],
)
def test_near_vectors_propose_a_merge_unless_kind_or_number_forbids_it(
    one: str, other: str, kinds: tuple[str, str], reason: str
) -> None:
    kind, other_kind = kinds
    pair = NearNames(one=one, other=other, kind=kind, other_kind=other_kind, cosine=0.9512345)
    found = judged(pair)
    assert (found.names, found.cosine, found.reason) == (pair, 0.9512, reason)
