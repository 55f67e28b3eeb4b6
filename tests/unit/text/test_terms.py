"""The terms of memories and cues."""

import pytest

from ecphoria.text.terms import cue_terms, humps, joined_names, terms
from ecphoria.text.tokens import LONGEST_WORD, stems

ENGLISH = "We painted the boats and the harbour walls, and it rained for days."


def _found(cue: str, memory: str) -> set[str]:
    """List the stems of a cue that a memory has, by the stem or by what stands for it."""
    asked, held = cue_terms(cue), set(terms(memory).every)
    return {stem for stem in asked.stems if {stem, *asked.also.get(stem, ())} & held}


def test_english_has_stems_only() -> None:
    assert terms(ENGLISH).every == stems(ENGLISH)
    asked = cue_terms("Who painted the boats?")
    assert (asked.stems, asked.also, asked.silent) == (("paint", "boat"), {}, frozenset())


@pytest.mark.parametrize(
    ("cue", "memory"),
    [
        ("Wo liegen die Wohnungen?", "Ihre Wohnung ist in der Altstadt."),
        ("¿Dónde están las habitaciones?", "La habitación es para los niños."),
        ("Où sont les journaux ?", "Le journal est sur la table."),
        ("Dove sono le finestre della casa?", "La finestra è nella cucina."),
        ("Waar zijn de boeken van mijn zus?", "Het boek is van mij."),
        ("Где стоят лодки?", "Лодка стоит в порту."),
        ("What did she buy?", "I bought it."),
        ("Who sold it?", "They sell the boat."),
        ("Does he have children?", "One child goes to school."),
        ("Who drove?", "I had never driven so far."),
        ("Womit bin ich gefahren?", "Ich fahre mit dem Zug."),
        ("Was haben wir gegessen?", "Er isst eine Suppe mit uns."),
        ("Was habe ich gekauft?", "Ich kaufe mir die Lampe."),
        ("Wann werden wir abgeholt?", "Er kann uns um acht abholen."),
        ("Wer hat das repariert?", "Das muss man noch reparieren."),
    ],
)
def test_forms_of_a_word_meet(cue: str, memory: str) -> None:
    assert _found(cue, memory)


@pytest.mark.parametrize(
    ("cue", "memory"),
    [
        ("Where is mum?", "Mother flew to Rome."),
        ("Where is my mother?", "Mom flew to Rome."),
        ("How big is the apartment?", "The flat has two rooms."),
        ("Which colour?", "The color is red."),
        ("Which Redis version?", "We upgraded to 7."),
        ("Who organised it?", "We organize it together."),
        ("Which postgres?", "PostgreSQL 16 is full."),
        ("Wie heißt meine Mutter?", "Die Mama ist mit uns in Rom."),
    ],
)
def test_words_of_one_meaning_meet(cue: str, memory: str) -> None:
    assert _found(cue, memory)


@pytest.mark.parametrize(
    ("cue", "memory"),
    [
        ("Where is mum?", "Father flew to Rome."),
        ("Wo liegt mein Geschäft?", "Ein Schaf ist auf der Wiese."),
        ("Wo liegt mein Garten?", "Das war gar nicht ihr Haus."),
    ],
)
def test_other_words_do_not_meet(cue: str, memory: str) -> None:
    assert not _found(cue, memory)


def test_a_cue_in_no_sure_language_still_meets_what_porter_joins() -> None:
    memory = "Die Lampen für Herrn Müller sind in der Küche."
    assert _found("Müller Lampen", memory) == {"muller", "lampen"}
    assert _found("Where are the lampen of Mr Müller?", memory) == {"muller", "lampen"}


def test_stems_of_another_language_meet_no_english_word() -> None:
    french = terms("Les plans de la maison et du jardin sont dans le bureau avec les clés.")
    assert french.further
    assert set(french.further).isdisjoint(stems("plan maison jardin bureau cle"))


def test_only_stems_count_in_the_length() -> None:
    found = terms("Die Lampen sind in conf/lamp_list.json")
    assert found.stems == stems("Die Lampen sind in conf/lamp_list.json")
    assert found.joined == " ".join((*found.stems, *found.further))
    assert {"@lamp", "conf/lamp_list.json", "lamp_list.json"} <= set(found.further)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("call read_all(x)", ("read_all",)),
        ("see docs/app/main.py", ("docs/app/main.py", "main.py")),
        ("open https://www.harbour.org/boats/2024", ("harbour.org/boats/2024", "harbour.org")),
        ("std::sort, v2.1.0 and COVID-19", ("std::sort", "v2.1.0", "covid-19")),
        ("{'user_id': 7}", ("user_id",)),
        ("and/or, e.g. a well-known U.S. one. Then", ()),
        ("plain words", ()),
    ],
)
def test_names_of_code_are_kept_whole(text: str, names: tuple[str, ...]) -> None:
    assert joined_names(text) == names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserById", ("user", "id")),
        ("a KeyError in HTTPServer", ("kei", "error", "http", "server")),
        ("iPhone, McRoe and NASA", ()),
    ],
)
def test_camel_case_is_split(text: str, parts: tuple[str, ...]) -> None:
    assert humps(text) == parts
    assert set(parts) <= set(terms(text).every)


def test_a_name_in_camel_case_and_its_words_meet() -> None:
    assert _found("how to find the next sibling", "use findNextSibling(node)") == {
        "find", "next", "sibl",
    }  # fmt: skip
    assert {"find", "next"} <= _found("findNextSibling", "how to find the next one")


def test_a_whole_name_is_a_term_of_the_cue() -> None:
    assert _found("what broke find_next?", "find_next broke") == {
        "broke",
        "find",
        "next",
        "find_next",
    }
    assert "find_next" not in _found("what broke find_next?", "I find the next one broke")


def test_a_long_name_is_cut() -> None:
    (name,) = joined_names(f"a_{'x' * 2 * LONGEST_WORD}")
    assert len(name) == LONGEST_WORD


def test_left_out_words_are_no_terms() -> None:
    assert cue_terms("What did Ana paint?", frozenset({"ana"})).stems == ("paint",)
