"""Whatever comes in is either storable as it is or refused with the remedy."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import EcphoriaError, InvalidInput, TooLarge
from ecphoria.ingest.prepare import facts_by_id, prepare
from ecphoria.ingest.validation import (
    body_hash,
    check_episode,
    checked_claims,
    checked_expiry,
    checked_time,
    content_key,
)
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria.records.ids import TenantId
from ecphoria.text.concepts import Claim, Triple

NOW = datetime(2025, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FACT = Statement(subject="Ida", predicate="repaints", object="the boat")
OLD_HASH = "2d98da251e094a510460f4bab517a54f654cfcdf9dd0d079a6de1950bd6d0022"
"""Of the good episode with the fact, before anything could be said of a fact's times."""
GOOD = NewEpisode(text="We repainted the boat.", session="s1", speaker="Ida")


def key(new: NewEpisode) -> str | None:
    return content_key(new, body_hash(new))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("text", "", "empty"),
        ("text", " \n\t", "empty"),
        ("text", "a\x00b", "U+0000"),
        ("text", "a\ud800b", "U+D800"),
        ("text", "a\x1bb", "U+001B"),
        ("speaker", "  ", "blank"),
        ("speaker", "a\x07", "U+0007"),
        ("session", "", "blank"),
        ("metadata", {"x": float("inf")}, "finite"),
        ("metadata", {"x": 2**70}, "64 bits"),
        ("extraction", Extracted(names=("Oslo", " ")), "blank"),
        ("extraction", Extracted(names=("a\x00b",)), "U+0000"),
        ("extraction", Extracted(facts=(FACT, replace(FACT, predicate=""))), "blank"),
        ("extraction", Extracted(facts=(replace(FACT, object="\ud800"),)), "U+D800"),
        ("extraction", Extracted(facts=(replace(FACT, qualifier="a\x00"),)), "U+0000"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(field: str, value: object, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_episode(replace(GOOD, **{field: value}))  # type: ignore[arg-type]
    assert says in refused.value.message
    assert refused.value.fields["field"] == field


def test_colours_of_a_terminal_are_no_part_of_a_text() -> None:
    log = "\x1b[1;31mFAILED\x1b[0m tests/test_cart.py \x1b[2K\x1b[38;5;9m1 failed\x1b[m in 2 s"
    made = prepare(TenantId("0" * 32), replace(GOOD, text=log), NOW, 3)
    assert made.new.text == "FAILED tests/test_cart.py 1 failed in 2 s"
    plain = prepare(TenantId("0" * 32), replace(GOOD, text=made.new.text), NOW, 3)
    assert plain.body_hash == made.body_hash
    for wrong, says in (("\x1b[31m\x1b[0m", "empty"), ("\x1b]0;a title\x07", "U+001B")):
        with pytest.raises(InvalidInput, match=re.escape(says)):
            prepare(TenantId("0" * 32), replace(GOOD, text=wrong), NOW, 3)


def test_the_end_of_a_life_lies_ahead_by_a_century_at_most() -> None:
    soon, century = timedelta(microseconds=1), timedelta(days=100 * 366)
    for ends_at in (NOW + soon, NOW + century, None):
        assert checked_expiry(ends_at, NOW) == ends_at
    for wrong in (NOW, NOW - soon, NOW + century + soon):
        with pytest.raises(InvalidInput) as refused:
            checked_expiry(wrong, NOW)
        assert refused.value.fields["field"] == "expires_at"


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ({"valid_to": NOW}, "must lie after"),
        ({"valid_from": NOW, "valid_to": NOW}, "must lie after"),
        ({"valid_from": NOW + 2 * DAY, "valid_to": NOW + DAY}, "must lie after"),
    ],
)
def test_a_fact_must_be_of_a_time(times: dict[str, datetime], says: str) -> None:
    given = Extracted(facts=(replace(FACT, **times),))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=says) as refused:
        checked_claims(given, NOW)
    assert refused.value.fields["field"] == "extraction"
    ahead = replace(FACT, valid_to=NOW + DAY)
    past = replace(FACT, valid_from=NOW - 2 * DAY, valid_to=NOW - DAY)
    checked_claims(Extracted(facts=(ahead, past)), NOW)


def test_a_denial_and_a_qualified_fact_are_facts_of_their_own() -> None:
    plain = Triple(subject="ida", predicate="repaints", object="the boat")
    told = [plain, replace(plain, negated=True), replace(plain, qualifier="in May"), plain]
    ids = facts_by_id(TenantId("0" * 32), [Claim(fact=fact) for fact in told])
    assert list(ids.values()) == told[:3]


def test_what_is_not_said_of_a_fact_leaves_the_hash_as_it_was() -> None:
    told = replace(GOOD, extraction=Extracted(facts=(FACT,)))
    assert body_hash(told) == OLD_HASH
    more = replace(FACT, valid_from=NOW)
    assert body_hash(replace(GOOD, extraction=Extracted(facts=(more,)))) != OLD_HASH


def test_a_text_may_have_any_length_and_a_name_may_not() -> None:
    check_episode(replace(GOOD, text="x" * 1_000_000))
    with pytest.raises(TooLarge, match="shorten"):
        check_episode(replace(GOOD, title="x" * 257))


def test_metadata_is_bounded_as_a_whole() -> None:
    with pytest.raises(TooLarge, match="metadata"):
        check_episode(replace(GOOD, metadata={f"k{n}": "v" * 1000 for n in range(20)}))


@given(st.text(max_size=200))
def test_any_text_is_accepted_or_refused_never_crashed_on(text: str) -> None:
    with suppress(EcphoriaError):
        check_episode(replace(GOOD, text=text))


@pytest.mark.parametrize(
    "instant",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, tzinfo=timezone(timedelta(hours=-12))),
        NOW + timedelta(days=366 * 101),
    ],
)
def test_impossible_times_are_refused(instant: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_time(instant, NOW)
    assert refused.value.fields["field"] == "occurred_at"


def test_times_are_brought_to_utc_and_the_near_future_is_allowed() -> None:
    local = datetime(2025, 7, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert checked_time(local, NOW) == datetime(2025, 7, 1, 12, tzinfo=UTC)
    assert checked_time(None, NOW) == NOW
    assert checked_time(NOW + timedelta(days=400), NOW) > NOW


def test_only_what_tells_repeats_apart_makes_a_key() -> None:
    assert key(GOOD) is None
    dated = replace(GOOD, occurred_at=NOW)
    assert key(dated) == key(replace(dated))
    assert key(dated) != key(replace(dated, speaker="Bo"))
    assert key(replace(dated, idempotency_key="k")) == "key:k"
    assert key(replace(GOOD, title="Boats")) is not None


def test_the_body_hash_ignores_the_key_and_the_vector() -> None:
    assert body_hash(GOOD) == body_hash(replace(GOOD, idempotency_key="k", vector=(1.0,)))
    assert body_hash(GOOD) != body_hash(replace(GOOD, metadata={"a": 1}))


@pytest.mark.parametrize(
    "given", [Extracted(names=("x" * 257,)), Extracted(facts=(replace(FACT, subject="x" * 257),))]
)
def test_an_extraction_is_bounded(given: Extracted) -> None:
    with pytest.raises(TooLarge, match="extraction"):
        check_episode(replace(GOOD, extraction=given))


def test_an_extraction_makes_another_body_but_no_other_document() -> None:
    document = NewEpisode(text="It is wide.", title="Oak Street")
    known = replace(document, extraction=Extracted(facts=(FACT,)))
    assert body_hash(known) != body_hash(document)
    assert body_hash(known) != body_hash(replace(known, extraction=Extracted()))
    assert content_key(known, body_hash(known)) == content_key(document, body_hash(document))


def test_what_came_without_an_extraction_keeps_the_hash_it_always_had() -> None:
    stored = "a5c5323477ea632ec5d459e46da0fa2b9f22e03921dbbdaf64dac8a5fb5eb64e"
    assert body_hash(GOOD) == stored
