"""Texts share the space of an answer, and are read whole page by page."""

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.mcp.answers import TEXT_BYTES, clipped, shared

TEXTS = st.lists(
    st.text(max_size=50) | st.sampled_from(["灯台" * 9_000, "lamp " * 5_000]), max_size=20
)


@given(TEXTS)
def test_texts_share_the_space_and_short_ones_are_whole(texts: list[str]) -> None:
    shown = shared(texts, 0)
    assert sum(len(text.encode()) for text, _ in shown) <= TEXT_BYTES
    for text, (part, rest) in zip(texts, shown, strict=True):
        assert text.startswith(part)
        assert (rest is None) == (part == text)
        if len(text) <= 50:
            assert rest is None
    if sum(len(text.encode()) for text in texts) > TEXT_BYTES:
        unused = TEXT_BYTES - sum(len(text.encode()) for text, _ in shown)
        assert unused < 4 * len(texts), "long texts get what short ones leave"


@given(st.text(max_size=100).map(lambda text: text * 500))
def test_the_parts_of_a_text_join_to_it(text: str) -> None:
    read, offset = "", 0
    while True:
        ((part, rest),) = shared([text], offset)
        read += part
        if rest is None:
            break
        assert rest > offset
        offset = rest
    assert read == text


@given(st.text(), st.integers(1, 20))
def test_a_clipped_text_is_one_line_within_its_bound(text: str, characters: int) -> None:
    short = clipped(text, characters)
    assert len(short) <= characters
    assert "\n" not in short
