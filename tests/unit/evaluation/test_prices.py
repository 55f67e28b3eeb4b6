"""Tables of prices that users bring."""

from pathlib import Path

import pytest

from ecphoria.errors import InvalidInput
from ecphoria_eval.prices import Price, read_price


def table(folder: Path, text: str) -> Path:
    file = folder / "prices.json"
    file.write_text(text)
    return file


def test_a_model_is_looked_up(tmp_path: Path) -> None:
    file = table(
        tmp_path, '{"small": {"input": 0.15, "output": 0.6}, "free": {"input": 0, "output": 0}}'
    )
    price = read_price(file, "small")
    assert price == Price(input=0.15, output=0.6)
    assert price.of(2_000_000, 500_000) == pytest.approx(1.5 * 0.15 + 0.5 * 0.6)
    with pytest.raises(InvalidInput, match="no price of large; it has: free, small"):
        read_price(file, "large")


def test_without_a_table_there_is_no_price(tmp_path: Path) -> None:
    assert read_price(None, "small") is None
    with pytest.raises(InvalidInput, match="The oracle costs nothing"):
        read_price(table(tmp_path, "{}"), None)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "prices", '{"small": 0.15}', '{"small": {"input": 0.15}}',
        '{"small": {"input": -1, "output": 1}}', '{"small": {"input": 1, "output": NaN}}',
        '{"small": {"input": 1, "output": 1e400}}', '{"small": {"input": null, "output": 1}}',
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"prices\.json is no table of prices; write"):
        read_price(table(tmp_path, text), "small")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"prices\.json cannot be read: No such file"):
        read_price(tmp_path / "prices.json", "small")
