import pytest

from ecphoria.neo4j_store.queries import any_of, any_phrase
from ecphoria.records.ids import TenantId

TENANT = TenantId("0123456789abcdef0123456789abcdef")


def test_the_tenant_is_required_and_scores_nothing() -> None:
    assert any_of(TENANT, ["cat", "hat"]) == f"+tenant:{TENANT}^0 +(terms:cat terms:hat)"


def test_names_are_phrases() -> None:
    assert any_phrase(TENANT, ["new york", "rome"]) == (
        f'+tenant:{TENANT}^0 +(words:"new york" words:"rome")'
    )


@pytest.mark.parametrize("sign", list('+-&|!(){}[]^"~*?:\\/<>='))
def test_every_sign_of_the_query_language_is_escaped(sign: str) -> None:
    assert any_of(TENANT, [f"a{sign}"]).endswith(f"+(terms:a\\{sign})")


@pytest.mark.parametrize("word", ["AND", "OR", "NOT"])
def test_operators_are_words_like_others(word: str) -> None:
    assert any_of(TENANT, [word]).endswith(f"+(terms:\\{word})")
