import pytest

from ecphoria.graph.lucene import all_of_any, any_of
from ecphoria.model.ids import TenantId

TENANT = TenantId("0123456789abcdef0123456789abcdef")


def test_the_tenant_is_required_and_scores_nothing() -> None:
    assert any_of(TENANT, ["cat", "hat"]) == f"+tenant:{TENANT}^0 +(terms:cat terms:hat)"


def test_phrases_want_all_their_stems() -> None:
    assert all_of_any(TENANT, [("new", "york"), ("rome",)]) == (
        f"+tenant:{TENANT}^0 +((+terms:new +terms:york) (+terms:rome))"
    )


@pytest.mark.parametrize("sign", list('+-&|!(){}[]^"~*?:\\/<>='))
def test_every_sign_of_the_query_language_is_escaped(sign: str) -> None:
    assert any_of(TENANT, [f"a{sign}"]).endswith(f"+(terms:a\\{sign})")


@pytest.mark.parametrize("word", ["AND", "OR", "NOT"])
def test_operators_are_words_like_others(word: str) -> None:
    assert any_of(TENANT, [word]).endswith(f"+(terms:\\{word})")
