"""Values with a name on the command line."""

import pytest

from ecphoria.cli.filters import conditions_of, named_values
from ecphoria.errors import InvalidInput
from tests.unit.cli.conftest import Command


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.5", 1.5),
        ("true", True),
        ("Vis", "Vis"),
        ('"1"', "1"),
        ("a=b", "a=b"),
        ("", ""),
        ("[1]", "[1]"),
        ("{", "{"),
        ('{"$gte": 3}', '{"$gte": 3}'),
    ],
)
def test_a_value_is_read_as_what_it_looks_like(text: str, value: object) -> None:
    assert named_values([f"key={text}"], "metadata") == {"key": value}
    wanted = {"$gte": 3} if text.startswith('{"') else value
    assert conditions_of([f"key={text}"]) == {"key": wanted}


def test_a_value_without_a_name_is_refused() -> None:
    for text in ("key", "=1", ""):
        with pytest.raises(InvalidInput, match="KEY=VALUE"):
            conditions_of([text])
    assert conditions_of(None) is None


def test_a_name_that_comes_twice_is_refused(command: Command) -> None:
    done = command("remember", "A lamp.", "--metadata", "k=v", "--metadata", "k=w")
    assert done.code == 2
    assert "`k` is given twice; it takes one value." in done.err
    done = command("list", "--metadata", "k=v", "--metadata", "k=w")
    assert (done.code, "given twice" in done.err) == (2, True)


@pytest.mark.parametrize("text", ["page={$gte: 3}", "page={'$gte': 3}", 'page={"$gte": }'])
def test_a_comparison_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"""write comparisons like 'page=\{"\$gte": 3\}'"""):
        conditions_of([text])
    assert named_values([text], "metadata"), "a text that is stored may be anything"
