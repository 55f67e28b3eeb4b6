"""An excerpt is the beginning of a text in one line."""

from hypothesis import example, given
from hypothesis import strategies as st

from ecphoria.records.episode import excerpt


@given(st.text(alphabet="ab \n\t", max_size=400))
@example(" ".join("a" * 100))
@example("a\n" * 40)
def test_an_excerpt_is_the_beginning_of_the_text_without_its_line_breaks(text: str) -> None:
    flat = " ".join(text.split())
    shown = excerpt(text)
    if len(flat) <= 80:
        assert shown == flat
    else:
        assert len(shown) <= 80
        assert shown.endswith("…")
        assert flat.startswith(shown[:-1])
