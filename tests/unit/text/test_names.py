import pytest

from ecphoria.text.languages import languages_of
from ecphoria.text.machine_words import is_literal, without_code
from ecphoria.text.names import (
    NameKind,
    candidate_spans,
    capitalised_words,
    find_names,
    is_name,
    lower_words,
    name_kind,
    normalise,
)


@pytest.mark.parametrize(
    ("body", "spans"),
    [
        ("The Duke of Old Town met Ana Roe.", ["Duke of Old Town", "Ana Roe"]),
        ("He left. I saw Mia.", ["Mia"]),
        ("Ana Roe\nand Ben", ["Ana Roe", "Ben"]),
        ("Bank of the West and East", ["Bank of the West and East"]),
        ("from Bonn in the year 1984", ["Bonn", "1984"]),
        ("Smith & Sons", ["Smith & Sons"]),
        ("Żółta Łódź i Ёлка", ["Żółta Łódź", "Ёлка"]),
        ("However, She", []),
        ("nothing here", []),
        ("I'm sure We\u2019re late, and That's Bo's.", ["Bo's"]),
        ("It's what Sam didn't say. Don't ask Ana.", ["Sam", "Ana"]),
        (
            "He asked O'Hare, D'Angelo Roe and Ana Roe's son",
            ["O'Hare", "D'Angelo Roe and Ana Roe's"],
        ),
        (
            "Sow the seeds. Water them.\n- Harvest in June\n2. Dry Basil\n3. Apollo 11 landed",
            ["2", "Dry Basil", "3", "Apollo 11"],
        ),
        ("Ana was here. Bo lives in Bath. Water the roses.", ["Ana", "Bo", "Bath"]),
        ("NASA and WiFi. McRoe left. NATO!", ["NASA and WiFi", "McRoe", "NATO"]),
        ("Ana, look! The Duke stayed; Hey Priya!", ["Duke", "Priya"]),
        ("He likes 50 Cent.", ["50 Cent"]),
        ("He said My Your and Me", []),
    ],
)
def test_candidates_are_runs_of_capitals(body: str, spans: list[str]) -> None:
    assert list(candidate_spans(body)) == spans


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("  Tall Ships (1954 film) ", "tall ships"),
        ("Ana\u2019s U.S.-Tour", "ana u s tour"),
        ("Éva_Łoś №7", "éva łoś 7"),
        ("हिन्दी", "हिन्दी"),
        ("(What)", "what"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_names_have_one_spelling(name: str, expected: str) -> None:
    assert normalise(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        *("", "ab", "the", "may", "monday", "june 2012", "friday june 3", "12", "12345"),
        *("2 5", "8 and at 20", "3 4", "20th", "10am", "3gb", "1980s", "1980s and 1990s"),
        *("i m", "we re", "don t", "what you", "you and me"),
    ],
)
def test_dates_numbers_and_stubs_are_no_names(name: str) -> None:
    assert not is_name(name)


@pytest.mark.parametrize(
    "name", ["abc", "1984", "june clyde", "3 june", "black friday", "50 cent", "b52", "area 51"]
)
def test_names(name: str) -> None:
    assert is_name(name)


def test_a_text_all_in_capitals_is_no_name() -> None:
    assert not is_name("very long " * 1_000)


def test_lower_words_are_whole_words_of_letters() -> None:
    assert lower_words("A rose, iPhone x2 don't Éva été") == {"rose", "x", "don", "t", "été"}
    assert lower_words(f"{'x' * 1_500} {'y' * 1_501}") == {"x" * 1_500}


def test_capitalised_words_are_normalised() -> None:
    assert capitalised_words("the Rose's iPhone in O'Hare") == {"rose", "o", "hare"}


@pytest.mark.parametrize(
    ("surface", "kind"),
    [
        ("1984", NameKind.TIME),
        ("14 March 2001", NameKind.TIME),
        ("Royal Swim Club", NameKind.ORGANISATION),
        ("University of Alder", NameKind.ORGANISATION),
        ("Lake Alder", NameKind.PLACE),
        ("Professor Reed", NameKind.PERSON),
        ("Ana B. Reed", NameKind.PERSON),
        ("Blue Heron", NameKind.TOPIC),
        ("", NameKind.TOPIC),
    ],
)
def test_kinds(surface: str, kind: NameKind) -> None:
    assert name_kind(surface) is kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("J.R.R. Tolkien met U.S. Grant at Booking.com (Berlin).",
         ["J.R.R", "U.S", "Grant at Booking.com", "Berlin"]),
        ("We saw Ana/Bo/Cy and AC/DC in Bonn.", ["Ana", "Bo", "Cy and AC", "DC in Bonn"]),
        ("\u6211\u7528Docker(\u5bb9\u5668)", []),
        ("I like Node.js and C++ in Bonn.", ["Node.js and C++ in Bonn"]),
        ("The Error Handling Guild met.", ["Error Handling Guild"]),
        ("Then None said No to Admin Bo.", ["None", "Admin Bo"]),
        ("ValueError: Ana has None\nBut Bo Roe did.", ["Bo Roe"]),
        ("Ping Main-Db.internal and Prod.Eu.example.com now, Ana.", ["Ana"]),
        ("See C:\\Users\\Ana, https://Ana.example/Bo and <Bo></Bo> of Cy.", ["Cy"]),
    ],
)  # fmt: skip
def test_code_and_addresses_hide_no_talk(text: str, names: list[str]) -> None:
    assert list(candidate_spans(without_code(text))) == names


def test_only_words_of_code_are_no_name() -> None:
    for name in ("None", "Error 500", "None and NULL", "GET", "Admin"):
        assert is_literal(name)
    for name in ("Admin Bo", "True North", "Bo", "500", "of"):
        assert not is_literal(name)


@pytest.mark.parametrize(
    ("cue", "names", "likely"),
    [
        ("When does Ana visit Mr. Roe in Bath?", {"ana", "roe", "bath"}, set()),
        ("Ana's class on Mondays in March", {"ana"}, set()),
        ("Wann hat Frau Demir Geburtstag?", {"demir"}, {"demir", "geburtstag"}),
        ("Wo wohnte Henrik im März?", set(), {"henrik"}),
        ("In welcher Klinik wird Papa operiert?", set(), {"papa"}),
        ("Wie viele Karten hat Lea?", set(), {"lea"}),
        ("Was kostet die neue Brille und unser Hund?", set(), set()),
        ("Welches Hotel haben wir in Salzburg gebucht?", set(), {"salzburg"}),
        ("¿Cuándo es el cumpleaños de Marta?", set(), {"marta"}),
    ],
)
def test_names_of_a_cue(cue: str, names: set[str], likely: set[str]) -> None:
    assert [set(found) for found in find_names(cue, languages_of(cue))] == [names, likely]
