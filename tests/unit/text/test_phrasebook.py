# ruff: noqa: RUF001 (scripts of many languages)
"""Tests that changes and excuses of further languages are read in English."""

import re
from datetime import date

import pytest

from ecphoria.text.asking import Saying, names_and_numbers, only_acknowledges, read_asking
from ecphoria.text.change import Wanted, replaces, wanted
from ecphoria.text.cue import analyse, is_of_another
from ecphoria.text.dates import told_times
from ecphoria.text.dating import stated_dates
from ecphoria.text.languages import LANGUAGES, PHRASEBOOK
from ecphoria.text.phrasebook import LONGEST, _alternatives, in_english
from ecphoria.text.statements import read_statements


def _outdates(later: str, earlier: str) -> bool:
    return any(
        replaces(new, old, 0.5)
        for new in read_statements(later)
        for old in read_statements(earlier)
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Mon salaire est de 2100 euros.", "Mon salaire est passé à 2300 euros."),
        ("J'habite à Lille.", "Nous avons déménagé à Metz."),
        ("Je travaille chez Renault.", "Je ne travaille plus chez Renault."),
        ("Mi sueldo es de 1500 euros.", "Mi sueldo ha subido a 1600 euros."),
        ("Vivo en Granada, cerca del río.", "Nos hemos mudado a Cádiz."),
        ("Mi jefe es Luis Gil.", "Mi nueva jefa es Ana Roca."),
        ("Meu salário é de 4000 reais.", "Meu salário aumentou para 4300 reais."),
        ("Moro em Recife.", "A gente se mudou para Olinda."),
        ("Il mio stipendio è di 1400 euro.", "Il mio stipendio è salito a 1500 euro."),
        ("Abito a Torino.", "Mi sono trasferita a Genova."),
        ("Моя зарплата 70000 рублей.", "Зарплата выросла до 80000 рублей."),
        ("Я живу в Перми.", "Я переехала в Омск."),
        ("我的工资是8000元。", "工资涨到了9000元。"),
        ("我住在成都。", "我们搬到了重庆。"),
        ("給料は月25万円です。", "給料が月27万円に上がりました。"),
        ("私は札幌に住んでいます。", "先月、函館に引っ越しました。"),
    ],
)
def test_a_change_in_another_language_replaces_what_was_said(earlier: str, later: str) -> None:
    assert _outdates(later, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("J'habite à Lille.", "J'habite toujours à Lille."),
        ("Mon salaire est de 2100 euros.", "Le salaire de mon frère est passé à 2300 euros."),
        ("Vivo en Granada.", "Mi hermana se ha mudado a Cádiz."),
        ("Moro em Recife.", "Talvez a gente se mude para Olinda."),
        ("Abito a Torino.", "Mia sorella abita a Genova."),
        ("Моя зарплата 70000 рублей.", "Зарплата по-прежнему 70000 рублей."),
        ("我住在成都。", "我姐姐住在重庆。"),
        ("給料は月25万円です。", "兄の給料が月27万円に上がりました。"),
    ],
)
def test_another_person_or_a_confirmation_replaces_nothing(earlier: str, later: str) -> None:
    assert not _outdates(later, earlier)


@pytest.mark.parametrize(
    ("cue", "value"),
    [
        ("Quel était mon ancien loyer ?", Wanted.FORMER),
        ("¿Cuál era mi antigua dirección?", Wanted.FORMER),
        ("Какой был мой старый адрес?", Wanted.FORMER),
        ("Quel est mon loyer ?", Wanted.NEWEST),
    ],
)
def test_a_cue_asks_for_the_former_value(cue: str, value: Wanted) -> None:
    assert wanted(cue, 2026) is value


@pytest.mark.parametrize(
    "text",
    [
        "Tu ne m'as pas dit où habite Zoé.",
        "No me has dicho dónde vive Eva.",
        "Você não me disse onde mora a Eva.",
        "Non mi hai detto dove abita Eva.",
        "Ты не говорила, где живёт Ева.",
        "你还没有告诉过我她住在哪里。",
        "住所はまだ聞いていません。",
    ],
)
def test_an_excuse_says_that_nobody_knows(text: str) -> None:
    assert read_asking(text).saying is Saying.DOES_NOT_KNOW


@pytest.mark.parametrize(
    ("text", "told"),
    [("Quand est mon anniversaire ?", {"anniversair": "birthdai"}), ("When is it?", {})],
)
def test_the_askers_own_things_are_known(text: str, told: dict[str, str]) -> None:
    assert analyse(text, ()).own == told


def test_anothers_thing_is_none_of_the_asker() -> None:
    said = in_english("Il compleanno di mia zia è il 9 marzo.")

    assert is_of_another(said, "birthdai", "")
    assert not is_of_another(in_english("Il mio compleanno è il 9 marzo."), "birthdai", "")


@pytest.mark.parametrize(
    ("cue", "role"),
    [
        ("Qui est le directeur de la banque ?", {"directeur"}),
        ("Кто директор завода Луч?", {"директор"}),
        ("Кто купил машину?", set()),
        ("青山銀行の頭取は誰ですか？", {"頭取"}),
    ],
)
def test_a_role_is_read(cue: str, role: set[str]) -> None:
    assert analyse(cue, ()).roles == role


@pytest.mark.parametrize(
    ("cue", "names"),
    [
        ("李明的生日是什么时候？", {"李明"}),
        ("健一さんの誕生日はいつですか？", {"健一"}),
        ("我的房租是多少？", set()),
    ],
)
def test_an_owner_may_be_a_name_where_no_capital_tells_it(cue: str, names: set[str]) -> None:
    assert analyse(cue, ()).likely_names == names


@pytest.mark.parametrize(
    "text",
    ["Très bien, merci beaucoup !", "Muchas gracias, perfecto", "Va bene, a domani", "Tudo bem!",
     "Хорошо, спасибо", "好的，谢谢你", "はい、わかりました"],
)  # fmt: skip
def test_thanks_and_consent_only_acknowledge(text: str) -> None:
    assert only_acknowledges(text)


@pytest.mark.parametrize(
    "text", ["Merci, à lundi à Metz", "Да, в Перми", "好的，周五见", "はい、大阪です"]
)
def test_thanks_with_something_else_tell_it(text: str) -> None:
    assert not only_acknowledges(text)


@pytest.mark.parametrize(
    ("cue", "months"),
    [
        ("Что случилось с апреля?", [5, 4]),
        ("四月以来发生了什么？", [5, 4]),
        ("4月から何がありましたか？", [5, 4]),
    ],
)
def test_since_a_month_is_a_time(cue: str, months: list[int]) -> None:
    assert [one.date.month for one in told_times(cue, date(2024, 5, 15))] == months


@pytest.mark.parametrize(
    ("cue", "day"),
    [
        ("Où étions-nous à Noël ?", (12, 25)),
        ("¿Qué hicimos en Nochevieja?", (12, 31)),
        ("Где мы были на Новый год?", (1, 1)),
        ("元旦我们做了什么？", (1, 1)),
    ],
)
def test_a_holiday_is_a_date(cue: str, day: tuple[int, int]) -> None:
    assert [(one.date.month, one.date.day) for one in stated_dates(cue)] == [day]


def test_small_letters_of_other_scripts_are_no_names() -> None:
    assert names_and_numbers("Как зовут соседа Антона") == {"антон"}


@pytest.mark.parametrize("text", ["My rent is 800.", "Meine Miete beträgt 800.", "x" * LONGEST])
def test_english_german_and_long_texts_stay(text: str) -> None:
    assert in_english(text) is text
    assert in_english(f"Mon loyer {text * LONGEST}") == f"Mon loyer {text * LONGEST}"


@pytest.mark.parametrize("code", PHRASEBOOK)
def test_each_spelling_is_found_from_its_first_letter(code: str) -> None:
    """A spelling whose first letters are read wrongly would never be tried."""
    for english, listed in PHRASEBOOK[code]["words"].items():
        for spelling in _alternatives(listed):
            if re.fullmatch(r"[\w' -]+", spelling):
                found = in_english(spelling, [LANGUAGES[code]])
                assert found != spelling or english == spelling, spelling
